// The audit before a run: what in a model looks wrong, doubtful or worth knowing, with its place and what to do about it.
// docs/check.md lists every finding.
#pragma once

#include <string>
#include <vector>

#include "stickslip/load.hpp"

namespace stickslip {

enum class Severity {
    error,    // a run would be refused or meaningless
    warning,  // it runs, but probably not what is meant
    note      // worth knowing
};
const char* to_string(Severity severity);

struct Finding {
    Severity severity = Severity::note;
    std::string topic;             // one word, stable: units, inertia, overlap, redundant, wedging, ...
    std::string message;           // what there is, with names and sizes
    std::string advice;            // what to do
    std::vector<std::string> who;  // bodies, joints or materials concerned
    Place place;                   // where the scene says it; unknown for mechanisms
};

// Friction at the start, for each group of bodies that touch with friction: below the bound accelerations and normal forces are
// unique whichever way contacts slide [Haddouni 2015, 2.1.1.1]. At or above it nothing is said.
struct FrictionBound {
    std::vector<std::string> who;             // bodies, or contacts of mechanisms
    int contacts = 0;                         // that touch
    double friction = 0;                      // the largest coefficient among them
    double bound = 0;                         // sigma_min(W_NN)/sigma_max(W_NT); infinity: any friction
    double normal_least = 0, cross_most = 0;  // [1/kg] these two
    bool unique() const { return friction < bound; }
};

struct Audit {
    std::string model;
    std::vector<Finding> findings;              // errors first, then in the order of the file
    std::vector<FrictionBound> friction_bound;  // at t = 0
    Tolerances tolerances;                      // those a run would have
    int count(Severity severity) const;
};

// A scene that cannot be built throws Error, as everywhere. Takes the first step of the run, to see whether it is refused.
Audit check_scene(const Scene& scene);
// The same for a scene file or a mechanism; `spec` and overrides as of load_model.
Audit check_model(const std::string& spec, const OptionValues& overrides = {});

}  // namespace stickslip
