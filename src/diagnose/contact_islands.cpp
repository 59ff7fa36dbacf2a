#include "diagnose/contact_islands.hpp"

#include "math/node_groups.hpp"

namespace stickslip {

namespace {

bool holds(const BilateralRows& joints, int i) {
    return (joints.kind[i] == RowKind::holonomic || joints.kind[i] == RowKind::velocity) &&
           joints.force_lower[i] == -infinity && joints.force_upper[i] == infinity;
}

}  // namespace

std::vector<ContactIsland> contact_islands(const Nodes& nodes, const BilateralRows& joints, const ContactRows& contacts,
                                           double touching) {
    const BlockRows &G = joints.jacobian, &H = contacts.jacobian;
    NodeGroups groups;
    groups.reset(nodes.size());
    const auto counts = [&](int i) { return contacts.gap[i] <= touching && !H.blocks_of(i).empty(); };
    groups.join(G);
    for (int i = 0; i < contacts.size(); ++i)
        if (counts(i)) groups.join(H, i);

    std::vector<ContactIsland> islands(static_cast<std::size_t>(nodes.size()));
    for (int n = 0; n < nodes.size(); ++n) islands[groups.root_of(n)].nodes.push_back(n);
    for (int g = 0; g < G.groups(); ++g) {
        if (G.blocks_of(g).empty()) continue;
        auto& rows = islands[groups.root_of(G.blocks_of(g).front().node)].joint_rows;
        for (int i = G.row[g]; i < G.row[g + 1]; ++i)
            if (holds(joints, i)) rows.push_back(i);
    }
    for (int i = 0; i < contacts.size(); ++i)
        if (counts(i)) islands[groups.root_of(H.blocks_of(i).front().node)].contacts.push_back(i);
    std::erase_if(islands, [](const ContactIsland& island) { return island.contacts.empty(); });
    return islands;
}

}  // namespace stickslip
