// Intervals that shrink by the same r each time, ..., d, r d, r^2 d, add up to d r/(1 - r) after the last one. Two impacts in quick
// succession are no accumulation: all three last intervals must shrink, and the larger of their two ratios counts.
//
// Intervals may shrink more slowly than that, as 1/n^2 between closing walls. What is still to come is then taken as the last
// interval times a factor that grows linearly from interval to interval (Lubkin's transformation, exact for both laws): with the ratios
// r1, r2 of the last three it is d (rho (2 - r1) - r1), rho = r2 (1 - r1)/(1 - 2 r2 + r1 r2).
#include "schemes/events/bounces.hpp"

#include <algorithm>
#include <cmath>

#include "schemes/parts/parts.hpp"

namespace stickslip {

namespace {

constexpr double same_ratio = 0.3;  // intervals shrink alike when their ratios differ by less than this, relatively

std::size_t place_of(const ContactId& id, const BounceMemory& memory) {
    return static_cast<std::size_t>(std::lower_bound(memory.contact.begin(), memory.contact.end(), id) -
                                    memory.contact.begin());
}

bool known(std::size_t place, const ContactId& id, const BounceMemory& memory) {
    return place < memory.contact.size() && memory.contact[place] == id;
}

// [s] What is left after three intervals of which the last is `last`, with the ratios r1 and r2; the geometric sum where Lubkin's
// has no sense.
double time_left(double last, double r1, double r2) {
    const double below = 1 - 2 * r2 + r1 * r2, rho = r2 * (1 - r1) / below;
    const double left = last * (rho * (2 - r1) - r1);
    return r2 > r1 && below > 0 && left > 0 ? left : last * std::max(r1, r2) / (1 - std::max(r1, r2));
}

}  // namespace

void note_bounce(const ContactId& id, double t, BounceMemory& memory) {
    const std::size_t place = place_of(id, memory);
    if (known(place, id, memory)) {
        auto& times = memory.times[place];
        times = {times[1], times[2], t};
        return;
    }
    memory.contact.insert(memory.contact.begin() + static_cast<long>(place), id);
    memory.times.insert(memory.times.begin() + static_cast<long>(place), {std::nan(""), std::nan(""), t});
}

double bounces_left(const ContactId& id, double t, const BounceMemory& memory) {
    const std::size_t place = place_of(id, memory);
    if (!known(place, id, memory)) return infinity;
    const auto& times = memory.times[place];
    const double last = t - times[2], before = times[2] - times[1], first = times[1] - times[0];
    if (!(last < before && before < first)) return infinity;
    const double r = std::max(last / before, before / first);
    return last * r / (1 - r);
}

double end_bounces(const ContactId& id, double t, BounceMemory& memory) {
    const std::size_t place = place_of(id, memory);
    if (!known(place, id, memory)) return infinity;
    const auto times = memory.times[place];
    memory.contact.erase(memory.contact.begin() + static_cast<long>(place));
    memory.times.erase(memory.times.begin() + static_cast<long>(place));
    const double last = t - times[2], r = last / (times[2] - times[1]);
    const double before = (times[2] - times[1]) / (times[1] - times[0]);
    const bool alike = r < 1 && before < 1 && std::abs(r - before) < same_ratio * before;
    return alike ? t + time_left(last, before, r) : infinity;
}

void note_bounces(std::size_t first_event, double tolerance, const State& x, Step& s, BounceMemory& memory,
                  bool plastic) {
    const ContactRows& contacts = s.problem.contacts;
    const RowVec& speed = contact_speeds(x.v, s);
    for (int i = 0; i < contacts.size(); ++i) {
        const bool hit = std::any_of(s.events.begin() + static_cast<long>(first_event), s.events.end(),
                                     [&](const Event& event) { return event.contact == contacts.id[i]; });
        if (!hit) continue;
        if (speed[contacts.jacobian.row[i]] > tolerance || (plastic && contacts.restitution[i] == 0)) {
            note_bounce(contacts.id[i], x.t, memory);
        } else if (const double end = end_bounces(contacts.id[i], x.t, memory); end < infinity) {
            s.events.push_back({.t = end,
                                .kind = EventKind::accumulation,
                                .contact = contacts.id[i],
                                .before = ContactMode::impact,
                                .after = s.solution.modes[i]});
        }
    }
}

}  // namespace stickslip
