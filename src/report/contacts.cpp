// Contact modes over time, and the events.
//
// A row of the record tells the modes of one step; they are drawn from the row before up to it. What happened in steps that
// were not recorded shows only as events.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plot/text.hpp"
#include "plot/timeline.hpp"
#include "report/sections.hpp"

namespace stickslip {

namespace {

using plot::number;

constexpr std::size_t max_rows = 30;     // of the timeline; more do not fit on a page
constexpr std::size_t max_events = 200;  // of the table

struct Contact {
    ContactId id;
    std::vector<plot::Bar> bars;  // neighbours of one mode are one bar
    std::vector<double> impacts;
    long changes = 0;    // of mode, and events
    double touched = 0;  // [s] not open
};

// Loads that switch, changes of the method and edits are events of no contact.
bool of_contact(const Event& e) {
    return e.kind != EventKind::load_switch && e.kind != EventKind::method_switch && !is_edit(e.kind);
}

std::vector<ContactId> sorted_ids(const RecordContents& r) {
    std::vector<ContactId> ids;
    for (const ContactRecord& c : r.contacts) ids.push_back(c.id);
    for (const Event& e : r.events)
        if (of_contact(e)) ids.push_back(e.contact);
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
}

std::vector<Contact> histories(const RecordContents& r) {
    const std::vector<ContactId> ids = sorted_ids(r);
    std::vector<Contact> contacts(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) contacts[i].id = ids[i];
    const auto find = [&](const ContactId& id) -> Contact& {
        return contacts[std::lower_bound(ids.begin(), ids.end(), id) - ids.begin()];
    };
    for (std::size_t k = 1; k < r.t.size(); ++k) {
        for (std::size_t i = r.contact_start[k]; i < r.contact_start[k + 1]; ++i) {
            Contact& c = find(r.contacts[i].id);
            const int mode = static_cast<int>(r.contacts[i].mode);
            if (r.contacts[i].mode != ContactMode::open) c.touched += r.t[k] - r.t[k - 1];
            if (!c.bars.empty() && c.bars.back().to == r.t[k - 1] && c.bars.back().kind == mode) {
                c.bars.back().to = r.t[k];
            } else {
                c.changes += c.bars.empty() ? 0 : 1;
                c.bars.push_back({r.t[k - 1], r.t[k], mode});
            }
        }
    }
    for (const Event& e : r.events) {
        if (!of_contact(e)) continue;
        Contact& c = find(e.contact);
        ++c.changes;
        if (e.kind == EventKind::impact) c.impacts.push_back(e.t);
    }
    std::stable_sort(contacts.begin(), contacts.end(), [](const Contact& a, const Contact& b) {
        if ((a.changes > 0 || a.touched > 0) != (b.changes > 0 || b.touched > 0)) return a.changes > 0 || a.touched > 0;
        return a.changes != b.changes ? a.changes > b.changes : a.touched > b.touched;
    });
    return contacts;
}

// Beside the largest of its column such a number is what rounding left of a zero.
std::string rounded(double x, double largest) { return number(std::abs(x) < 1e-12 * largest ? 0 : x); }

void add_events(const RecordContents& r, plot::Page& page) {
    page.heading(2, "Events");
    if (r.events.empty()) {
        page.paragraph("No impact, take-off or change between stick and slip was located, and no load switched.",
                       "note");
        return;
    }
    plot::Table table;
    table.columns = {{"t [s]", true},       {"event", false},
                     {"who", false},        {"before", false},
                     {"after", false},      {"normal speed before [m/s]", true},
                     {"after [m/s]", true}, {"normal impulse [N s]", true}};
    const std::size_t shown = std::min(max_events, r.events.size());
    // Times of one column have one number of decimals, the largest that nine digits of any of them need.
    std::size_t decimals = 0;
    for (std::size_t i = 0; i < shown; ++i) {
        const std::string text = number(r.events[i].t, 9);
        const auto dot = text.find('.');
        if (dot != std::string::npos && text.find('e') == std::string::npos)
            decimals = std::max(decimals, text.size() - dot - 1);
    }
    const auto time = [&](double t) { return std::abs(t) < 1e9 ? fmt::format("{:.{}f}", t, decimals) : number(t, 9); };
    double speed = 0, impulse = 0;
    for (const Event& e : r.events) {
        for (const double u : {e.normal_speed_before, e.normal_speed_after})
            if (std::isfinite(u)) speed = std::max(speed, std::abs(u));
        if (std::isfinite(e.impulse)) impulse = std::max(impulse, std::abs(e.impulse));
    }
    for (std::size_t i = 0; i < shown; ++i) {
        const Event& e = r.events[i];
        if (e.kind == EventKind::load_switch) {
            table.rows.push_back({time(e.t), to_string(e.kind), "load"});
            continue;
        }
        if (e.kind == EventKind::method_switch) {
            table.rows.push_back(
                {time(e.t), fmt::format("{} ({})", to_string(e.kind), to_string(e.reason)), who(r, e)});
            continue;
        }
        std::vector<std::string> row{time(e.t), to_string(e.kind), who(r, e)};
        // Of the edits only a joint that is attached has speeds and an impulse, and none has a mode.
        if (!is_edit(e.kind)) row.insert(row.end(), {to_string(e.before), to_string(e.after)});
        if (e.kind == EventKind::attach) row.insert(row.end(), {"", ""});
        if (!is_edit(e.kind) || e.kind == EventKind::attach)
            row.insert(row.end(), {rounded(e.normal_speed_before, speed), rounded(e.normal_speed_after, speed),
                                   rounded(e.impulse, impulse)});
        table.rows.push_back(std::move(row));
    }
    if (r.events.size() > max_events)
        page.paragraph(
            fmt::format("The first {} of {} events; the record holds all of them.", max_events, r.events.size()),
            "note");
    page.table(table);
}

}  // namespace

void add_contacts(const RecordContents& r, plot::Page& page) {
    page.heading(2, "Contacts");
    std::vector<Contact> contacts = histories(r);
    if (contacts.empty()) {
        page.paragraph("No two bodies came near each other.", "note");
        if (!r.events.empty()) add_events(r, page);
        return;
    }
    plot::Timeline timeline;
    timeline.title = "Contact modes";
    timeline.x_label = "t";
    timeline.x_unit = "s";
    // In the order of ContactMode.
    timeline.kinds = {{"open (near)", "blank"}, {"stick", "f0"}, {"slip", "f4"}, {"impact", "f1"}};
    timeline.from = r.t.empty() ? 0 : r.t.front();
    timeline.to = r.t.empty() ? 0 : r.t.back();
    bool marks = false;
    for (std::size_t i = 0; i < std::min(max_rows, contacts.size()); ++i) {
        Contact& c = contacts[i];
        marks = marks || !c.impacts.empty();
        timeline.rows.push_back({contact_name(r, c.id), std::move(c.bars), std::move(c.impacts)});
    }
    if (marks) timeline.mark_name = "impact located";
    std::string caption = "Contacts with the most changes first.";
    if (contacts.size() > max_rows)
        caption += fmt::format(" {} of {} contacts are shown, {} are left out.", max_rows, contacts.size(),
                               contacts.size() - max_rows);
    if (std::any_of(timeline.rows.begin(), timeline.rows.end(),
                    [](const auto& row) { return row.name.find(':') != std::string::npos; }))
        caption += " Names end with what touches of either shape: f face, e edge, v vertex, s curved surface.";
    caption += " In a column of pixels with several modes impact hides slip, slip hides stick.";
    page.figure(plot::draw(timeline), caption);
    add_events(r, page);
}

}  // namespace stickslip
