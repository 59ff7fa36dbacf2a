// YAML as a tree of our own, every node with its place. Built from the parser's events rather than from its nodes:
// those keep one of two equal keys without a word, and lose the place of keys.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stickslip/error.hpp"

namespace stickslip {

struct YamlNode {
    enum class Kind { null, scalar, list, map };

    Kind kind = Kind::null;
    int line = 0, column = 0;                     // from 1; 0 in an override
    std::string text;                             // of a scalar
    std::vector<std::string> keys;                // of a map, in file order, as many as children
    std::vector<std::pair<int, int>> key_places;  // line, column of the keys
    std::vector<YamlNode> children;               // of a list or map
    std::shared_ptr<const std::string> file;

    Place place() const { return {file ? *file : std::string(), line, column}; }
    Place key_place(std::size_t i) const;
    bool overridden() const { return line == 0; }

    const YamlNode* find(const std::string& key) const;  // null if absent
    YamlNode* find(const std::string& key);

    // "a list of 3", "the text 'abc'", "nothing": for "expected ..., found ...".
    std::string describe() const;
};

// The one document in `text`. Throws Error for syntax, equal keys in one map, several documents, nesting or alias
// expansion beyond what a scene can need. An empty document gives a null node at 1:1.
YamlNode parse_yaml(const std::string& text, const std::string& file);

// A whole file as text; throws Error if it cannot be opened, is a folder or is too large.
std::string read_text_file(const std::string& file);

// Puts `text` (YAML) at the key path of dots, making maps on the way; what it creates has `--set path` as place.
// A name where a map is needed (scheme: moreau-jean) becomes {name: ...}. Throws Error at `--set shown`.
void override_yaml(YamlNode& root, const std::vector<std::string>& path, const std::string& text,
                   const std::string& shown);

}  // namespace stickslip
