// docs/mechanisms.md says of every mechanism what the library says: coordinates, parameters, units, defaults, source.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "stickslip/mechanism.hpp"

namespace stickslip {
namespace {

// The lines that the section of a mechanism must hold, in this order; prose may stand between and after them.
std::vector<std::string> lines_of(const MechanismEntry& entry) {
    const Mechanism mechanism = entry.make({});
    std::vector<std::string> lines{
        fmt::format("## {}", entry.name), fmt::format("{} ({}).", entry.summary, entry.paper),
        fmt::format("q = `{}`; {} s in steps of {} s.", fmt::join(mechanism.model.coordinates, " "), mechanism.end,
                    mechanism.step),
        "| parameter | unit | default | meaning |", "|---|---|---|---|"};
    lines[1][0] = static_cast<char>(std::toupper(lines[1][0]));
    for (const FieldInfo& field : entry.parameters())
        lines.push_back(fmt::format("| `{}` | {} | {} | {} |", field.name, field.unit, field.default_text, field.help));
    return lines;
}

TEST(MechanismPage, ListsWhatTheLibraryHas) {
    std::ifstream file(STICKSLIP_SCENES "/../docs/mechanisms.md");
    ASSERT_TRUE(file.good());
    std::vector<std::string> page;
    for (std::string line; std::getline(file, line);) page.push_back(line);
    std::size_t headings = 0;
    for (const std::string& line : page) headings += line.starts_with("## ");
    EXPECT_EQ(headings, mechanisms().size());
    for (const MechanismEntry& entry : mechanisms()) {
        const std::vector<std::string> lines = lines_of(entry);
        auto place = std::find(page.begin(), page.end(), lines[0]);
        ASSERT_NE(place, page.end()) << "no section " << lines[0];
        auto end = std::find_if(place + 1, page.end(), [](const std::string& line) { return line.starts_with("## "); });
        for (const std::string& line : lines) {
            place = std::find(place, end, line);
            ASSERT_NE(place, end) << entry.name << " lacks the line\n" << line;
        }
        const auto rows = std::count_if(place, end, [](const std::string& line) { return line.starts_with("| `"); });
        EXPECT_EQ(rows, 1) << entry.name << " lists more parameters than there are";
    }
}

}  // namespace
}  // namespace stickslip
