// Places in lists of contacts, which are sorted by id.
#pragma once

#include <algorithm>
#include <vector>

#include "stickslip/types.hpp"

namespace stickslip {

// Index of `id` in a list of things with an id that is sorted by it, or -1. `id_of` gives the id of an entry.
template <class T, class IdOf>
int find_contact(const std::vector<T>& sorted, const ContactId& id, IdOf&& id_of) {
    const auto place = std::lower_bound(sorted.begin(), sorted.end(), id,
                                        [&](const T& entry, const ContactId& key) { return id_of(entry) < key; });
    return place != sorted.end() && id_of(*place) == id ? static_cast<int>(place - sorted.begin()) : -1;
}

inline int find_contact(const std::vector<ContactId>& sorted, const ContactId& id) {
    return find_contact(sorted, id, [](const ContactId& entry) -> const ContactId& { return entry; });
}

}  // namespace stickslip
