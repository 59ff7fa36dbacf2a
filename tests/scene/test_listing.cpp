// The listing of keys against everything that must agree with it: the enums of Scene, the tables of docs/scene.md, the
// dictionary of the fuzz target. STICKSLIP_WRITE_TABLES=1 writes the tables and the dictionary instead of comparing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "pages.hpp"
#include "scene/listing.hpp"
#include "stickslip/scene.hpp"

namespace stickslip {
namespace {

using pages::compare_or_write;
using pages::contents;
using pages::project;
using pages::table_of_keys;
using pages::value_of;

// Rows that several kinds share stand once.
std::string table_of_all_kinds(const std::string& map) {
    struct Row {
        std::string key, rest;
        std::vector<std::string> kinds;
    };
    std::vector<Row> rows;
    const std::vector<std::string> kinds = scene_map(map).kinds();
    for (const std::string& kind : kinds)
        for (const SceneField& field : scene_map(scene_map(map).find(kind)->of).fields) {
            const Row row{field.key, fmt::format("{} | {} | {}", value_of(field), field.without, field.text), {}};
            auto found = std::find_if(rows.begin(), rows.end(),
                                      [&](const Row& r) { return r.key == row.key && r.rest == row.rest; });
            if (found == rows.end()) found = rows.insert(rows.end(), row);
            found->kinds.push_back(kind);
        }
    std::string table = "| key | of | value | default | meaning |\n|---|---|---|---|---|\n";
    for (const Row& row : rows)
        table += fmt::format("| `{}` | {} | {} |\n", row.key,
                             row.kinds.size() == kinds.size() ? "all" : fmt::format("{}", fmt::join(row.kinds, ", ")),
                             row.rest);
    return table;
}

TEST(Listing, TablesOfTheDocumentationAreMadeFromIt) {
    const std::string file = project + "/docs/scene.md";
    std::istringstream page(contents(file));
    std::string wanted;
    std::set<std::string> shown;
    bool skipping = false;
    for (std::string line; std::getline(page, line);) {
        if (skipping && line.starts_with("|")) continue;
        skipping = false;
        wanted += line + "\n";
        if (!line.starts_with("<!-- ") || !line.ends_with(" -->")) continue;
        const std::string what = line.substr(5, line.find(':') - 5);
        const std::string map = line.substr(line.find(':') + 2, line.size() - 4 - line.find(':') - 2);
        skipping = true;
        shown.insert(map);
        if (what == "keys") {
            wanted += table_of_keys(map);
        } else if (what == "keys of kinds") {
            wanted += table_of_all_kinds(map);
            for (const std::string& kind : scene_map(map).kinds()) shown.insert(scene_map(map).find(kind)->of);
        } else {
            skipping = false;
        }
    }
    compare_or_write(file, wanted);
    for (const SceneMap& map : scene_maps()) EXPECT_TRUE(shown.count(map.name)) << "no table of " << map.name;
}

TEST(Listing, KeysStandOnceAndRulesNameKeysOfTheirMap) {
    for (const SceneMap& map : scene_maps()) {
        std::set<std::string> seen;
        for (const SceneField& field : map.fields) {
            EXPECT_TRUE(seen.insert(field.key).second) << map.name << "." << field.key;
            if (field.form == Form::map || field.form == Form::list || field.form == Form::named) scene_map(field.of);
        }
        for (const SceneRule& rule : map.rules)
            for (const std::string& key : rule.keys) EXPECT_TRUE(map.find(key)) << map.name << "." << key;
    }
}

TEST(Listing, DictionaryOfTheFuzzTargetHoldsEveryKeyAndWord) {
    std::set<std::string> words = {"ground", "disc", "true", "false", "name", "theta",  "moreau-jean", "auto", "{i}",
                                   "{i:02}", "1..n", "&a ",  "*a ",   "<<",   "cos(t)", "mod(i,2)",    "1e999"};
    for (const SceneMap& map : scene_maps())
        for (const SceneField& field : map.fields) {
            words.insert(field.key + ": ");
            if (field.form != Form::choice) continue;
            std::istringstream choices(field.of);
            for (std::string word; std::getline(choices, word, '|');) words.insert(word);
        }
    std::string dictionary =
        "# Keys and words of scene files, made from the listing by tests/scene/test_listing.cpp.\n";
    for (const std::string& word : words) dictionary += fmt::format("\"{}\"\n", word);
    compare_or_write(project + "/tests/fuzz/scene.dict", dictionary);
}

}  // namespace
}  // namespace stickslip
