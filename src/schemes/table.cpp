// The schemes, one line each. From it follow the scene keyword, --scheme, `stickslip list` and the common tests.
#include <algorithm>

#include "base/fields.hpp"
#include "schemes/euler.hpp"
#include "schemes/hybrid.hpp"
#include "schemes/linearly_implicit.hpp"
#include "schemes/moreau_jean.hpp"
#include "schemes/schatzman_paoli.hpp"
#include "schemes/stewart_trinkle.hpp"

namespace stickslip {

namespace {

// Options are checked before the sizes of the scene are known.
const Tolerances sizes_of_one;

bool positive(double x) { return x > 0; }
bool not_negative(double x) { return x >= 0; }

void require_step(double step, const OptionValues& values) {
    require(step > 0, "step must be positive [s]", values, "step");
    require(step >= 1e-12, "step must be at least 1e-12 s: time itself is not kept more finely", values, "step");
}

std::unique_ptr<Scheme> make_moreau_jean(const OptionValues& values) {
    MoreauJeanOptions o;
    assign_fields(o, values, "scheme moreau-jean");
    require_step(o.step, values);
    require(o.tol >= 0 && o.tol < infinity, "tol must not be negative, and finite [m, rad]", values, "tol");
    require(o.smallest_step.holds([](double h) { return h >= 1e-12; }),
            "smallest_step must be at least 1e-12 s: time itself is not kept more finely", values, "smallest_step");
    require(o.longest_step >= o.smallest_step.in(sizes_of_one), "longest_step must not be below smallest_step", values,
            "longest_step");
    require(o.control_order >= 1 && o.control_order <= 10, "control_order must lie in [1, 10]", values,
            "control_order");
    require(o.theta > 0 && o.theta <= 1, "theta must lie in (0, 1]", values, "theta");
    require(o.contact_stabilisation >= 0 && o.contact_stabilisation <= 1, "contact_stabilisation must lie in [0, 1]", values,
            "contact_stabilisation");
    require(o.stabilisation >= 0 && o.stabilisation <= 1, "stabilisation must lie in [0, 1]", values, "stabilisation");
    require(o.activation_gap.holds(not_negative), "activation_gap must not be negative [m]", values, "activation_gap");
    require(o.newton_tol.holds(positive), "newton_tol must be positive [m/s]", values, "newton_tol");
    require(o.newton_max >= 1, "newton_max must be at least 1", values, "newton_max");
    return std::make_unique<MoreauJean>(o);
}

std::unique_ptr<Scheme> make_euler(const OptionValues& values) {
    EulerOptions o;
    assign_fields(o, values, "scheme euler");
    require_step(o.step, values);
    require(o.restitution_threshold.holds(not_negative), "restitution_threshold must not be negative [m/s]", values,
            "restitution_threshold");
    require(o.stabilisation >= 0 && o.stabilisation <= 1, "stabilisation must lie in [0, 1]", values, "stabilisation");
    require(o.closed_gap.holds(not_negative), "closed_gap must not be negative [m]", values, "closed_gap");
    return std::make_unique<Euler>(o);
}

std::unique_ptr<Scheme> make_stewart_trinkle(const OptionValues& values) {
    StewartTrinkleOptions o;
    assign_fields(o, values, "scheme stewart-trinkle");
    require_step(o.step, values);
    return std::make_unique<StewartTrinkle>(o);
}

std::unique_ptr<Scheme> make_schatzman_paoli(const OptionValues& values) {
    SchatzmanPaoliOptions o;
    assign_fields(o, values, "scheme schatzman-paoli");
    require_step(o.step, values);
    return std::make_unique<SchatzmanPaoli>(o);
}

void check_linearly_implicit(const LinearlyImplicitOptions& o, const OptionValues& values) {
    require_step(o.step, values);
    require(o.restitution_threshold.holds(not_negative), "restitution_threshold must not be negative [m/s]", values,
            "restitution_threshold");
    require(o.closed_gap.holds(not_negative), "closed_gap must not be negative [m]", values, "closed_gap");
    require(o.closed_gap_rate.holds(not_negative), "closed_gap_rate must not be negative [m/s^3]", values,
            "closed_gap_rate");
    require(o.stabilisation >= 0 && o.stabilisation <= 1, "stabilisation must lie in [0, 1]", values, "stabilisation");
    require(o.stabilisation == 0 || o.gamma > 0, "stabilisation needs gamma > 0", values, "stabilisation");
    require(o.shortest_substep > 0 && o.shortest_substep < 0.5, "shortest_substep must lie in (0, 1/2)", values,
            "shortest_substep");
}

std::unique_ptr<Scheme> make_alpha_gamma(const OptionValues& values) {
    AlphaGammaOptions o;
    assign_fields(o, values, "scheme alpha-gamma");
    require(o.alpha > 0 && o.alpha <= 1, "alpha must lie in (0, 1]", values, "alpha");
    require(o.gamma >= 0 && o.gamma <= 1, "gamma must lie in [0, 1]", values, "gamma");
    check_linearly_implicit(o, values);
    return std::make_unique<LinearlyImplicit>(o);
}

std::unique_ptr<Scheme> make_trapezoidal(const OptionValues& values) {
    TrapezoidalOptions o;
    assign_fields(o, values, "scheme trapezoidal");
    o.end_velocity = o.form.index == 0;
    check_linearly_implicit(o, values);
    return std::make_unique<LinearlyImplicit>(o);
}

std::unique_ptr<Scheme> make_linear_implicit_euler(const OptionValues& values) {
    LinearImplicitEulerOptions o;
    assign_fields(o, values, "scheme linear-implicit-euler");
    check_linearly_implicit(o, values);
    return std::make_unique<LinearlyImplicit>(o);
}

void check_event_driven(const EventDrivenOptions& o, const OptionValues& values) {
    require_step(o.step, values);
    require(o.tol == 0 || (o.tol >= 1e-14 && o.tol < infinity),
            "tol must be 0 (fixed steps) or at least 1e-14: less is below rounding", values, "tol");
    require(o.safety > 0 && o.safety < 1, "safety must lie in (0, 1)", values, "safety");
    require(o.smallest_step.holds([](double h) { return h >= 1e-14; }), "smallest_step must be at least 1e-14 s",
            values, "smallest_step");
    require(o.longest_step == 0 || o.longest_step >= o.smallest_step.in(sizes_of_one),
            "longest_step must be 0 (chosen) or not below smallest_step [s]", values, "longest_step");
    require(o.drift_limit.holds(not_negative), "drift_limit must not be negative [m, rad]", values, "drift_limit");
    require(o.baumgarte_time.holds(positive), "baumgarte_time must be positive [s]", values, "baumgarte_time");
    require(o.restitution_threshold >= 0, "restitution_threshold must not be negative [m/s]", values,
            "restitution_threshold");
    require(o.closed_gap.holds(positive), "closed_gap must be positive [m]", values, "closed_gap");
    require(o.rest_speed.holds(positive), "rest_speed must be positive [m/s]", values, "rest_speed");
    require(o.shortest_flight.holds(positive), "shortest_flight must be positive [s]", values, "shortest_flight");
}

template <const char* name>
std::unique_ptr<Scheme> make_explicit(const OptionValues& values) {
    EventDrivenOptions o;
    assign_fields(o, values, std::string("scheme ") + name);
    check_event_driven(o, values);
    return std::make_unique<Hybrid>(o, Switching{}, make_runge_kutta(name));
}

void refuse_baumgarte(const EventDrivenOptions& o, const OptionValues& values) {
    require(o.drift.index != 1, "drift: baumgarte is for methods in the acceleration form (rk4, rkf45, dopri5)", values,
            "drift");
}

template <const char* name>
std::unique_ptr<Scheme> make_half_explicit_scheme(const OptionValues& values) {
    EventDrivenOptions o;
    assign_fields(o, values, std::string("scheme ") + name);
    check_event_driven(o, values);
    refuse_baumgarte(o, values);
    return std::make_unique<Hybrid>(o, Switching{}, make_half_explicit(name));
}

std::unique_ptr<Scheme> make_hem5(const OptionValues& values) {
    Hem5Options o;
    assign_fields(o, values, "scheme hem5");
    check_event_driven(o, values);
    refuse_baumgarte(o, values);
    require(o.estimator > 0, "estimator must be positive", values, "estimator");
    return std::make_unique<Hybrid>(o, Switching{}, make_half_explicit("hem5", o.estimator));
}

std::unique_ptr<Scheme> make_generalized_alpha_scheme(const OptionValues& values) {
    GeneralizedAlphaOptions o;
    assign_fields(o, values, "scheme generalized-alpha");
    check_event_driven(o, values);
    refuse_baumgarte(o, values);
    require(o.index == 2 || o.index == 3, "index must be 2 or 3", values, "index");
    require(o.rho >= 0 && o.rho <= 1, "rho must lie in [0, 1]", values, "rho");
    require(o.newton_tol > 0 && o.newton_tol < 1, "newton_tol must lie in (0, 1)", values, "newton_tol");
    return std::make_unique<Hybrid>(o, Switching{}, make_generalized_alpha(o.index, o.rho, o.newton_tol));
}

std::unique_ptr<Scheme> make_rattle_scheme(const OptionValues& values) {
    EventDrivenOptions o;
    assign_fields(o, values, "scheme rattle");
    check_event_driven(o, values);
    refuse_baumgarte(o, values);
    return std::make_unique<Hybrid>(o, Switching{}, make_rattle());
}

std::unique_ptr<Scheme> make_hybrid(const OptionValues& values) {
    HybridOptions o;
    assign_fields(o, values, "scheme hybrid");
    check_event_driven(o, values);
    require(o.h_min.holds([](double h) { return h >= 1e-12; }),
            "h_min must be at least 1e-12 s: time itself is not kept more finely", values, "h_min");
    const std::string& method = o.method.word();
    const bool explicit_method = method == "dopri5" || method == "rk4";
    if (!explicit_method) refuse_baumgarte(o, values);
    const Switching switching{.impacts = true,
                              .transitions = o.friction.index != 2,
                              .space_friction = o.friction.index == 1,
                              .edges = true,
                              .h_min = o.h_min};
    return std::make_unique<Hybrid>(
        o, switching, explicit_method ? make_runge_kutta(method.c_str()) : make_half_explicit(method.c_str()));
}

constexpr char rk4[] = "rk4", rkf45[] = "rkf45", dopri5[] = "dopri5";
constexpr char hem3[] = "hem3", hem4[] = "hem4", phem56[] = "phem56";

}  // namespace

const std::vector<SchemeEntry>& schemes() {
    static const std::vector<SchemeEntry> table{
        {"moreau-jean", "Jean 1999; Haddouni 2015, (2.20)-(2.25)",
         "impacts inside the steps, fixed or controlled (tol), no event location; the default",
         "2 for free bodies and joints (theta 1/2), 1 with contact", list_fields<MoreauJeanOptions>, make_moreau_jean},
        {"euler", "Anitescu & Potra 1997, s.4", "explicit Euler with solvable LCPs and located collisions", "1",
         list_fields<EulerOptions>, make_euler},
        {"stewart-trinkle", "Stewart & Trinkle 1996; Haddouni 2015, s.2.1.2.2",
         "joints and gaps at the level of positions: no drift; no restitution", "1", list_fields<StewartTrinkleOptions>,
         make_stewart_trinkle},
        {"schatzman-paoli", "Paoli & Schatzman 2002; Haddouni 2015, (2.31)",
         "contact laws on positions, with restitution; v is that of half a step ago",
         "2 without contact (velocity: v_weighted), 1 with it", list_fields<SchatzmanPaoliOptions>,
         make_schatzman_paoli},
        {"trapezoidal", "Potra, Anitescu, Gavrea & Trinkle 2006",
         "linearly implicit trapezoidal rule with located collisions and changes of mode; for accuracy", "2",
         list_fields<TrapezoidalOptions>, make_trapezoidal},
        {"alpha-gamma", "Gavrea, Anitescu & Potra 2008, (4.4)",
         "the family with weights alpha and gamma; located collisions", "2 at alpha = gamma = 1/2, else 1",
         list_fields<AlphaGammaOptions>, make_alpha_gamma},
        {"linear-implicit-euler", "Anitescu & Potra 2002",
         "weights 1: stable for stiff forces, damps; located collisions", "1", list_fields<LinearImplicitEulerOptions>,
         make_linear_implicit_euler},
        {"hem5", "Brasey & Hairer 1993; Haddouni 2015, s.2.2.3",
         "half-explicit, event-driven: the accurate one for joints", "5", list_fields<Hem5Options>, make_hem5},
        {"hybrid", "Haddouni 2015, ch. 4", "event-driven; moreau-jean through accumulations and transitions",
         "that of its method between events", list_fields<HybridOptions>, make_hybrid},
        {"phem56", "Murua 1997; Haddouni 2015, s.2.2.3",
         "partitioned half-explicit, event-driven: fewer stages than hem5", "5", list_fields<EventDrivenOptions>,
         make_half_explicit_scheme<phem56>},
        {"generalized-alpha", "Chung & Hulbert 1993; Arnold & Bruls 2007; Haddouni 2015, s.2.2.3",
         "implicit, for stiff motion; event-driven", "2", list_fields<GeneralizedAlphaOptions>,
         make_generalized_alpha_scheme},
        {"rattle", "Andersen 1983", "symplectic, joints hold in positions and velocities; event-driven", "2",
         list_fields<EventDrivenOptions>, make_rattle_scheme},
        {"hem4", "Brasey & Hairer 1993", "half-explicit, event-driven", "4", list_fields<EventDrivenOptions>,
         make_half_explicit_scheme<hem4>},
        {"hem3", "Brasey & Hairer 1993", "half-explicit, event-driven", "3", list_fields<EventDrivenOptions>,
         make_half_explicit_scheme<hem3>},
        {"dopri5", "Dormand & Prince 1980", "explicit in the acceleration form, event-driven", "5",
         list_fields<EventDrivenOptions>, make_explicit<dopri5>},
        {"rkf45", "Fehlberg 1969; Haddouni 2015, A.1", "explicit in the acceleration form, event-driven", "4",
         list_fields<EventDrivenOptions>, make_explicit<rkf45>},
        {"rk4", "Kutta 1901", "explicit in the acceleration form, event-driven", "4", list_fields<EventDrivenOptions>,
         make_explicit<rk4>},
    };
    return table;
}

std::unique_ptr<Scheme> make_scheme(const std::string& name, const OptionValues& values, Place place) {
    std::vector<std::string> names;
    for (const SchemeEntry& entry : schemes()) {
        if (name == entry.name) return entry.make(values);
        names.emplace_back(entry.name);
    }
    throw unknown_name("scheme", name, names, std::move(place));
}

void require_step_control(const std::string& scheme, Place place) {
    std::vector<std::string> able;
    for (const SchemeEntry& entry : schemes())
        for (const FieldInfo& field : entry.options())
            if (field.name == "tol") able.emplace_back(entry.name);
    if (std::find(able.begin(), able.end(), scheme) != able.end()) return;
    throw Error(fmt::format("scheme {} has fixed steps and no option 'tol': give it a step, or take one of {}", scheme,
                            fmt::join(able, ", ")),
                std::move(place));
}

}  // namespace stickslip
