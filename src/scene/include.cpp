#include "scene/include.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>

#include "scene/listing.hpp"
#include "scene/mesh_points.hpp"
#include "scene/reader.hpp"

namespace stickslip {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_files = 1000;
constexpr std::size_t max_nesting = 32;  // includes of includes; reading recurses per level

struct File {
    std::string name;            // as shown: relative to where the program stands
    YamlNode root;               // a map without `include`
    std::set<std::size_t> sees;  // files it includes, directly or not
};

// One file's answer to a key.
struct Given {
    std::size_t file;
    YamlNode value;
    YamlNode::KeyPlace key;
    Place place;
};

Error retold(const Error& e, const std::string& before, const Place& place) {
    const std::string what = e.what(), at = e.place().text();
    return Error(before + (at.empty() ? what : what.substr(std::min(what.size(), at.size() + 2))), place);
}

void take_out(YamlNode& map, const std::string& key) {
    const auto i = std::find(map.keys.begin(), map.keys.end(), key) - map.keys.begin();
    if (i == std::ssize(map.keys)) return;
    map.keys.erase(map.keys.begin() + i);
    map.key_places.erase(map.key_places.begin() + i);
    map.children.erase(map.children.begin() + i);
}

class Gatherer {
public:
    explicit Gatherer(const SceneLimits& limits) : limits_(limits) {}

    std::vector<File> files;  // what a file includes stands before it

    std::size_t gather(const std::string& text, const std::string& name, bool included) {
        File file;
        file.name = name;
        file.root = parse_yaml(text, name, limits_.weight - weight_);
        weight_ += weight(file.root);
        if (file.root.kind == YamlNode::Kind::null)
            throw Error(included ? "the included file is empty, expected keys of a scene (bodies, materials, ...)"
                                 : "the scene is empty, expected 'stickslip: 1' and bodies",
                        file.root.place());
        if (included && !is_scene(file.root))
            throw Error("expected a map of keys (bodies, materials, ...): the included file is no scene",
                        file.root.place());
        if (file.root.kind != YamlNode::Kind::map)
            throw Error(
                fmt::format("expected a map of keys (stickslip, bodies, run, ...), found {}", file.root.describe()),
                file.root.place());
        const MapReader keys(file.root, included ? "the included file" : "the scene", "scene");
        if (const YamlNode* version = keys.find("stickslip"); version && included) check_version(*version);

        open_.push_back(identity(name));
        if (const YamlNode* include = keys.find("include")) {
            for (const YamlNode* item : names_in(*include)) {
                const std::size_t i = follow(*item, name);
                file.sees.insert(i);
                file.sees.insert(files[i].sees.begin(), files[i].sees.end());
            }
        }
        open_.pop_back();
        take_out(file.root, "include");
        known_.push_back(identity(name));
        files.push_back(std::move(file));
        return files.size() - 1;
    }

private:
    // Some key is one of a scene, or nearly. What is no scene at all may be anybody's file: its lines are not shown.
    static bool is_scene(const YamlNode& root) {
        if (root.kind != YamlNode::Kind::map) return false;
        const std::vector<std::string> known = scene_map("scene").keys();
        return root.keys.empty() || std::any_of(root.keys.begin(), root.keys.end(), [&](const std::string& key) {
                   return std::find(known.begin(), known.end(), key) != known.end() ||
                          std::string_view(unknown_name("key", key, known).what()).find("did you mean") !=
                              std::string_view::npos;
               });
    }

    static std::string identity(const std::string& name) {
        std::error_code failure;
        const fs::path path = fs::weakly_canonical(name, failure);
        return failure ? fs::path(name).lexically_normal().string() : path.string();
    }

    static void check_version(const YamlNode& node) {
        if (node.kind != YamlNode::Kind::scalar || node.text != "1")
            throw Error(fmt::format("expected 'stickslip: 1' (the version of the format), found {}", node.describe()),
                        node.place());
    }

    static std::vector<const YamlNode*> names_in(const YamlNode& include) {
        std::vector<const YamlNode*> items;
        if (include.kind == YamlNode::Kind::list)
            for (const YamlNode& child : include.children) items.push_back(&child);
        else
            items.push_back(&include);
        for (const YamlNode* item : items)
            if (item->kind != YamlNode::Kind::scalar || item->text.empty())
                throw Error(fmt::format("expected the name of a scene file to include, or a list of names, found {}",
                                        item->describe()),
                            item->place());
        return items;
    }

    std::size_t follow(const YamlNode& item, const std::string& from) {
        const std::string name = (fs::path(from).parent_path() / item.text).lexically_normal().string();
        const std::string who = identity(name);
        const auto open = std::find(open_.begin(), open_.end(), who);
        if (open != open_.end())
            throw Error(open + 1 == open_.end() ? fmt::format("'{}' includes itself", item.text)
                                                : fmt::format("'{}' includes itself, by way of {}", item.text,
                                                              fs::path(open_.back()).filename().string()),
                        item.place());
        const auto known = std::find(known_.begin(), known_.end(), who);
        if (known != known_.end()) return static_cast<std::size_t>(known - known_.begin());
        if (open_.size() >= max_nesting)
            throw Error(fmt::format("includes are nested more than {} deep", max_nesting), item.place());
        if (known_.size() >= max_files)
            throw Error(fmt::format("the scene includes more than {} files", max_files), item.place());
        std::string text;
        try {
            text = limits_.read(name);
        } catch (const Error& e) {
            throw retold(e, fmt::format("cannot include '{}' ({}): ", item.text, name), item.place());
        }
        return gather(text, name, true);
    }

    const SceneLimits& limits_;
    std::vector<std::string> open_, known_;  // identities: of files being read, of files[]
    long weight_ = 0;
};

// Of several answers the one whose file sees the files of all others.
Given decide(std::vector<Given>& answers, const std::string& what, const std::vector<File>& files) {
    Given& last = answers.back();
    for (const Given& other : answers)
        if (other.file != last.file && !files[last.file].sees.count(other.file))
            throw Error(fmt::format("{} is given here and in {}, neither of which includes the other; give it in {} to "
                                    "decide",
                                    what, other.place.text(), files.back().name),
                        last.place);
    return std::move(last);
}

// Maps of the same section in several files, as (key, answers) in the order of their first appearance.
using Answers = std::vector<std::pair<std::string, std::vector<Given>>>;
Answers by_key(std::vector<Given>& maps, const char* what) {
    Answers answers;
    std::map<std::string, std::size_t> where;
    for (Given& given : maps) {
        YamlNode& map = given.value;
        if (map.kind == YamlNode::Kind::null) continue;
        if (map.kind != YamlNode::Kind::map)
            throw Error(fmt::format("expected a map of {}, found {}", what, map.describe()), map.place());
        for (std::size_t i = 0; i < map.keys.size(); ++i) {
            const auto [at, added] = where.emplace(map.keys[i], answers.size());
            if (added) answers.push_back({map.keys[i], {}});
            const Place place = map.key_place(i);
            answers[at->second].second.push_back(
                {given.file, std::move(map.children[i]), std::move(map.key_places[i]), place});
        }
    }
    return answers;
}

// The head of the merged map: that of the last file that gives it.
Given empty_like(const std::vector<Given>& maps) {
    Given merged{maps.back().file, {}, maps.back().key, maps.back().place};
    merged.value.kind = YamlNode::Kind::map;
    merged.value.line = maps.back().value.line;
    merged.value.column = maps.back().value.column;
    merged.value.file = maps.back().value.file;
    return merged;
}

Given merge_settings(std::vector<Given>& maps, const char* what, const std::vector<File>& files) {
    Given merged = empty_like(maps);
    for (auto& [key, answers] : by_key(maps, what)) {
        Given given = decide(answers, fmt::format("'{}'", key), files);
        merged.value.add(key, std::move(given.key), std::move(given.value));
    }
    return merged;
}

Given merge_things(std::vector<Given>& maps, const std::string& what, const char* section) {
    Given merged = empty_like(maps);
    for (auto& [key, answers] : by_key(maps, section)) {
        if (answers.size() > 1)
            throw Error(
                fmt::format("the {} '{}' is given twice (first in {})", what, key, answers.front().place.text()),
                answers[1].place);
        merged.value.add(key, std::move(answers[0].key), std::move(answers[0].value));
    }
    return merged;
}

// Pairs are one list; the reader finds those given twice.
Given merge_contacts(std::vector<Given>& maps, const std::vector<File>& files) {
    Given merged = empty_like(maps);
    for (auto& [key, answers] : by_key(maps, "contacts")) {
        if (key != "pairs") {
            Given given = decide(answers, fmt::format("'{}'", key), files);
            merged.value.add(key, std::move(given.key), std::move(given.value));
            continue;
        }
        std::vector<YamlNode> pairs;
        for (Given& answer : answers) {
            if (answer.value.kind != YamlNode::Kind::list)
                throw Error(fmt::format("expected a list of pairs, found {}", answer.value.describe()),
                            answer.value.place());
            std::move(answer.value.children.begin(), answer.value.children.end(), std::back_inserter(pairs));
        }
        Given& last = answers.back();
        last.value.children = std::move(pairs);
        merged.value.add(key, std::move(last.key), std::move(last.value));
    }
    return merged;
}

// Actions of all files happen, those at one time in the order of the files.
Given merge_actions(std::vector<Given>& lists) {
    std::vector<YamlNode> actions;
    for (Given& given : lists) {
        if (given.value.kind == YamlNode::Kind::null) continue;
        if (given.value.kind != YamlNode::Kind::list)
            throw Error(fmt::format("expected a list of actions, found {}", given.value.describe()),
                        given.value.place());
        std::move(given.value.children.begin(), given.value.children.end(), std::back_inserter(actions));
    }
    Given merged = std::move(lists.back());
    merged.value.kind = YamlNode::Kind::list;
    merged.value.children = std::move(actions);
    return merged;
}

YamlNode merge(std::vector<File>& files) {
    YamlNode& main = files.back().root;
    YamlNode merged;
    merged.kind = YamlNode::Kind::map;
    merged.line = main.line;
    merged.column = main.column;
    merged.file = main.file;
    for (const SceneField& field : scene_map("scene").fields) {
        std::vector<Given> answers;
        for (std::size_t f = 0; f < files.size(); ++f) {
            YamlNode& root = files[f].root;
            const auto i =
                static_cast<std::size_t>(std::find(root.keys.begin(), root.keys.end(), field.key) - root.keys.begin());
            if (i == root.keys.size() || (field.key == "stickslip" && &root != &main)) continue;
            const Place place = root.key_place(i);
            answers.push_back({f, std::move(root.children[i]), std::move(root.key_places[i]), place});
        }
        if (answers.empty()) continue;
        Given given;
        if (answers.size() == 1)
            given = std::move(answers[0]);
        else if (field.form == Form::named)
            given = merge_things(answers, field.of, field.key.c_str());
        else if (field.key == "contacts")
            given = merge_contacts(answers, files);
        else if (field.form == Form::actions)
            given = merge_actions(answers);
        else if (field.form == Form::parameters || field.form == Form::map)
            given = merge_settings(answers, field.key == "let" ? "parameters" : field.key.c_str(), files);
        else
            given = decide(answers, fmt::format("'{}'", field.key), files);
        merged.add(field.key, std::move(given.key), std::move(given.value));
    }
    return merged;
}

// The comment a scene begins with.
std::string head_of(const std::string& text) {
    std::size_t end = 0;
    while (end < text.size() && text[end] == '#') {
        end = text.find('\n', end);
        end = end == std::string::npos ? text.size() : end + 1;
    }
    return text.substr(0, end);
}

}  // namespace

YamlNode read_with_includes(const std::string& text, const std::string& name, const SceneLimits& limits,
                            std::string& merged) {
    Gatherer gatherer(limits);
    gatherer.gather(text, name, false);
    std::vector<File>& files = gatherer.files;
    const bool several = files.size() > 1;
    YamlNode root = several ? merge(files) : std::move(files[0].root);
    const bool meshes = put_points_of_meshes(root, limits.read);
    merged = text;
    if (!several && !meshes) return root;
    merged = head_of(text);
    if (several) merged += "# One scene out of";
    for (std::size_t k = 0; several && k < files.size(); ++k)
        merged += (k == 0 ? " " : ", ") + fs::path(files[k].name).filename().string();
    merged += (several ? "\n" : "") + write_yaml(root);
    return root;
}

}  // namespace stickslip
