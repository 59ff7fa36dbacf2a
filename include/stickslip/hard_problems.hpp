// The hardest contact problems of a run as files, for `stickslip solve`, for comparing solvers, for reports of trouble.
//
// A problem is hard when it was not answered by the first stage: not solved, or solved by another solver than the one asked
// for (`auto` counts its two direct stages, `one-node` and `mode-solve`, as first). The `most` hardest are kept: hard ones
// before others, then by iterations, then the earlier ones. If none is hard these are simply the slowest.
//
//   FOLDER/step_000123.h5     step problem with the guess its solver was given; step_000123_2.h5 the second of that step
//   FOLDER/index.csv          file, step, t, contacts, iterations, residual, solver, status, wall, in order of time
#pragma once

#include <string>
#include <vector>

#include "stickslip/simulation.hpp"

namespace stickslip {

class HardProblems {
public:
    // Makes the folder; removes what an earlier run left in it under these names. `asked` is the solver of the run.
    HardProblems(std::string folder, int most, std::string asked);

    void see(const SolvedProblem& solved);  // for Simulation::watch_solves

    long seen() const { return seen_; }  // problems with contacts or bilateral rows
    long hard() const { return hard_; }
    int kept() const { return static_cast<int>(kept_.size()); }
    // One sentence: how many were hard, kept and left out, and where they are.
    std::string text() const;

private:
    struct Entry {
        std::string file;
        long step = 0;
        int number = 0;  // of the problem within the step
        double t = 0;    // [s]
        int contacts = 0, iterations = 0;
        double residual = 0;  // [m/s]
        std::string solver, status;
        double wall_s = 0;
        bool hard = false;
    };
    static bool harder(const Entry& a, const Entry& b);
    void write_index() const;

    std::string folder_, asked_;
    int most_;
    std::vector<Entry> kept_;  // hardest first
    long seen_ = 0, hard_ = 0, last_step_ = 0;
    int number_ = 0, hard_kept_ = 0;
};

}  // namespace stickslip
