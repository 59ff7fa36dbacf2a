// YAML as a tree of our own, every node with its place. Built from the parser's events rather than from its nodes:
// those keep one of two equal keys without a word, and lose the place of keys.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stickslip/error.hpp"

namespace stickslip {

// The values of the indices of `repeat` or `grid` in one copy of a template.
struct IndexValue {
    std::string name;
    int value = 0;
};
using Indices = std::vector<IndexValue>;

struct YamlNode {
    enum class Kind { null, scalar, list, map };
    struct KeyPlace {
        int line = 0, column = 0;                 // 0: brought in by an override
        std::shared_ptr<const std::string> file;  // of the key: a map may be merged from several files
    };

    Kind kind = Kind::null;
    int line = 0, column = 0;          // from 1; 0 in an override
    std::string text;                  // of a scalar
    std::vector<std::string> keys;     // of a map, in file order, as many as children
    std::vector<KeyPlace> key_places;  // as many as keys
    std::vector<YamlNode> children;    // of a list or map
    std::shared_ptr<const std::string> file;
    std::shared_ptr<const Indices> indices;  // of a copy of a template; else null

    Place place() const { return {file ? *file : std::string(), line, column}; }
    Place key_place(std::size_t i) const;
    bool overridden() const { return line == 0; }

    const YamlNode* find(const std::string& key) const;  // null if absent
    YamlNode* find(const std::string& key);
    void add(std::string key, KeyPlace place, YamlNode value);  // to a map that has no such key

    // "a list of 3", "the text 'abc'", "nothing": for "expected ..., found ...".
    std::string describe() const;
};

// What a tree costs: one for each value, and one for each 64 bytes of its text.
long weight(const YamlNode& node);
constexpr long max_weight = 4'000'000;  // a value is some 170 bytes; aliases of aliases reach it at once

// The one document in `text`. Throws Error for syntax, equal keys in one map, several documents, nesting or alias
// expansion beyond what a scene can need. An empty document gives a null node at 1:1.
YamlNode parse_yaml(const std::string& text, const std::string& file, long most = max_weight);

// A whole file as text; throws Error if it cannot be opened, is a folder or is too large.
std::string read_text_file(const std::string& file);

// The tree as YAML that reads back to the same tree, apart from places.
std::string write_yaml(const YamlNode& root);

// Puts `text` (YAML) at the key path of dots, making maps on the way; what it creates has `origin` (--set path) as
// place. A name where a map is needed (scheme: moreau-jean) becomes {name: ...}. Throws Error at `origin`.
void override_yaml(YamlNode& root, const std::vector<std::string>& path, const std::string& text,
                   const std::string& origin);

}  // namespace stickslip
