// Which schemes keep the laws on which models.
#pragma once

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "stickslip/scheme.hpp"

namespace stickslip {

// hem5 stands for the event-driven schemes, which differ in their method between events: the others are tried on a few models of
// every kind, and on those they are made for.
inline std::vector<std::tuple<std::string, std::string>> lawful_pairs(const std::vector<std::string>& all) {
    const std::vector<std::string> kin{"phem56", "hem4", "hem3", "dopri5", "rkf45", "rk4", "rattle"};
    const std::vector<std::string> few{
        "mechanism:pendulum",         "mechanism:four-bar",  "mechanism:double-pendulum-wall",
        "mechanism:block-stick-slip", "mechanism:heavy-top", STICKSLIP_SCENES "/slider-crank.yaml"};
    std::vector<std::string> stiff = few, restless = few;
    for (const char* name : {"flexible-slider-crank", "flyball-governor", "andrews-squeezer", "two-carts"})
        stiff.push_back(std::string("mechanism:") + name);
    for (const char* name :
         {"bouncing-ball", "three-ball-chain", "slider-crank-clearance", "parabola-plane", "painleve-rod"})
        restless.push_back(std::string("mechanism:") + name);
    restless.push_back(STICKSLIP_SCENES "/capsules.yaml");
    restless.push_back(STICKSLIP_TEST_DATA "/scenes/edits.yaml");
    // Piles are for time-stepping: there an event-driven scheme soon takes steps of moreau-jean, slowly. The heap shows it.
    std::vector<std::string> no_piles;
    for (const std::string& model : all)
        if (model.find("stack-20") == std::string::npos && model.find("brick-wall") == std::string::npos)
            no_piles.push_back(model);
    std::vector<std::tuple<std::string, std::string>> pairs;
    for (const SchemeEntry& scheme : schemes()) {
        const std::string name = scheme.name;
        const bool related = std::find(kin.begin(), kin.end(), name) != kin.end();
        for (const std::string& model : related                       ? few
                                        : name == "generalized-alpha" ? stiff
                                        : name == "hybrid"            ? restless
                                        : name == "hem5"              ? no_piles
                                                                      : all)
            pairs.emplace_back(model, name);
    }
    return pairs;
}

}  // namespace stickslip
