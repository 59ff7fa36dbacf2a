#include "plot/page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "plot/text.hpp"

namespace stickslip::plot {

namespace {

constexpr const char* page_style = R"(
* { box-sizing: border-box }
body {
  margin: 0 auto; max-width: 1180px; padding: 1.2rem 1rem 3rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif; overflow-wrap: anywhere;
}
h1 { font-size: 1.6rem; margin: .2rem 0 .6rem }
h2 { font-size: 1.2rem; margin: 2rem 0 .6rem; border-bottom: 1px solid var(--grid) }
p { max-width: 60rem }
p.note, figcaption { color: var(--faint); font-size: 13px }
.row { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 480px), 1fr)); gap: 1rem }
figure { margin: 0 0 1rem; break-inside: avoid; overflow-x: auto }
figure svg { display: block; min-width: 880px; max-width: 100%; height: auto }
.row figure { margin: 0; min-width: 0 }
.row figure svg { min-width: 0 }
.verdict { border-left: 6px solid; padding: .4rem .8rem; margin: .8rem 0; max-width: 60rem }
.verdict b { margin-right: .5em }
.good { border-color: var(--c2) } .good b { color: var(--c2) }
.bad { border-color: var(--c1) } .bad b { color: var(--c1) }
.unsure { border-color: var(--c4) } .unsure b { color: var(--c4) }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; max-width: 60rem }
dt { color: var(--faint) } dd { margin: 0 }
.wide { overflow: auto; max-height: 30rem; margin: .6rem 0; width: fit-content; max-width: 100% }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums }
th, td { padding: .15rem .7rem; border-bottom: 1px solid var(--grid); text-align: left; white-space: nowrap }
th { color: var(--faint); font-weight: 600; position: sticky; top: 0; background: var(--paper) }
.number { text-align: right }
pre { font-size: 12px; white-space: pre-wrap; border: 1px solid var(--grid); padding: .6rem }
@media print {
  body { max-width: none; padding: 0; font-size: 11pt }
  .row { grid-template-columns: 1fr 1fr }
  figure { overflow: visible }
  figure svg { min-width: 0 }
  .wide { overflow: visible; max-height: none }
  th { position: static }
  h2 { break-after: avoid }
  tr { break-inside: avoid }
}
)";

// Escaped like everything, but line breaks stay.
std::string escaped_lines(std::string_view text) {
    std::string out;
    std::size_t from = 0;
    for (std::size_t end = text.find('\n'); end != std::string_view::npos; from = end + 1, end = text.find('\n', from))
        out += escape(text.substr(from, end - from)) + "\n";
    return out + escape(text.substr(from));
}

}  // namespace

void Page::heading(int level, std::string_view text) {
    level = std::clamp(level, 1, 6);
    body_ += fmt::format("<h{0}>{1}</h{0}>\n", level, escape(text));
}

void Page::paragraph(std::string_view text, std::string_view classes) {
    body_ += classes.empty() ? fmt::format("<p>{}</p>\n", escape(text))
                             : fmt::format("<p class=\"{}\">{}</p>\n", escape(classes), escape(text));
}

void Page::verdict(Mood mood, std::string_view word, std::string_view text) {
    static constexpr const char* words[] = {"good", "bad", "unsure"};
    body_ += fmt::format("<div class=\"verdict {}\"><b>{}</b> {}</div>\n", words[static_cast<int>(mood)], escape(word),
                         escape(text));
}

void Page::facts(const std::vector<std::pair<std::string, std::string>>& list) {
    if (list.empty()) return;
    body_ += "<dl>\n";
    for (const auto& [name, value] : list)
        body_ += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape(name), escape(value));
    body_ += "</dl>\n";
}

void Page::table(const Table& table) {
    const auto side = [&](std::size_t i) { return table.columns[i].number ? " class=\"number\"" : ""; };
    body_ += "<div class=\"wide\"><table>\n<thead><tr>";
    for (std::size_t i = 0; i < table.columns.size(); ++i)
        body_ += fmt::format("<th{}>{}</th>", side(i), escape(table.columns[i].name));
    body_ += "</tr></thead>\n<tbody>\n";
    for (const std::vector<std::string>& row : table.rows) {
        body_ += "<tr>";
        for (std::size_t i = 0; i < table.columns.size(); ++i)
            body_ += fmt::format("<td{}>{}</td>", side(i), i < row.size() ? escape(row[i]) : "");
        body_ += "</tr>\n";
    }
    body_ += "</tbody></table></div>\n";
}

void Page::figure(const Picture& picture, std::string_view caption) {
    body_ += "<figure>\n" + picture.inline_svg();
    if (!caption.empty()) body_ += fmt::format("<figcaption>{}</figcaption>\n", escape(caption));
    body_ += "</figure>\n";
}

void Page::source(std::string_view summary, std::string_view text) {
    body_ +=
        fmt::format("<details><summary>{}</summary><pre>{}</pre></details>\n", escape(summary), escaped_lines(text));
}

std::string Page::html() const {
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n<meta "
        "charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\"/>\n<title>{}</title>\n<style>\n{}{}</style>\n"
        "</head>\n<body>\n{}</body>\n</html>\n",
        escape(title_), picture_style(), page_style, body_);
}

}  // namespace stickslip::plot
