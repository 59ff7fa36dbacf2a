#include "scene/yaml_tree.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "stickslip/files.hpp"

namespace stickslip {

namespace {

constexpr std::size_t max_bytes = 32u << 20;  // a wall of 100 000 bricks written out is 15 MB
constexpr int max_depth = 64;                 // a scene needs about 8; the parser itself recurses per level

long weight_of(const std::string& text) { return static_cast<long>(text.size() / 64); }

int depth_of(const YamlNode& node) {
    int d = 0;
    for (const YamlNode& child : node.children) d = std::max(d, depth_of(child));
    return 1 + d;
}

// Collects events into the tree. Open nodes are owned by the stack, so that no pointer into a growing vector is kept.
class TreeMaker : public YAML::EventHandler {
public:
    TreeMaker(std::shared_ptr<const std::string> file, long most) : file_(std::move(file)), most_(most) {}

    YamlNode take() { return std::move(root_); }

    // Line of the innermost list or map that is still open, 0 if none.
    int open_line(YamlNode::Kind kind) const {
        for (auto open = stack_.rbegin(); open != stack_.rend(); ++open)
            if (open->node.kind == kind) return open->node.line;
        return 0;
    }

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        leaf(make(YamlNode::Kind::null, mark), anchor);
    }

    void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  const std::string& value) override {
        YamlNode node = make(YamlNode::Kind::scalar, mark);
        add_weight(weight_of(value), mark);
        node.text = value;
        leaf(std::move(node), anchor);
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const auto found = anchors_.find(anchor);
        if (found == anchors_.end()) throw Error("an alias (*name) cannot stand inside what it names", at(mark));
        add_weight(weight(found->second), mark);
        if (static_cast<int>(stack_.size()) + depth_of(found->second) > max_depth) too_deep(mark);
        // The copy keeps the places of the original: that is where the text to mend stands.
        place_node(YamlNode(found->second));
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(YamlNode::Kind::list, mark, anchor);
    }
    void OnSequenceEnd() override { close(); }

    void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(YamlNode::Kind::map, mark, anchor);
    }
    void OnMapEnd() override { close(); }

private:
    struct Open {
        YamlNode node;
        YAML::anchor_t anchor = 0;
        bool key_next = true;        // of a map: the next node is a key
        std::set<std::string> seen;  // keys so far
    };

    Place at(const YAML::Mark& mark) const { return {*file_, mark.line + 1, mark.column + 1}; }

    void add_weight(long w, const YAML::Mark& mark) {
        weight_ += w;
        if (weight_ > most_)
            throw Error(fmt::format("the scene has more than {} values (aliases count in full)", most_), at(mark));
    }

    [[noreturn]] void too_deep(const YAML::Mark& mark) const {
        throw Error(fmt::format("maps and lists are nested more than {} deep", max_depth), at(mark));
    }

    YamlNode make(YamlNode::Kind kind, const YAML::Mark& mark) {
        add_weight(1, mark);
        YamlNode node;
        node.kind = kind;
        node.line = mark.line + 1;
        node.column = mark.column + 1;
        node.file = file_;
        return node;
    }

    void open(YamlNode::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
        if (static_cast<int>(stack_.size()) >= max_depth) too_deep(mark);
        stack_.push_back({make(kind, mark), anchor, true, {}});
    }

    void close() {
        Open done = std::move(stack_.back());
        stack_.pop_back();
        if (done.anchor) anchors_[done.anchor] = done.node;
        place_node(std::move(done.node));
    }

    void leaf(YamlNode node, YAML::anchor_t anchor) {
        if (anchor) anchors_[anchor] = node;
        place_node(std::move(node));
    }

    void place_node(YamlNode node) {
        if (stack_.empty()) {
            root_ = std::move(node);
            return;
        }
        Open& parent = stack_.back();
        if (parent.node.kind == YamlNode::Kind::map) {
            if (parent.key_next) return take_key(parent, node);
            parent.key_next = true;
            // Nothing after the colon: the parser's mark is wherever the next token stands, the key is what to show.
            if (node.kind == YamlNode::Kind::null) {
                node.line = parent.node.key_places.back().line;
                node.column = parent.node.key_places.back().column;
            }
        }
        parent.node.children.push_back(std::move(node));
    }

    void take_key(Open& parent, const YamlNode& key) {
        if (key.kind != YamlNode::Kind::scalar)
            throw Error(fmt::format("expected a key, found {}", key.describe()), key.place());
        if (!parent.seen.insert(key.text).second) {
            const auto& keys = parent.node.keys;
            const auto first = std::find(keys.begin(), keys.end(), key.text) - keys.begin();
            throw Error(fmt::format("the key '{}' is given twice (first in line {})", key.text,
                                    parent.node.key_places[first].line),
                        key.place());
        }
        parent.node.keys.push_back(key.text);
        parent.node.key_places.push_back({key.line, key.column, file_});
        parent.key_next = false;
    }

    std::shared_ptr<const std::string> file_;
    std::vector<Open> stack_;
    std::map<YAML::anchor_t, YamlNode> anchors_;
    YamlNode root_;
    long weight_ = 0, most_;
};

// Refuses a second document after the first.
class NothingMore : public YAML::EventHandler {
public:
    explicit NothingMore(const std::string& file) : file_(file) {}
    void OnDocumentStart(const YAML::Mark& mark) override {
        throw Error("a scene file holds one document, found a second one", {file_, mark.line + 1, mark.column + 1});
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
    void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
    void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
    void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnMapEnd() override {}

private:
    const std::string& file_;
};

// The parser's words, made to point at the cause where it reports only a consequence.
Error syntax_error(const YAML::Exception& e, const std::string& text, const std::string& file, const TreeMaker& maker) {
    std::string message = "not YAML: " + e.msg;
    if (e.mark.is_null()) return Error(message, {file, 0, 0});

    // A tab in front of a line is read as part of the word behind it.
    std::size_t start = 0;
    for (int line = 0; line < e.mark.line && start != std::string::npos; ++line) {
        start = text.find('\n', start);
        if (start != std::string::npos) ++start;
    }
    if (start != std::string::npos) {
        const std::size_t word = std::min(text.find_first_not_of(" \t", start), text.size());
        const std::size_t tab = text.find('\t', start);
        if (tab < word)
            return Error("not YAML: a tab in the indentation, expected spaces",
                         {file, e.mark.line + 1, static_cast<int>(tab - start) + 1});
    }
    const bool list = e.msg == YAML::ErrorMsg::END_OF_SEQ_FLOW;
    if (list || e.msg == YAML::ErrorMsg::END_OF_MAP_FLOW)
        if (const int line = maker.open_line(list ? YamlNode::Kind::list : YamlNode::Kind::map))
            message += fmt::format(" (no '{}' for the '{}' in line {})", list ? ']' : '}', list ? '[' : '{', line);
    return Error(message, {file, e.mark.line + 1, e.mark.column + 1});
}

void set_place(YamlNode& node, const std::shared_ptr<const std::string>& file,
               const std::shared_ptr<const Indices>& indices) {
    node.file = file;
    node.indices = indices;
    node.line = node.column = 0;
    for (auto& place : node.key_places) place = {};
    for (YamlNode& child : node.children) set_place(child, file, indices);
}

}  // namespace

Place YamlNode::key_place(std::size_t i) const {
    const KeyPlace& key = key_places[i];
    if (key.line == 0) return children[i].place();
    return {key.file ? *key.file : std::string(), key.line, key.column};
}

void YamlNode::add(std::string key, KeyPlace place, YamlNode value) {
    keys.push_back(std::move(key));
    key_places.push_back(std::move(place));
    children.push_back(std::move(value));
}

long weight(const YamlNode& node) {
    long w = 1 + weight_of(node.text);
    for (const std::string& key : node.keys) w += weight_of(key);
    for (const YamlNode& child : node.children) w += weight(child);
    return w;
}

const YamlNode* YamlNode::find(const std::string& key) const {
    for (std::size_t i = 0; i < keys.size(); ++i)
        if (keys[i] == key) return &children[i];
    return nullptr;
}

YamlNode* YamlNode::find(const std::string& key) {
    return const_cast<YamlNode*>(static_cast<const YamlNode*>(this)->find(key));
}

std::string YamlNode::describe() const {
    switch (kind) {
        case Kind::null: return "nothing";
        case Kind::scalar:
            // A long text would hide the message.
            return text.size() <= 40 ? fmt::format("'{}'", text) : fmt::format("'{}...'", text.substr(0, 40));
        case Kind::list: return children.empty() ? "an empty list" : fmt::format("a list of {}", children.size());
        case Kind::map: return keys.empty() ? "an empty map" : fmt::format("a map ('{}: ...')", keys.front());
    }
    return "?";
}

YamlNode parse_yaml(const std::string& text, const std::string& file, long most) {
    const auto name = std::make_shared<const std::string>(file);
    if (text.size() > max_bytes)
        throw Error(fmt::format("larger than {} MB, which no scene needs", max_bytes >> 20), {file, 0, 0});
    if (const auto zero = text.find('\0'); zero != std::string::npos) {
        const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(zero), '\n');
        const auto start = text.rfind('\n', zero);
        throw Error(
            "expected text, found a zero byte (a binary file?)",
            {file, static_cast<int>(line), static_cast<int>(start == std::string::npos ? zero + 1 : zero - start)});
    }
    TreeMaker maker(name, most);
    try {
        std::istringstream stream(text);
        YAML::Parser parser(stream);
        if (!parser.HandleNextDocument(maker)) {
            YamlNode nothing;
            nothing.line = nothing.column = 1;
            nothing.file = name;
            return nothing;
        }
        NothingMore nothing_more(file);
        parser.HandleNextDocument(nothing_more);
    } catch (const YAML::Exception& e) {
        throw syntax_error(e, text, file, maker);
    }
    return maker.take();
}

std::string read_text_file(const std::string& file) {
    std::error_code ignored;
    const Place place{file, 0, 0};
    if (std::filesystem::is_directory(file, ignored))
        throw Error("cannot open: it is a folder, expected a scene file", place);
    require_regular(file);  // a pipe would let us wait for ever
    std::ifstream stream(file, std::ios::binary);
    if (!stream)
        throw Error(
            std::filesystem::exists(file, ignored) ? "cannot open: no permission to read" : "cannot open: no such file",
            place);
    // In pieces and with a limit: a file may be larger than what memory holds.
    std::string text;
    std::vector<char> piece(1u << 16);
    while (stream.read(piece.data(), static_cast<std::streamsize>(piece.size())), stream.gcount() > 0) {
        text.append(piece.data(), static_cast<std::size_t>(stream.gcount()));
        if (text.size() > max_bytes)
            throw Error(fmt::format("larger than {} MB, which no scene needs", max_bytes >> 20), place);
    }
    if (stream.bad()) throw Error("cannot read", place);
    return text;
}

void override_yaml(YamlNode& root, const std::vector<std::string>& path, const std::string& text,
                   const std::string& origin) {
    const auto file = std::make_shared<const std::string>(origin);
    const Place place{*file, 0, 0};
    YamlNode* node = &root;
    for (const std::string& key : path) {
        if (key.empty()) throw Error("expected a key path like bodies.arm.mass", place);
        if (node->kind == YamlNode::Kind::null) node->kind = YamlNode::Kind::map;
        if (node->kind == YamlNode::Kind::scalar) {
            // `scheme: moreau-jean` is short for `scheme: {name: moreau-jean}`.
            if (path.size() != 3 || path[0] != "run" || (path[1] != "scheme" && path[1] != "solver"))
                throw Error(fmt::format("there is no '{}' inside {}, which is a single value", key, node->describe()),
                            place);
            YamlNode name = *node;
            node->keys = {"name"};
            node->key_places = {{name.line, name.column, name.file}};
            node->children.push_back(std::move(name));
            node->kind = YamlNode::Kind::map;
            node->text.clear();
        }
        if (node->kind == YamlNode::Kind::list) {
            std::size_t i = 0;
            const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), i);
            if (error != std::errc() || end != key.data() + key.size() || i >= node->children.size())
                throw Error(fmt::format("expected an index from 0 to {} into the list, found '{}'",
                                        static_cast<long>(node->children.size()) - 1, key),
                            place);
            node = &node->children[i];
            continue;
        }
        YamlNode* next = node->find(key);
        if (!next) {
            YamlNode made;
            made.file = file;
            made.indices = node->indices;  // a formula given for a copy may use its indices
            node->add(key, {}, std::move(made));
            next = &node->children.back();
        }
        node = next;
    }
    YamlNode value = parse_yaml(text, *file);
    set_place(value, file, node->indices);
    *node = std::move(value);
}

}  // namespace stickslip
