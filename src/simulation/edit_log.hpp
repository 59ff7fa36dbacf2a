// The edits of a run: makes them between steps, and remembers which were made where, so that the model of a snapshot can be made
// again from the first one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "simulation/snapshot.hpp"
#include "stickslip/simulation.hpp"

namespace stickslip {

// The parts of a run that an edit changes, and what it needs to settle the bodies afterwards.
struct EditedRun {
    Model& model;
    State& state;
    Step& step;
    Solver& solver;
    double tol;  // [m/s]
};

class EditLog {
public:
    explicit EditLog(const Model& model) : first_editor_(model.editor) {}

    // Makes an edit that is not one of the model's actions. Throws Error and leaves everything as it was if it cannot be made.
    void make(const Edit& edit, EditedRun run);
    // Makes the actions whose time has come and appends their events. Returns the sentence that refuses one, or nothing.
    std::string make_due(EditedRun run, std::vector<Event>& events);
    // [s] When the next action is due; infinity after the last one.
    double next_action(const Model& model) const;

    // The model as it is after these edits, counted from the first one. `end` is the state it must fit. Throws Error if it does not.
    void remake(const std::vector<MadeEdit>& edits, const State& end, EditedRun run);
    const std::vector<MadeEdit>& made() const { return made_; }

    // Systems that recorders may still hold are kept until this is called.
    void drop_former_systems() { former_systems_.clear(); }

    std::vector<Event> early_events;  // of edits since the last step
    long solves = 0;                  // of impacts that edits caused,
    double residual_max = 0;          // [m/s] and the largest residual among them
    struct Uncertified {
        SolveReport solve;
        UncertifiedStep told;
    };
    std::vector<Uncertified> uncertified;  // those that were made although their impact was not certified

private:
    void make(const Edit& edit, MadeEdit entry, EditedRun run, std::vector<Event>& events);
    void replace_system(std::unique_ptr<System> system, Model& model);

    std::vector<MadeEdit> made_;
    std::vector<std::shared_ptr<const Edit>> given_;  // those that are no actions of the model
    std::size_t next_action_ = 0;
    std::shared_ptr<const Editor> first_editor_;
    std::unique_ptr<System> first_system_;  // null while model.system is it
    std::vector<std::unique_ptr<System>> former_systems_;
};

}  // namespace stickslip
