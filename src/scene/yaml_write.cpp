// A tree as text: one line for each entry of a section, in the flow style that JSON shares with YAML.
#include <fmt/format.h>

#include <algorithm>

#include "scene/yaml_tree.hpp"

namespace stickslip {

namespace {

// Without quotes only what YAML cannot take for anything else.
bool plain(const std::string& text) {
    const auto fine = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("_.+-*/^()").find(c) != std::string_view::npos;
    };
    if (text.empty() || !std::all_of(text.begin(), text.end(), fine)) return false;
    if (text.front() == '*' || text.starts_with("--") || text.starts_with("..") || text == "-") return false;
    return text != "null" && text != "Null" && text != "NULL";
}

void write_scalar(const std::string& text, std::string& out) {
    if (plain(text)) {
        out += text;
        return;
    }
    out += '"';
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (c == '\n')
            out += "\\n";
        else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        else
            out += c;
    }
    out += '"';
}

void write_flow(const YamlNode& node, std::string& out) {
    switch (node.kind) {
        case YamlNode::Kind::null: out += "~"; return;
        case YamlNode::Kind::scalar: write_scalar(node.text, out); return;
        case YamlNode::Kind::list:
        case YamlNode::Kind::map: break;
    }
    const bool map = node.kind == YamlNode::Kind::map;
    out += map ? '{' : '[';
    for (std::size_t i = 0; i < node.children.size(); ++i) {
        if (i) out += ", ";
        if (map) {
            write_scalar(node.keys[i], out);
            out += ": ";
        }
        write_flow(node.children[i], out);
    }
    out += map ? '}' : ']';
}

}  // namespace

std::string write_yaml(const YamlNode& root) {
    std::string out;
    for (std::size_t i = 0; i < root.keys.size(); ++i) {
        const YamlNode& section = root.children[i];
        write_scalar(root.keys[i], out);
        out += ":";
        if (section.kind != YamlNode::Kind::map || section.keys.empty()) {
            out += " ";
            write_flow(section, out);
            out += "\n";
            continue;
        }
        out += "\n";
        for (std::size_t k = 0; k < section.keys.size(); ++k) {
            out += "  ";
            write_scalar(section.keys[k], out);
            out += ": ";
            write_flow(section.children[k], out);
            out += "\n";
        }
    }
    return out;
}

}  // namespace stickslip
