// Contact ids and subjects of events as they stand in files: seven words each, and as they stood before, in three.
//
//   now     kind, a, b, part a, part b, feature a, feature b      kind: 0 shapes, 1 limit, 16 + SubjectKind (then a is the id),
//                                                                 0xffffffff no contact
//   before  a, b, feature        a had bit 31 set for limits and bit 30 for subjects (b: 0 body, 1 joint, 2 spring), all bits
//                                set in all three was no contact; feature held 16 bits for each side: 4 kind, 12 number
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "stickslip/types.hpp"

namespace stickslip {

inline constexpr std::size_t who_words = 7, old_who_words = 3;
using WhoWords = std::array<std::uint32_t, who_words>;

inline constexpr std::uint32_t first_subject = 16;

inline WhoWords words_of(const ContactId& id) {
    return {static_cast<std::uint32_t>(id.kind), id.a, id.b, id.part.a, id.part.b, id.feature.a, id.feature.b};
}
inline WhoWords words_of(const Subject& subject) {
    return {first_subject + static_cast<std::uint32_t>(subject.kind), subject.id};
}

inline WhoWords widened(const std::uint32_t* old) {
    constexpr std::uint32_t all = 0xffffffffu, limit = 0x80000000u, subject = 0x40000000u;
    if (old[0] == all && old[1] == all && old[2] == all) return words_of(no_contact);
    if ((old[0] & limit) != 0)
        return {static_cast<std::uint32_t>(ContactKind::limit), old[0] & ~limit, old[1], 0, 0, old[2]};
    if ((old[0] & subject) != 0) return {first_subject + 1 + old[1], old[0] & ~subject};
    const auto side = [](std::uint32_t code) { return (code >> 12 & 3) << 30 | (code & 0xfff); };
    return {0, old[0], old[1], 0, 0, side(old[2] >> 16), side(old[2] & 0xffff)};
}

// Entry i of a list of `columns` words each, seven or three.
inline WhoWords who_at(const std::uint32_t* list, std::size_t columns, std::size_t i) {
    if (columns == old_who_words) return widened(list + old_who_words * i);
    WhoWords words;
    std::copy_n(list + who_words * i, who_words, words.begin());
    return words;
}

inline bool is_subject(const WhoWords& w) {
    return w[0] >= first_subject && w[0] <= first_subject + static_cast<std::uint32_t>(SubjectKind::spring);
}
inline Subject subject_of(const WhoWords& w) { return {static_cast<SubjectKind>(w[0] - first_subject), w[1]}; }
// Kinds that do not exist are no contact.
inline ContactId contact_of(const WhoWords& w) {
    if (w[0] > static_cast<std::uint32_t>(ContactKind::limit)) return no_contact;
    return {static_cast<ContactKind>(w[0]), w[1], w[2], {w[3], w[4]}, {w[5], w[6]}};
}

}  // namespace stickslip
