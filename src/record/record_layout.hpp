// What the writer and the reader of HDF5 records must agree on; the whole layout is in docs/record.md.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/hdf5_file.hpp"
#include "base/who_words.hpp"
#include "stickslip/ledger.hpp"
#include "stickslip/options.hpp"

namespace stickslip {

inline constexpr const char* record_format = "stickslip-record";
// Version 2 has wider ids of contacts and subjects; records of version 1 are read too.
inline constexpr std::uint64_t record_format_version = 2;
// What was added within the version, see docs/record.md: a reader of any revision reads records of every other.
inline constexpr std::uint64_t record_revision = 6;

// The rows of `energy`.
inline constexpr int energy_terms = 11;
inline constexpr std::array<const char*, energy_terms> energy_names{
    "kinetic",     "potential",           "elastic",     "applied_work", "motor_work", "friction_loss",
    "impact_loss", "regularisation_loss", "scheme_loss", "imbalance",    "edits"};
inline std::array<double, energy_terms> energy_row(const EnergyLedger& ledger) {
    const Energies& e = ledger.now();
    const EnergyFlows& f = ledger.flows();
    return {e.kinetic,     e.potential,           e.elastic,     f.applied_work,     f.motor_work, f.friction_loss,
            f.impact_loss, f.regularisation_loss, f.scheme_loss, ledger.imbalance(), f.edits};
}

// The rows of `worst`: the largest of each over the steps since the row before.
inline constexpr int worst_terms = 4;
enum WorstTerm { worst_residual, worst_overlap, worst_joint, worst_joint_speed };
inline constexpr const char* worst_names =
    "residual [m/s]\noverlap [m]\njoint_violation [m, rad]\njoint_speed_violation [m/s, rad/s]";

// Numbers of the summary; older records have fewer, those of revision 0 and 1 the first `old_counts` and `old_figures` of them.
inline constexpr std::size_t summary_counts = 11, old_counts = 6;
inline constexpr std::size_t summary_figures = 15, old_figures = 12;

// Of a step that was taken without a certificate: contacts that are named, and bytes for the name of the solver.
inline constexpr std::size_t uncertified_named = 4, uncertified_solver_length = 24;

// Texts of the summary have room for so many bytes.
inline constexpr std::size_t reason_length = 400;
inline constexpr std::size_t warnings_length = 1000;
inline constexpr std::size_t cone_length = 32;
inline constexpr std::size_t verdict_length = 6000;

// `checks` has a row per commit, that of sequence s being s - 1, and in it for each array that grows two words: how many rows
// the array then had, and fnv1a_words of the bytes that were added since the commit before. `summary/checks` has that of the
// arrays of the summary, in this order; arrays and texts that never change have theirs as attribute `check`.
inline constexpr std::array<const char*, 9> summary_arrays{"summary/counts", "summary/figures", "summary/timers",
                                                           "summary/hash",   "summary/reason",  "summary/warnings",
                                                           "summary/cone",   "summary/verdict", "summary/ladder"};

// How much of the file is true. Two slots, written in turn after everything they count has been flushed; a reader
// takes the slot with the larger sequence number whose check is right. So neither a kill between two writes nor a
// reader that looks at the wrong moment ever sees a row that is not complete.
struct Commit {
    std::uint64_t sequence = 0;         // 0: never written
    std::uint64_t rows = 0;             // recorded times
    std::uint64_t contacts = 0;         // entries of contacts/*
    std::uint64_t reactions = 0;        // entries of reactions/impulse
    std::uint64_t events = 0;           // entries of events/*
    std::uint64_t snapshot_start = 0;   // first byte of the last snapshot in snapshot/bytes
    std::uint64_t snapshot_length = 0;  // 0: none
    std::uint64_t snapshot_check = 0;   // fnv1a of its bytes
    std::uint64_t steps = 0;            // taken so far
    std::uint64_t ended = 0;            // 1 once end() has been called
    std::uint64_t names = 0;            // entries of contacts/name_*; 0 in revision 0
    std::uint64_t check = 0;            // fnv1a of the words before

    std::uint64_t right_check() const { return fnv1a(this, sizeof(Commit) - sizeof(check)); }
};
inline constexpr std::size_t commit_words = sizeof(Commit) / sizeof(std::uint64_t);
static_assert(commit_words == 12 && sizeof(Commit) == 96, "Commit is written as it lies in memory");

// "step=1e-3 theta=0.6", as kept in settings/*_options.
std::string options_text(const OptionValues& options);

std::string record_file(const std::string& run);  // the file itself, or run.h5 in the folder

}  // namespace stickslip
