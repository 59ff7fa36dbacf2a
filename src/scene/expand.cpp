#include "scene/expand.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "scene/formula.hpp"
#include "scene/listing.hpp"

namespace stickslip {

namespace {

constexpr std::size_t max_indices = 8;  // of a grid; making copies recurses per index

int whole(const std::string& text, const Names& names, const Place& place) {
    const double x = evaluate_number(text, names, place);
    if (x != std::floor(x) || std::abs(x) > 1e9)
        throw Error(fmt::format("expected a whole number, found '{}' = {}", text, x), place);
    return static_cast<int>(x);
}

struct Range {
    int first = 1, last = 0;
};

// `n` is 1..n.
Range parse_range(const YamlNode& node, const Names& names) {
    if (node.kind != YamlNode::Kind::scalar || node.text.empty())
        throw Error(fmt::format("expected a count or a range like 1..n, found {}", node.describe()), node.place());
    const auto dots = node.text.find("..");
    Range range;
    if (dots == std::string::npos) {
        range.last = whole(node.text, names, node.place());
        if (range.last < 0)
            throw Error(fmt::format("expected a count >= 0, found {} = {}", node.describe(), range.last), node.place());
    } else {
        if (dots == 0 || dots + 2 == node.text.size())
            throw Error(fmt::format("expected a count or a range like 1..n, found {}", node.describe()), node.place());
        range.first = whole(node.text.substr(0, dots), names, node.place());
        range.last = whole(node.text.substr(dots + 2), names, node.place());
        // One less is the empty range, which `2..n` becomes for n = 1.
        if (range.last < range.first - 1)
            throw Error(fmt::format("the range {} runs backwards: {}..{}", node.describe(), range.first, range.last),
                        node.place());
    }
    return range;
}

Range read_range(const YamlNode& node, const std::vector<Scene::Parameter>& parameters, const Indices& indices) {
    try {
        return parse_range(node, Names(parameters, &indices));
    } catch (const Error& e) {
        if (indices.empty()) throw;
        throw_about_copy(e, indices);
    }
}

// Every {formula} or {formula:0N} replaced by its value.
std::string fill_braces(const std::string& text, const Names& names, const Place& place) {
    std::string filled;
    for (std::size_t i = 0; i < text.size();) {
        const auto open = text.find_first_of("{}", i);
        filled += text.substr(i, open - i);
        if (open == std::string::npos) break;
        const auto close = text.find_first_of("{}", open + 1);
        if (text[open] == '}' || close == std::string::npos || text[close] == '{')
            throw Error(fmt::format("expected braces in pairs around an index, like link-{{i}}, found '{}'",
                                    text.substr(0, 60)),
                        place);
        std::string inside = text.substr(open + 1, close - open - 1);
        int width = 0;
        const auto colon = inside.rfind(":0");
        if (colon != std::string::npos && inside.size() == colon + 3 && inside[colon + 2] >= '1' &&
            inside[colon + 2] <= '9') {
            width = inside[colon + 2] - '0';
            inside.resize(colon);
        }
        filled += fmt::format("{:0{}}", whole(inside, names, place), width);
        i = close + 1;
    }
    return filled;
}

// Gives a copy its indices and fills the braces of its words.
void bind_indices(YamlNode& node, const std::shared_ptr<const Indices>& indices, const Names& names) {
    node.indices = indices;
    if (node.text.find_first_of("{}") != std::string::npos) node.text = fill_braces(node.text, names, node.place());
    for (YamlNode& child : node.children) bind_indices(child, indices, names);
}

class Copier {
public:
    Copier(const std::vector<Scene::Parameter>& parameters, const SceneLimits& limits)
        : parameters_(parameters), limits_(limits), weight_left_(limits.weight) {}

    void expand(YamlNode& section, const std::string& what) {
        YamlNode expanded = section;
        expanded.keys.clear();
        expanded.key_places.clear();
        expanded.children.clear();
        first_.clear();
        for (std::size_t i = 0; i < section.keys.size(); ++i) {
            name_ = section.keys[i];
            key_ = section.key_places[i];
            place_ = section.key_place(i);
            what_ = what;
            if (is_template(section.children[i]))
                copy(std::move(section.children[i]), expanded);
            else
                add(name_, std::move(section.children[i]), expanded);
        }
        section = std::move(expanded);
    }

private:
    void copy(YamlNode thing, YamlNode& section) {
        YamlNode* repeat = thing.find("repeat");
        YamlNode* grid = thing.find("grid");
        if (repeat && grid)
            throw Error(fmt::format("{} '{}' has both 'repeat' and 'grid', expected one of them", what_, name_),
                        (repeat < grid ? grid : repeat)->place());
        const char* word = repeat ? "repeat" : "grid";
        ranges_ = std::move(*(repeat ? repeat : grid));
        check_ranges(word);

        template_ = {};
        template_.kind = YamlNode::Kind::map;
        template_.line = thing.line;
        template_.column = thing.column;
        template_.file = thing.file;
        for (std::size_t i = 0; i < thing.keys.size(); ++i)
            if (thing.keys[i] != word)
                template_.add(thing.keys[i], std::move(thing.key_places[i]), std::move(thing.children[i]));
        // Counted before any is made: what is absurd must not fill the memory first.
        Indices indices;
        const long made = count(indices);
        weight_left_ -= made * weight(template_);
        if (weight_left_ < 0)
            throw Error(fmt::format("the {} copies of '{}' have too many values for a scene", made, name_), place_);
        if (made > 0) run(indices, section);
    }

    void check_ranges(const char* word) const {
        if (ranges_.kind != YamlNode::Kind::map || ranges_.keys.empty())
            throw Error(fmt::format("expected indices with their ranges, like {{i: 10}} or {{i: 2..n}}, found {}",
                                    ranges_.describe()),
                        ranges_.place());
        if (word == std::string_view("repeat") && ranges_.keys.size() > 1)
            throw Error("'repeat' has one index, 'grid' takes several", ranges_.key_place(1));
        if (ranges_.keys.size() > max_indices)
            throw Error(fmt::format("a grid has at most {} indices", max_indices), ranges_.key_place(max_indices));
        for (std::size_t i = 0; i < ranges_.keys.size(); ++i) {
            check_parameter_name(ranges_.keys[i], "an index's", ranges_.key_place(i));
            for (const Scene::Parameter& parameter : parameters_)
                if (parameter.name == ranges_.keys[i])
                    throw Error(fmt::format("the index '{}' has the name of a parameter (given in {})", parameter.name,
                                            parameter.place.text()),
                                ranges_.key_place(i));
        }
    }

    // How many copies; the values of the indices before the last count as well, since they cost time.
    long count(Indices& indices) {
        const std::size_t level = indices.size();
        const YamlNode& node = ranges_.children[level];
        const Range range = read_range(node, parameters_, indices);
        const long length = range.last - range.first + 1;
        visits_ += length;
        if (visits_ > limits_.copies)
            throw Error(fmt::format("asks for more than {} copies, which no scene needs", limits_.copies),
                        node.place());
        if (level + 1 == ranges_.keys.size()) return length;
        long copies = 0;
        for (int i = range.first; i <= range.last; ++i) {
            indices.push_back({ranges_.keys[level], i});
            copies += count(indices);
            indices.pop_back();
        }
        return copies;
    }

    void run(Indices& indices, YamlNode& section) {
        const std::size_t level = indices.size();
        if (level == ranges_.keys.size()) {
            const auto shared = std::make_shared<const Indices>(indices);
            const Names names(parameters_, shared.get());
            YamlNode copy = template_;
            try {
                bind_indices(copy, shared, names);
                add(fill_braces(name_, names, place_), std::move(copy), section);
            } catch (const Error& e) {
                throw_about_copy(e, indices);
            }
            return;
        }
        const Range range = read_range(ranges_.children[level], parameters_, indices);
        for (int i = range.first; i <= range.last; ++i) {
            indices.push_back({ranges_.keys[level], i});
            run(indices, section);
            indices.pop_back();
        }
    }

    void add(const std::string& name, YamlNode thing, YamlNode& section) {
        const auto [first, fresh] = first_.emplace(name, place_);
        if (!fresh) {
            if (first->second.text() == place_.text())
                throw Error(fmt::format("two copies would be called '{}': put every index into the name, like "
                                        "\"{}-{{{}}}\"",
                                        name, name_, thing.indices->back().name),
                            place_);
            throw Error(fmt::format("the {} '{}' is given twice (first in {})", what_, name, first->second.text()),
                        place_);
        }
        section.add(name, key_, std::move(thing));
    }

    const std::vector<Scene::Parameter>& parameters_;
    const SceneLimits& limits_;
    long weight_left_, visits_ = 0;
    std::map<std::string, Place> first_;  // names of the section so far

    // The entry at hand.
    std::string what_, name_;
    YamlNode::KeyPlace key_;
    Place place_;
    YamlNode template_, ranges_;
};

}  // namespace

bool may_hold_templates(const std::string& section) {
    const SceneField* field = scene_map("scene").find(section);
    if (!field || field->form != Form::named) return false;
    const SceneFields& keys = scene_map(field->of).fields;
    return std::any_of(keys.begin(), keys.end(), [](const SceneField& key) { return key.of_template(); });
}

bool is_template(const YamlNode& thing) {
    return thing.kind == YamlNode::Kind::map && (thing.find("repeat") || thing.find("grid"));
}

void throw_about_copy(const Error& e, const Indices& indices) {
    std::vector<std::string> values;
    for (const IndexValue& index : indices) values.push_back(fmt::format("{} = {}", index.name, index.value));
    const std::string what = e.what(), at = e.place().text();
    throw Error(fmt::format("{} (where {})", at.empty() ? what : what.substr(at.size() + 2), fmt::join(values, ", ")),
                e.place());
}

void expand_templates(YamlNode& root, const std::vector<Scene::Parameter>& parameters, const SceneLimits& limits) {
    Copier copier(parameters, limits);
    for (const SceneField& section : scene_map("scene").fields) {
        YamlNode* node = may_hold_templates(section.key) ? root.find(section.key) : nullptr;
        if (!node || node->kind != YamlNode::Kind::map) continue;
        if (std::any_of(node->children.begin(), node->children.end(), is_template)) copier.expand(*node, section.of);
    }
}

}  // namespace stickslip
