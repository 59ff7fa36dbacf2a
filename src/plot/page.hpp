// A page that needs nothing but itself: HTML that is XML too, one style, no scripts, no fonts, no pictures from elsewhere.
// All text is escaped on its way in; only pictures made by this module go in as they are.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plot/picture.hpp"

namespace stickslip::plot {

struct Table {
    struct Column {
        std::string name;
        bool number = false;  // to the right
    };
    std::vector<Column> columns;
    std::vector<std::vector<std::string>> rows;  // shorter rows are filled up
};

class Page {
public:
    explicit Page(std::string title) : title_(std::move(title)) {}

    enum class Mood { good, bad, unsure };
    void heading(int level, std::string_view text);
    void paragraph(std::string_view text, std::string_view classes = "");
    void verdict(Mood mood, std::string_view word, std::string_view text);  // a coloured box
    void facts(const std::vector<std::pair<std::string, std::string>>& list);
    void table(const Table& table);
    // Pictures between begin_row and end_row stand side by side where there is room.
    void begin_row() { body_ += "<div class=\"row\">\n"; }
    void end_row() { body_ += "</div>\n"; }
    void figure(const Picture& picture, std::string_view caption = "");
    void source(std::string_view summary, std::string_view text);  // folded, as it is written

    std::string html() const;

private:
    std::string title_, body_;
};

}  // namespace stickslip::plot
