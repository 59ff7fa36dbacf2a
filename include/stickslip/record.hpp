// Records: one HDF5 file per run (docs/record.md gives the layout) and CSV; reading them back.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "stickslip/simulation.hpp"

namespace stickslip {

// Writes `file` (HDF5, SWMR: readable while it grows and after a kill) at the model's record interval. The record
// holds states, energies, residuals, contacts, reactions, events, a snapshot; every array is named with its unit.
// `flush_every_s` is wall time between flushes: what a kill can lose. `snapshot`, usually Simulation::snapshot, is
// called at every flush, so that the run can be resumed from there. Failures (disk full) are Errors.
std::unique_ptr<Recorder> make_hdf5_recorder(const std::string& file, double flush_every_s = 0.5,
                                             std::function<std::vector<std::uint8_t>()> snapshot = {});
// One line per recorded time: t, q, v, energies, residual.
std::unique_ptr<Recorder> make_csv_recorder(const std::string& file);

struct ContactName {
    ContactId id;
    std::string name;
};
struct SubjectName {
    Subject subject;
    std::string name;
};

// A record read back: everything up to the last flush. Ragged arrays: row k owns entries start[k] .. start[k + 1] - 1.
struct RecordContents {
    std::string model, source, version;
    std::string scheme, solver, policy;
    std::string scheme_options, solver_options;  // "step=1e-3 theta=0.6"
    std::string budget;                          // "ms=10 factorisations=20"; empty if none or not recorded
    double end = 0;                              // [s] asked for; this and the next two are 0 if not recorded
    double tolerance = 0;                        // [m/s] a step counts as certified up to here; 0: in proportion to its speeds
    double record_every = 0;                     // [s] 0: every step
    std::vector<double> t;                       // [s]
    std::vector<double> step_length;             // [s] of the step that ended at or covers t; 0 for the initial state
    MatX q, v, v_weighted;                       // one column per recorded time
    std::vector<double> t_weighted;              // [s] at which v_weighted is the velocity; empty if not recorded
    std::vector<double> residual;                // [m/s] of the step the row was taken from
    // 4 rows: residual [m/s], overlap [m], joint violation [m, rad] and [m/s, rad/s], the largest of each over all
    // steps since the row before. Empty if not recorded.
    MatX worst;
    MatX energy;  // [J] 11 rows: kinetic .. imbalance, edits, as in --json
    std::vector<std::string> coordinate_names, body_names;
    MatX body_pose;      // 7 rows per body: x y z of its frame in the world, then its attitude, w first
    MatX body_velocity;  // 6 rows per body: of the centre of mass, then angular, in the world
    std::vector<std::size_t> contact_start, reaction_start;  // one more than times
    std::vector<ContactRecord> contacts;
    std::vector<ContactName> contact_names;     // sorted by id
    std::vector<SubjectName> subject_names;     // sorted; what edits changed
    std::vector<double> reactions;              // [N s]
    std::vector<double> reaction_forces;        // [N] at the end of the step; NaN: not known; empty: not recorded
    std::vector<std::string> reaction_names;    // of the bilateral rows at the start, "hinge-3 row 4"
    std::vector<std::uint8_t> reaction_unique;  // of each; 0: the smallest of many, because rows are redundant
    std::vector<std::string> redundant;         // rows that depend on others
    std::vector<Event> events;                  // of the whole run, whether or not a row was recorded then
    std::vector<UncertifiedStep> uncertified;   // every step taken without a certificate; empty if not recorded
    long steps = 0;                             // taken until the last flush
    std::string hash;                           // of the final state, empty unless complete
    std::vector<std::uint8_t> snapshot;         // the last complete one, empty if none
    bool complete = false;                      // ended by end(), not by a kill
    RunSummary summary;                         // what the file holds of it, if complete: all but state and energies
};
// Opens records whatever way their run ended (also while it is running).
RecordContents read_record(const std::string& run);  // the file, or the folder with run.h5
// As the run called it, or its numbers if that was not recorded.
std::string contact_name(const RecordContents& record, const ContactId& id);
std::string who(const RecordContents& record, const Event& event);  // its contact, what an edit changed, or nothing
// Clears HDF5's open flag that a killed run leaves behind, so that other programs open the file. True if it was set.
// An Error while the run is still writing.
bool repair_record(const std::string& run);

}  // namespace stickslip
