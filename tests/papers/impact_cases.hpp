// Impacts given by their matrices, for tests of impact laws.
#pragma once

#include <string>
#include <vector>

#include "stickslip/simulation.hpp"
#include "stickslip/system.hpp"

namespace stickslip::testing {

// Coordinates on which constant rows act: the gaps are closed and the joints hold at q = 0.
struct Impact {
    MatX M, G;            // nv x nv, m x nv
    std::vector<MatX> H;  // per contact: normal, then tangents
    std::vector<double> mu, e, e_T;
    std::vector<int> facets;  // 0: disc
    VecX v;                   // before; G v = 0

    Model model(const std::string& law) const {
        LagrangianModel lagrangian;
        lagrangian.name = "random impact";
        lagrangian.nv = static_cast<int>(M.rows());
        for (int i = 0; i < lagrangian.nv; ++i) lagrangian.coordinates.push_back("q" + std::to_string(i));
        lagrangian.constant_mass = M;
        lagrangian.joints = static_cast<int>(G.rows());
        lagrangian.joint_value = [G = G](double, const VecX& q, VecX& g) { g = G * q; };
        lagrangian.joint_jacobian = [G = G](double, const VecX&, MatX& rows) { rows = G; };
        lagrangian.joint_bias = [](double, const VecX&, const VecX&, VecX& d) { d.setZero(); };
        for (std::size_t i = 0; i < H.size(); ++i) {
            LagrangianModel::Contact contact;
            contact.name = "contact " + std::to_string(i);
            contact.tangents = static_cast<int>(H[i].rows()) - 1;
            contact.friction = mu[i];
            contact.restitution = e[i];
            contact.tangential_restitution = e_T.empty() ? 0 : e_T[i];
            contact.facets = facets.empty() ? 0 : facets[i];
            contact.gap = [N = VecX(H[i].row(0))](const VecX& q) { return N.dot(q); };
            contact.jacobian = [rows = H[i]](const VecX&, MatX& out) { out = rows; };
            contact.bias = [](const VecX&, const VecX&, VecX& d) { d.setZero(); };
            lagrangian.contacts.push_back(contact);
        }
        Model model;
        model.name = lagrangian.name;
        model.state = {0, VecX::Zero(lagrangian.nv), v};
        model.system = make_lagrangian_system(std::move(lagrangian));
        model.run.scheme = {"euler", {{"impact", law, {}}}, {}};
        model.run.end = 1e-3;
        model.run.policy = Policy::certify;  // what has no solution is refused
        return model;
    }
    double energy(const VecX& u) const { return 0.5 * u.dot(M * u); }
};

struct Outcome {
    RunSummary end;
    double gain = 0;  // [J] of kinetic energy, by M and the velocities alone
};

inline Outcome strike(const Impact& impact, const std::string& law) {
    Simulation simulation(impact.model(law));
    Outcome outcome{simulation.run(), 0};
    outcome.gain = impact.energy(outcome.end.v) - impact.energy(impact.v);
    return outcome;
}

}  // namespace stickslip::testing
