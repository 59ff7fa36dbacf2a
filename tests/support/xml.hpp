// Is this text well-formed XML, as far as our pages and pictures use it: elements, quoted attributes, the five entities and
// numbers, one root, a DOCTYPE before it. Says what is wrong, or nothing.
#pragma once

#include <cctype>
#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace stickslip::testing {

inline std::string xml_fault(const std::string& text) {
    std::size_t i = 0;
    std::vector<std::string> open;
    bool root_done = false;
    const auto fault = [&](const std::string& what) {
        return what + " near '" + text.substr(i > 20 ? i - 20 : 0, 60) + "'";
    };
    const auto entity = [&](std::size_t at) -> std::size_t {  // length, 0 if it is none
        for (const char* known : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"})
            if (text.compare(at, std::strlen(known), known) == 0) return std::strlen(known);
        return 0;
    };
    const auto name = [&] {
        const std::size_t from = i;
        while (i < text.size() &&
               (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '-' || text[i] == ':'))
            ++i;
        return text.substr(from, i - from);
    };
    const auto space = [&] {
        while (i < text.size() && std::isspace(static_cast<unsigned char>(text[i]))) ++i;
    };
    if (text.compare(0, 15, "<!DOCTYPE html>") == 0) i = 15;
    while (i < text.size()) {
        const char c = text[i];
        if (c == '&') {
            const std::size_t n = entity(i);
            if (n == 0) return fault("a bare &");
            i += n;
        } else if (c != '<') {
            if (static_cast<unsigned char>(c) < 0x20 && c != '\n') return fault("a control character");
            if (open.empty() && !std::isspace(static_cast<unsigned char>(c))) return fault("text outside the root");
            ++i;
        } else if (text.compare(i, 2, "</") == 0) {
            i += 2;
            const std::string word = name();
            if (open.empty() || open.back() != word) return fault("</" + word + "> closes nothing");
            open.pop_back();
            if (i >= text.size() || text[i++] != '>') return fault("an end tag without >");
            root_done = open.empty();
        } else {
            if (root_done) return fault("a second root");
            ++i;
            const std::string word = name();
            if (word.empty()) return fault("a < that opens nothing");
            std::set<std::string> attributes;
            for (space(); i < text.size() && text[i] != '>' && text[i] != '/'; space()) {
                const std::string key = name();
                if (key.empty() || !attributes.insert(key).second) return fault("a wrong attribute");
                if (text.compare(i, 2, "=\"") != 0) return fault("an attribute without a value");
                for (i += 2; i < text.size() && text[i] != '"';) {
                    const std::size_t n = text[i] == '&' ? entity(i) : 1;
                    if (n == 0 || text[i] == '<') return fault("a bare & or < in an attribute");
                    i += n;
                }
                ++i;
            }
            if (text.compare(i, 2, "/>") == 0) {
                i += 2;
                root_done = open.empty();
            } else if (i < text.size() && text[i] == '>') {
                ++i;
                open.push_back(word);
            } else {
                return fault("a tag without an end");
            }
        }
    }
    if (!open.empty()) return "<" + open.back() + "> is not closed";
    return root_done ? "" : "no root";
}

}  // namespace stickslip::testing
