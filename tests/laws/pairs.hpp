// Which schemes keep the laws on which models.
#pragma once

#include <ostream>

#include "support/families.hpp"
#include "support/models.hpp"

namespace stickslip {

// One scheme on one model, and how long: in steps of the model's own size.
struct LawfulPair {
    std::string scheme, model;
    OptionValues values;   // overrides of the model
    double shortened = 1;  // share of the usual number of steps
};

// The pairs of one family on one model.
struct LawfulCase {
    std::string name;
    std::vector<LawfulPair> pairs;
    friend std::ostream& operator<<(std::ostream& out, const LawfulCase& c) { return out << c.name; }
};

inline bool has_name(const std::string& model, const std::string& part) {
    return model.find(part) != std::string::npos;
}

// hem5 stands for the event-driven schemes, which differ in their method between events: the others are tried on a few models of
// every kind, and on those they are made for.
inline bool is_tried(const std::string& scheme, const std::string& model) {
    static const std::vector<std::string> kin{"phem56", "hem4", "hem3", "dopri5", "rkf45", "rk4", "rattle"};
    static const std::vector<std::string> few{
        "mechanism:pendulum",         "mechanism:four-bar",  "mechanism:double-pendulum-wall",
        "mechanism:block-stick-slip", "mechanism:heavy-top", STICKSLIP_SCENES "/slider-crank.yaml"};
    static const std::vector<std::string> stiff{"mechanism:flexible-slider-crank", "mechanism:flyball-governor",
                                                "mechanism:andrews-squeezer", "mechanism:two-carts"};
    static const std::vector<std::string> restless{"mechanism:bouncing-ball",
                                                   "mechanism:three-ball-chain",
                                                   "mechanism:slider-crank-clearance",
                                                   "mechanism:parabola-plane",
                                                   "mechanism:painleve-rod",
                                                   STICKSLIP_SCENES "/capsules.yaml",
                                                   STICKSLIP_TEST_DATA "/scenes/edits.yaml"};
    const auto in = [](const std::vector<std::string>& list, const std::string& name) {
        return std::find(list.begin(), list.end(), name) != list.end();
    };
    if (in(kin, scheme)) return in(few, model);
    if (scheme == "generalized-alpha") return in(few, model) || in(stiff, model);
    if (scheme == "hybrid") return in(few, model) || in(restless, model);
    return true;
}

inline LawfulPair lawful_pair(const std::string& scheme, const std::string& model) {
    LawfulPair pair{scheme, model, {testing::set("run.scheme", scheme)}};
    const bool tower = has_name(model, "stack-20"), wall = has_name(model, "brick-wall");
    // Piles in which located events come by the hundred: half as many steps see as many contacts as elsewhere all of them.
    if (wall || has_name(model, "heap") || has_name(model, "dominoes")) pair.shortened = 0.5;
    // Schemes that locate events take some seconds for each step in which bricks come to rest.
    if (wall && (scheme == "trapezoidal" || scheme == "alpha-gamma" || scheme == "linear-implicit-euler"))
        for (const char* key : {"let.rows", "let.columns"}) pair.values.push_back(testing::set(key, "3"));
    // Piles are for time-stepping: an event-driven scheme soon takes steps of moreau-jean there, slowly. Small ones show it.
    if (scheme == "hem5" && tower) pair.values.push_back(testing::set("let.n", "4"));
    if (scheme == "hem5" && wall)
        for (const char* key : {"let.rows", "let.columns"}) pair.values.push_back(testing::set(key, "2"));
    return pair;
}

// By family and model; `wanted` names the schemes that take part.
template <class Wanted>
std::vector<LawfulCase> lawful_cases(const std::vector<std::string>& models, const Wanted& wanted) {
    std::vector<LawfulCase> cases;
    for (const testing::SchemeFamily& family : testing::scheme_families()) {
        for (const std::string& model : models) {
            LawfulCase one{testing::test_name(model, family.name), {}};
            for (const std::string& scheme : family.schemes)
                if (wanted(scheme) && is_tried(scheme, model)) one.pairs.push_back(lawful_pair(scheme, model));
            if (!one.pairs.empty()) cases.push_back(std::move(one));
        }
    }
    return cases;
}

}  // namespace stickslip
