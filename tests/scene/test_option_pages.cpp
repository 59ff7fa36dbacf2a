// The tables of options in docs/schemes.md against the listings of the schemes. STICKSLIP_WRITE_TABLES=1 writes them.
//
// `<!-- options: trapezoidal -->` stands before the table of that scheme, `<!-- options: hem5, hem4 -->` before one of several
// schemes, whose rows say of which they are. Options that a table above has shown with the same words may be left out:
// `<!-- options: alpha-gamma beyond trapezoidal -->`.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "pages.hpp"
#include "stickslip/scheme.hpp"

namespace stickslip {
namespace {

// The cells of a row behind the name: unit, default, meaning.
std::string cells_of(const FieldInfo& option) {
    std::string choices;  // "off | both" becomes "`off`, `both`"
    for (std::size_t at = 0; option.type.find('|') != std::string::npos && at < option.type.size();) {
        const std::size_t end = std::min(option.type.find(" | ", at), option.type.size());
        choices += (choices.empty() ? "`" : ", `") + option.type.substr(at, end - at) + "`";
        at = end + 3;
    }
    if (choices.empty()) return fmt::format("{} | {} | {}", option.unit, option.default_text, option.help);
    return fmt::format("{} | `{}` | {} ({})", option.unit, option.default_text, option.help, choices);
}

std::vector<FieldInfo> options_of(const std::string& scheme) {
    for (const SchemeEntry& entry : schemes())
        if (entry.name == scheme) return entry.options();
    ADD_FAILURE() << "docs/schemes.md asks for the options of '" << scheme << "', which is no scheme";
    return {};
}

std::vector<std::string> names_in(const std::string& list) {
    std::vector<std::string> names;
    std::istringstream words(list);
    for (std::string name; std::getline(words >> std::ws, name, ',');) names.push_back(name);
    return names;
}

// Rows that several schemes share stand once; rows of the schemes `beyond` are left out.
std::string table_of_options(const std::vector<std::string>& schemes, const std::vector<std::string>& beyond) {
    struct Row {
        std::string name, cells;
        std::vector<std::string> of;
        bool operator==(const Row& other) const { return name == other.name && cells == other.cells; }
    };
    std::vector<Row> rows, known;
    for (const std::string& scheme : beyond)
        for (const FieldInfo& option : options_of(scheme)) known.push_back({option.name, cells_of(option), {}});
    for (const std::string& scheme : schemes)
        for (const FieldInfo& option : options_of(scheme)) {
            const Row row{option.name, cells_of(option), {}};
            if (std::find(known.begin(), known.end(), row) != known.end()) continue;
            auto found = std::find(rows.begin(), rows.end(), row);
            if (found == rows.end()) found = rows.insert(rows.end(), row);
            found->of.push_back(scheme);
        }
    const bool several = schemes.size() > 1;
    std::string table = several ? "| option | of | unit | default | meaning |\n|---|---|---|---|---|\n"
                                : "| option | unit | default | meaning |\n|---|---|---|---|\n";
    for (const Row& row : rows) {
        const std::string of = row.of.size() == schemes.size() ? "all" : fmt::format("{}", fmt::join(row.of, ", "));
        table += fmt::format("| `{}` | {}{} |\n", row.name, several ? of + " | " : "", row.cells);
    }
    return table;
}

TEST(OptionPages, TablesOfTheSchemesAreMadeFromTheirListings) {
    const std::string file = pages::project + "/docs/schemes.md", start = "<!-- options: ", end = " -->";
    std::istringstream page(pages::contents(file));
    std::string wanted;
    std::set<std::string> shown;
    bool skipping = false;
    for (std::string line; std::getline(page, line);) {
        if (skipping && line.starts_with("|")) continue;
        skipping = line.starts_with(start) && line.ends_with(end);
        wanted += line + "\n";
        if (!skipping) continue;
        const std::string what = line.substr(start.size(), line.size() - start.size() - end.size());
        const std::size_t beyond = what.find(" beyond ");
        const std::vector<std::string> names = names_in(what.substr(0, beyond));
        shown.insert(names.begin(), names.end());
        wanted += table_of_options(
            names, beyond == std::string::npos ? std::vector<std::string>{} : names_in(what.substr(beyond + 8)));
    }
    pages::compare_or_write(file, wanted);
    for (const SchemeEntry& entry : schemes()) EXPECT_TRUE(shown.count(entry.name)) << "no options of " << entry.name;
}

}  // namespace
}  // namespace stickslip
