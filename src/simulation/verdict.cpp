#include "simulation/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace stickslip {

namespace {

// Energy that appeared from nowhere, as a share of the largest energy of the run. If smaller, explicit schemes with good steps are
// doubted; if larger, swings are visibly too high before anybody is told.
constexpr double made_share = 0.01;
// The same of position stabilisation alone. Most of it gives back what the scheme took when rows turned, so that together they make
// little: 1.4 % against 0 in slider-crank. If smaller, shipped scenes are doubted for that.
constexpr double stabilisation_share = 0.05;
// Energies below this share of that of a typical body are those of things at rest. If zero, rounding would be doubted.
constexpr double rest_share = 1e-6;
// Angular momentum of bodies that touch each other in flight. Moreau-Jean changes it by as large a share as the bodies overlap
// (momentum_watch.hpp), so that the limit is that of overlaps (evidence.cpp).
constexpr double colliding_share = 0.08;

class Judge {
public:
    Judge(const System& system, const RunSummary& s, const Evidence& evidence, const RunFacts& facts)
        : system_(system), s_(s), evidence_(evidence), facts_(facts) {}

    Verdict verdict() {
        residuals();
        drift();
        energy();
        imbalance();
        momentum();
        loads();
        events();
        paradoxes();
        remarks();
        if (!verdict_.reasons.empty()) verdict_.status = Trust::doubtful;
        if (s_.end == RunEnd::refused) {
            verdict_.status = Trust::refused;
            verdict_.reasons.insert(verdict_.reasons.begin(), s_.reason);
            verdict_.grounds.insert(verdict_.grounds.begin(), {"refused", s_.refused_residual, facts_.tol});
        }
        return std::move(verdict_);
    }

private:
    void doubt(const char* kind, double value, double limit, std::string reason) {
        verdict_.grounds.push_back({kind, value, limit});
        verdict_.reasons.push_back(std::move(reason));
    }

    void residuals() {
        const auto& bad = s_.uncertified;
        if (bad.steps == 0) return;
        const double share = 100.0 * static_cast<double>(bad.steps) / static_cast<double>(std::max(1L, s_.steps));
        doubt("residual", bad.residual, bad.tol,
              fmt::format("{} of {} steps ({:.3g} %) are not certified: the worst residual is {:.3g} m/s, allowed are "
                          "{:.3g}",
                          bad.steps, s_.steps, share, bad.residual, bad.tol));
    }

    void drift() {
        if (const WorstDrift& worst = evidence_.overlap(); worst.badness > 1)
            doubt("overlap", worst.error, worst.limit,
                  fmt::format("{} overlap by {:.2g} m at t = {:.6g} s, more than the {:.2g} m that bodies of this size "
                              "allow: take a smaller step",
                              worst.who, worst.error, worst.t, worst.limit));
        if (const WorstDrift& worst = evidence_.opening(); worst.badness > 1)
            doubt("joint", worst.error, worst.limit,
                  fmt::format("joint '{}' drifts apart by {:.2g} (m or rad) at t = {:.6g} s, more than the {:.2g} that "
                              "bodies of this size allow: take a smaller step, or set scheme.projection=both",
                              worst.who, worst.error, worst.t, worst.limit));
        if (const WorstDrift& worst = evidence_.parting(); worst.badness > 1)
            doubt("joint-speed", worst.error, worst.limit,
                  fmt::format("speeds of joined bodies disagree by what opens a joint by {:.2g} (m or rad) in a step at t = "
                              "{:.6g} s, more than the {:.2g} that bodies of this size allow: take a smaller step",
                              worst.error, worst.t, worst.limit));
    }

    double energy_limit(double share) const {
        return std::max(share * facts_.energy_at_hand, rest_share * facts_.tolerances.scales.energy());
    }

    bool made(const char* kind, double energy, double share, const char* who, const char* advice) {
        const double limit = energy_limit(share);
        if (!(energy > limit)) return false;
        doubt(kind, energy, limit,
              fmt::format("{} made {:.3g} J, {:.2g} % of the {:.3g} J at hand: {}", who, energy,
                          100 * energy / facts_.energy_at_hand, facts_.energy_at_hand, advice));
        return true;
    }

    // More than rounding is missing in the ledger, and residuals explain it: else the run would have been refused.
    void imbalance() {
        const double limit = ledger_tolerance * s_.energy_scale + facts_.tolerances.thermal_energy;
        if (!(std::abs(s_.imbalance) > limit)) return;
        doubt("imbalance", std::abs(s_.imbalance), limit,
              fmt::format("{:.3g} J of {:.3g} J are missing in the ledger, because steps were not solved well enough: "
                          "give a smaller solver.tol, or a larger budget",
                          s_.imbalance, s_.energy_scale));
    }

    void energy() {
        const char* less = "take a smaller step, or less stabilisation";
        const bool told =
            made("scheme-energy", evidence_.scheme_rise(), made_share, "the scheme", "take a smaller step") ||
            made("stabilisation-energy", evidence_.stabilisation_rise(), stabilisation_share, "position stabilisation",
                 less);
        if (!told)
            made("stabilisation-energy", evidence_.made_together(), made_share, "the scheme and position stabilisation",
                 less);
        made("impact-energy", s_.impact_gains.energy, made_share, "impacts",
             "Poisson's and Newton's law with friction may; poisson-simple, or one restitution on normals and "
             "tangents, never does");
    }

    std::string company(const MomentumWatch::Worst& worst, const char* with) const {
        std::string who = fmt::format("'{}'", system_.body_names()[static_cast<std::size_t>(worst.body)]);
        if (worst.others > 0) who += fmt::format(" and the {} {}", worst.others, with);
        return who;
    }

    void momentum() {
        const MomentumWatch& watch = evidence_.momentum();
        if (const MomentumWatch::Worst worst = watch.angular(); worst.drift > momentum_share)
            doubt("momentum", worst.drift, momentum_share,
                  fmt::format("the angular momentum of {} in free flight is wrong by {:.2g} % at t = {:.6g} s, and by "
                              "more than {:.2g} % from t = {:.6g} s on: the step of {:.3g} s is too long for the spin, "
                              "take {:.1g} s, or hem5 or dopri5, which follow fast spins",
                              company(worst, "it is joined to"), 100 * worst.drift, worst.t, 100 * momentum_share,
                              worst.since, worst.h, step_for(worst)));
        if (const MomentumWatch::Worst worst = watch.colliding(); worst.drift > colliding_share)
            doubt("momentum", worst.drift, colliding_share,
                  fmt::format("the angular momentum of {}, which collide in flight, is wrong by {:.2g} % at t = {:.6g} "
                              "s: take a smaller step, or a scheme that locates events",
                              company(worst, "it touches"), 100 * worst.drift, worst.t));
        if (const MomentumWatch::Worst worst = watch.linear(); worst.drift > momentum_share)
            doubt("linear-momentum", worst.drift, momentum_share,
                  fmt::format("the momentum of {} in free flight is wrong by {:.2g} % at t = {:.6g} s: take a smaller "
                              "step",
                              company(worst, "it is joined to or touches"), 100 * worst.drift, worst.t));
    }

    // [s] Errors of L go with the power `order` of the step. Half of that, since the largest steps are not all yet asymptotic.
    double step_for(const MomentumWatch::Worst& worst) const {
        const double fitting = std::pow(momentum_share / worst.drift, 1.0 / facts_.order) * worst.h;
        return 0.5 * fitting;
    }

    void loads() {
        const LoadWatch& watch = evidence_.loads();
        if (watch.steps() == 0) return;
        doubt("load", static_cast<double>(watch.steps()), 0,
              fmt::format("{} changes faster than the step of {:.3g} s from t = {:.6g} s on (in {} steps), and what it "
                          "does in between is not seen: take a smaller step",
                          watch.who(), watch.h(), watch.t(), watch.steps()));
    }

    void events() {
        if (s_.unlocated_events == 0) return;
        doubt("unlocated", static_cast<double>(s_.unlocated_events), 0,
              fmt::format("{} events were not located, because sub-steps would have been shorter than "
                          "scheme.shortest_substep allows",
                          s_.unlocated_events));
    }

    void paradoxes() {
        for (const Paradox& paradox : evidence_.paradoxes())
            doubt("paradox", paradox.friction, paradox.critical_friction,
                  paradox_warning(system_, paradox, s_.paradox_steps));
    }

    void remarks() {
        if (s_.end == RunEnd::interrupted)
            verdict_.remarks.push_back(
                fmt::format("interrupted: only what happened up to t = {:.6g} s is judged", s_.t));
        if (s_.steps == 0) verdict_.remarks.emplace_back("no step was taken");
        if (evidence_.ambiguous_impacts() > 0)
            verdict_.remarks.push_back(
                fmt::format("in {} steps several contacts with friction and restitution collided at once, where impact "
                            "laws differ: the law was {}",
                            evidence_.ambiguous_impacts(), s_.impact_law));
        if (!s_.redundant.empty())
            verdict_.remarks.push_back(
                fmt::format("reactions of {} are not unique (redundant rows: {}): the smallest ones are given",
                            listing(s_.not_unique), listing(s_.redundant)));
        if (!facts_.shared_contacts.empty())
            verdict_.remarks.push_back(
                fmt::format("the forces of {} contacts ({}) are not unique at the end: the smallest are given{}",
                            facts_.shared_contacts.size(), listing(facts_.shared_contacts, 2),
                            facts_.smallest_given ? "" : ", but not where so many depend on each other"));
    }

    // The first few of many names.
    static std::string listing(const std::vector<std::string>& names, std::size_t most = 6) {
        const std::size_t shown = std::min(most, names.size());
        std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<long>(shown), ", "));
        return names.size() > shown ? fmt::format("{} and {} more", text, names.size() - shown) : text;
    }

    const System& system_;
    const RunSummary& s_;
    const Evidence& evidence_;
    const RunFacts& facts_;
    Verdict verdict_;
};

}  // namespace

const char* to_string(Trust trust) {
    switch (trust) {
        case Trust::trusted: return "trusted";
        case Trust::doubtful: return "doubtful";
        case Trust::refused: return "refused";
    }
    return "?";
}

Verdict judge_run(const System& system, const RunSummary& summary, const Evidence& evidence, const RunFacts& facts) {
    return Judge(system, summary, evidence, facts).verdict();
}

std::string impact_law(const Selection& scheme) {
    for (const OptionValue& option : scheme.options)
        if (option.key == "impact") return option.text;
    for (const SchemeEntry& entry : schemes())
        if (entry.name == scheme.name)
            for (const FieldInfo& field : entry.options())
                if (field.name == "impact") return field.default_text;
    if (scheme.name == "stewart-trinkle") return "none, restitution is taken as 0";
    return scheme.name == "schatzman-paoli" ? "newton, on positions" : "newton, inside the step";
}

int scheme_order(const std::string& scheme) {
    for (const SchemeEntry& entry : schemes())
        if (entry.name == scheme && entry.order[0] >= '1' && entry.order[0] <= '9') return entry.order[0] - '0';
    return 1;
}

}  // namespace stickslip
