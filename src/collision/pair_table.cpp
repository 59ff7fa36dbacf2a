// The table of exact pairs. A new pair is one file in pairs/ and its square here; below the diagonal the same
// function serves with its sides exchanged.
#include "collision/pair_table.hpp"

#include <algorithm>
#include <cstddef>

namespace stickslip {

namespace {

enum class Sides { as_given, exchanged };

struct Square {
    PairFunction function;
    Sides sides = Sides::as_given;
};

constexpr Sides swap = Sides::exchanged;

// Rows: kind of a, columns: kind of b, both in the order of `Geometry`.
// clang-format off
constexpr Square table[shape_kinds][shape_kinds] = {
    //               sphere                      box                     capsule                     half-space            hull
    /* sphere     */ {{sphere_sphere},           {sphere_box},           {sphere_capsule},           {sphere_half_space},  {sphere_hull}},
    /* box        */ {{sphere_box, swap},        {box_box},              {capsule_box, swap},        {box_half_space},     {polytope_polytope}},
    /* capsule    */ {{sphere_capsule, swap},    {capsule_box},          {capsule_capsule},          {capsule_half_space}, {capsule_hull}},
    /* half-space */ {{sphere_half_space, swap}, {box_half_space, swap}, {capsule_half_space, swap}, {nullptr},            {hull_half_space, swap}},
    /* hull       */ {{sphere_hull, swap},       {polytope_polytope},    {capsule_hull, swap},       {hull_half_space},    {polytope_polytope}},
};
// clang-format on

}  // namespace

void find_pair_contacts(const PlacedShape& a, const PlacedShape& b, const PairQuery& query,
                        std::vector<ContactPoint>& contacts) {
    const Square& square = table[a.geometry->index()][b.geometry->index()];
    if (square.function == nullptr) return;
    const auto first = static_cast<std::ptrdiff_t>(contacts.size());
    if (square.sides == Sides::as_given) {
        square.function(a, b, query, contacts);
    } else {
        square.function(b, a, query, contacts);
        std::transform(contacts.begin() + first, contacts.end(), contacts.begin() + first, exchanged);
    }
    if (static_cast<std::ptrdiff_t>(contacts.size()) - first < 2) return;
    std::sort(contacts.begin() + first, contacts.end(),
              [](const ContactPoint& x, const ContactPoint& y) { return x.id.feature < y.id.feature; });
}

}  // namespace stickslip
