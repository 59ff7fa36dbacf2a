// The HDF5 record of a run. Rows are collected in memory and appended in blocks; a flush is
//
//   1  append all buffered rows and entries and their checks, write the snapshot into the slot the last commit does not name
//   2  H5Fflush: data, then metadata in the order SWMR prescribes
//   3  write the commit that counts them, flush it
//
// A kill before 3 leaves the previous commit, whose rows nobody touches any more. Written bytes live in the system's
// cache, so this holds when the process dies; when the machine dies the file system decides.
//
// Snapshots are written in place into two slots in turn, because only the last one is ever used: appending them would
// let a long run of many bodies fill the disk with old ones.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <set>

#include "base/hdf5_file.hpp"
#include "diagnose/redundancy.hpp"
#include "record/column.hpp"
#include "record/expected_rows.hpp"
#include "record/kept_columns.hpp"
#include "record/output_times.hpp"
#include "record/record_layout.hpp"
#include "record/summary_arrays.hpp"
#include "record/uncertified_columns.hpp"
#include "simulation/policy.hpp"
#include "simulation/uncertified.hpp"
#include "stickslip/files.hpp"
#include "stickslip/record.hpp"
#include "stickslip/version.hpp"

namespace stickslip {

namespace {

using Clock = std::chrono::steady_clock;

// Buffered bytes that force a flush before its time; a run that records faster than it flushes stays small.
constexpr std::size_t max_buffered = 8u << 20;

// What a row needs besides the state; kept for the final state when no row fell on the end of the last step.
struct Pending {
    bool valid = false;
    State state;
    VecX v_weighted;
    double t_weighted = 0, step_length = 0, residual = 0;
    std::array<double, energy_terms> energy{};
    std::vector<ContactRecord> contacts;
    std::vector<double> reactions, reaction_forces;
};

class Hdf5Recorder : public Recorder {
public:
    Hdf5Recorder(std::string path, double flush_every_s, std::function<std::vector<std::uint8_t>()> snapshot)
        : path_(std::move(path)), flush_every_(flush_every_s), take_snapshot_(std::move(snapshot)) {}

    ~Hdf5Recorder() override {
        if (!file_) return;
        try {  // an exception ended the run: keep what was recorded, and the snapshot of the last flush
            if (!broken_) flush(false);
        } catch (const std::exception&) {
            // the Error that ended the run is the one to show
        }
        if (broken_) abandon();
    }

    void begin(const Model& model, const State& state, const Step& step) override;
    void write(const System& system, const State& state, const Step& step, const StepReport& report) override;
    void end(const RunSummary& summary) override;

private:
    void create(const Model& model);
    void build(const std::string& building, const Model& model);
    void create_columns(const Model& model);
    void write_text(const char* name, const std::string& text);
    void name_reactions(const System& system, const Redundancy& rows);
    void fill(const Step& step, double residual, double step_length);
    void note_worst(const Step& step, double residual);
    void name(const WhoWords& who, std::string text);
    void row(const System& system, const State& state, const Pending& p);
    void flush(bool with_snapshot);
    void store_snapshot();
    void store_checks();
    void store_commit();
    void abandon();

    std::string path_;
    double flush_every_;  // [s] of wall time
    std::function<std::vector<std::uint8_t>()> take_snapshot_;

    std::unique_ptr<Hdf5File> file_;
    const System* system_ = nullptr;  // of the last step; lives until end()
    const Redundancy* redundancy_ = nullptr;
    int nq_ = 0, nv_ = 0, bodies_ = 0;
    OutputTimes times_;
    KeptColumns kept_columns_;
    Pending pending_;
    Commit commit_;
    Clock::time_point last_flush_;
    double tolerance_ = default_tolerance;  // [m/s] of reports that do not say theirs
    std::uint64_t new_rows_ = 0;
    std::array<double, worst_terms> worst_{};  // of the steps since the last row
    std::vector<std::uint64_t> row_checks_;
    std::set<WhoWords> named_;
    std::vector<ContactId> last_contacts_;  // of the last row: sorted, all named
    bool broken_ = false;  // a flush failed: columns may differ in length, so nothing is counted any more

    struct Slot {
        std::uint64_t start = 0, capacity = 0;
    };
    std::array<Slot, 2> slots_;
    std::size_t slot_ = 0;  // the one to write next

    // The columns of the record, each named here alone.
    static constexpr Hdf5Type f64 = Hdf5Type::f64, u8 = Hdf5Type::u8, u32 = Hdf5Type::u32, u64 = Hdf5Type::u64;
    static constexpr Column::Extent coordinates = Column::coordinates, velocities = Column::velocities,
                                    bodies = Column::bodies;
    std::vector<Column*> columns_;
    Column column(const char* name, Hdf5Type type, std::vector<Column::Extent> row_shape, const char* unit,
                  const char* words) {
        return {columns_, name, type, std::move(row_shape), unit, words};
    }
    Column t_ = column("t", f64, {}, "s", "recorded times");
    Column step_length_ =
        column("step_length", f64, {}, "s", "length of the step the row was taken from; force = impulse / it");
    Column q_ = column("q", f64, {coordinates}, "m, rad, 1", "configuration; names/coordinates names the columns");
    Column v_ = column("v", f64, {velocities}, "m/s, rad/s", "velocity");
    Column v_weighted_ = column("v_weighted", f64, {velocities}, "m/s, rad/s",
                                "the velocity that converges, (1 - a) v0 + a v1 of the step");
    Column t_weighted_ = column("t_weighted", f64, {}, "s", "the time of v_weighted, t0 + a h of the step");
    Column residual_ = column("residual", f64, {}, "m/s", "of the step");
    Column worst_column_ = column("worst", f64, {worst_terms}, "in names", "largest of the steps since the row before");
    Column energy_ =
        column("energy", f64, {energy_terms}, "J", "at the end of the step; flows since the start of the run");
    Column pose_ = column("bodies/pose", f64, {bodies, 7}, "m, 1",
                          "x y z of the body frame and its attitude qw qx qy qz, in the world");
    Column velocity_ =
        column("bodies/velocity", f64, {bodies, 6}, "m/s, rad/s", "velocity and angular velocity, in the world");
    Column present_ = column("bodies/present", u8, {bodies}, "", "1 there, 0 removed or not yet added");
    Column contact_offset_ =
        column("contacts/offset", u64, {}, "", "contacts of row k: offset[k] up to offset[k + 1] - 1");
    Column contact_id_ =
        column("contacts/id", u32, {who_words}, "", "kind, shapes a and b, their parts, their features");
    Column contact_mode_ = column("contacts/mode", u8, {}, "", "0 open, 1 stick, 2 slip, 3 impact");
    Column contact_gap_ = column("contacts/gap", f64, {}, "m", "");
    Column contact_position_ = column("contacts/position", f64, {3}, "m", "in the world");
    Column contact_normal_ = column("contacts/normal", f64, {3}, "1", "in the world, from b to a");
    Column contact_tangent_ = column("contacts/tangent", f64, {3}, "1", "t1 in the world; t2 = n x t1");
    Column contact_impulse_ =
        column("contacts/impulse", f64, {3}, "N s", "on a, along (n, t1, t2), summed over the step");
    Column contact_force_ =
        column("contacts/force", f64, {3}, "N",
               "on a, along (n, t1, t2), at the end of the step; NaN where the scheme knows impulses only");
    Column contact_unique_ = column("contacts/unique", u8, {}, "",
                                    "0: other impulses have the same effect on the bodies; the smallest are given");
    Column name_id_ = column("contacts/name_id", u32, {who_words}, "",
                             "contacts that have a name, and what edits changed: as events/contact");
    Column name_text_ = column("contacts/name_text", u8, {}, "", "their names in the same order, UTF-8, a line each");
    Column reaction_offset_ =
        column("reactions/offset", u64, {}, "", "bilateral rows of row k: offset[k] up to offset[k + 1] - 1");
    Column reaction_ =
        column("reactions/impulse", f64, {}, "N s, N m s", "of the bilateral rows, summed over the step");
    Column reaction_force_ =
        column("reactions/force", f64, {}, "N, N m",
               "of the bilateral rows at the end of the step; NaN where the scheme knows impulses only");
    Column event_t_ = column("events/t", f64, {}, "s", "events of the whole run, in order of time");
    Column event_kind_ = column(
        "events/kind", u8, {}, "",
        "0 impact, 1 take-off, 2 stick-to-slip, 3 slip-to-stick, 4 load-switch, 5 add, 6 remove, 7 attach, 8 cut, "
        "9 drive, 10 accumulation, 11 edge, 12 method-switch");
    Column event_contact_ = column("events/contact", u32, {who_words}, "", "as contacts/id, or what an edit changed");
    Column event_before_ = column("events/before", u8, {}, "", "contact mode, as contacts/mode");
    Column event_after_ = column("events/after", u8, {}, "", "contact mode, as contacts/mode");
    Column event_speed_before_ = column("events/normal_speed_before", f64, {}, "m/s", "negative when approaching");
    Column event_speed_after_ = column("events/normal_speed_after", f64, {}, "m/s", "");
    Column event_impulse_ = column("events/impulse", f64, {}, "N s", "normal impulse");
    Column event_reason_ =
        column("events/reason", u8, {}, "",
               "of method-switch: 1 impacts, 2 friction, 3 edge, 4 forces, 5 open, 6 closed; 0 of all others");
    UncertifiedColumns uncertified_{columns_};
    SummaryArrays summary_;
    Hdf5Dataset snapshot_, checks_, commits_;
};

std::string lines(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, "\n")); }

void Hdf5Recorder::write_text(const char* name, const std::string& text) {
    file_->write_text(name, text);
    file_->set_attribute(name, "check", fnv1a_words(text.data(), text.size()));
}

// --- the file ---

void Hdf5Recorder::create_columns(const Model& model) {
    const System& system = *model.system;
    // Chunks of 4 kB keep small records small; large systems get larger ones so that the number of chunks stays
    // below 8000 per array for gigabytes (beyond, HDF5's index is written in pieces larger than a page).
    const std::uint64_t chunk = std::clamp<std::uint64_t>(128 * static_cast<std::uint64_t>(nv_), 4096, 256 * 1024);
    for (Column* column : columns_)
        column->create(*file_, static_cast<std::uint64_t>(nq_), static_cast<std::uint64_t>(nv_),
                       static_cast<std::uint64_t>(bodies_), chunk, expected_rows(model.run));
    std::vector<std::string> names;
    for (const Column* column : columns_) names.emplace_back(column->name());
    checks_ = file_->create_growing("checks", u64, {columns_.size(), 2}, 16);
    file_->set_attribute("checks", "names", lines(names));
    file_->set_attribute("checks", "about", "per commit and array: rows it has, check of the bytes added");
    file_->set_attribute("energy", "names", fmt::format("{}", fmt::join(energy_names, "\n")));
    file_->set_attribute("worst", "names", worst_names);
    write_text("names/coordinates", lines(system.coordinate_names()));
    write_text("names/bodies", lines(system.body_names()));
    snapshot_ = file_->create_growing("snapshot/bytes", u8, {}, chunk);
    file_->set_attribute("snapshot/bytes", "about", "two slots in turn; commit says where the last snapshot lies");
}

// Of the bilateral rows at the start of the run.
void Hdf5Recorder::name_reactions(const System& system, const Redundancy& rows) {
    std::vector<std::string> names;
    std::vector<std::uint8_t> unique;
    for (int i = 0; i < rows.rows(); ++i) {
        names.push_back(rows.row_name(system, i));
        unique.push_back(rows.unique(i));
    }
    write_text("names/reactions", lines(names));
    write_text("names/redundant", lines(rows.redundant_names(system)));
    file_->write<std::uint8_t>("reactions/unique", unique);
    file_->set_attribute("reactions/unique", "check", fnv1a_words(unique.data(), unique.size()));
    file_->set_attribute("reactions/unique", "about",
                         "0: one of many reactions with the same effect, because rows are redundant; the smallest");
}

// Builds the file beside its place and moves it there when it can be read, so that `path_` never names half a record.
void Hdf5Recorder::create(const Model& model) {
    const std::string building = path_ + ".new";
    try {
        build(building, model);
    } catch (...) {
        broken_ = true;
        file_.reset();
        std::error_code ignored;
        std::filesystem::remove(building, ignored);
        throw;
    }
}

void Hdf5Recorder::build(const std::string& building, const Model& model) {
    file_ = std::make_unique<Hdf5File>(building, Hdf5File::Open::create_paged, path_);
    file_->set_attribute("/", "format", record_format);
    file_->set_attribute("/", "format_version", record_format_version);
    file_->set_attribute("/", "format_revision", record_revision);
    file_->set_attribute("/", "stickslip", version_details());
    file_->set_attribute("/", "model", model.name);
    file_->set_attribute("/", "scheme", model.run.scheme.name);
    file_->set_attribute("/", "solver", model.run.solver.name);
    file_->set_attribute("/", "policy", to_string(model.run.policy));
    file_->set_attribute("/", "budget", to_string(model.run.budget));
    write_text("source", model.source);
    write_text("settings/scheme_options", options_text(model.run.scheme.options));
    write_text("settings/solver_options", options_text(model.run.solver.options));
    const double tolerance = judged_in_proportion(model.run) ? 0 : run_tolerance(model.run);
    const std::array<double, 3> settings{model.run.end, tolerance, model.run.record_every};
    file_->write<double>("settings/figures", settings);
    file_->set_attribute("settings/figures", "check", fnv1a_words(settings.data(), sizeof(settings)));
    file_->set_attribute("settings/figures", "names", "end [s]\ntolerance [m/s]\nrecord_every [s]");
    create_columns(model);
    name_reactions(*model.system, *redundancy_);
    summary_.create(*file_);
    const std::array<std::uint64_t, 2 * commit_words> empty{};
    commits_ = file_->write<std::uint64_t>("commit", empty, {2, commit_words});
    file_->set_attribute("commit", "about", "how much is complete: the row with the larger sequence and a right check");
    file_->set_attribute("commit", "names",
                         "sequence\nrows\ncontacts\nreactions\nevents\nsnapshot_start\nsnapshot_length\n"
                         "snapshot_check\nsteps\nended\nnames\ncheck");
    contact_offset_.add<std::uint64_t>(0);
    reaction_offset_.add<std::uint64_t>(0);
    file_->flush();
    file_->start_growing();
    std::error_code failure;
    std::filesystem::rename(building, path_, failure);
    if (failure) throw WriteError(fmt::format("cannot write: {}", failure.message()), {path_});
}

// --- rows ---

void Hdf5Recorder::begin(const Model& model, const State& state, const Step& step) {
    SS_ASSERT(model.system, "a model without a system");
    commit_ = {};
    broken_ = false;
    slots_ = {};
    new_rows_ = 0;
    worst_ = {};
    named_.clear();
    last_contacts_.clear();
    system_ = model.system.get();
    redundancy_ = step.redundancy.get();
    nq_ = system_->nq();
    nv_ = system_->nv();
    bodies_ = static_cast<int>(system_->body_names().size());
    tolerance_ = run_tolerance(model.run);
    kept_columns_.begin(*system_);
    times_.begin(model.run.record_every, state.t);
    create(model);

    fill(step, 0, 0);
    if (pending_.v_weighted.size() != nv_) {
        pending_.v_weighted = state.v;
        pending_.t_weighted = state.t;
    }
    pending_.contacts.clear();  // of a step that was not taken
    pending_.reactions.clear();
    pending_.reaction_forces.clear();
    row(*system_, state, pending_);
    pending_.valid = false;
    flush(true);
}

// Everything of a row that belongs to the step.
void Hdf5Recorder::fill(const Step& step, double residual, double step_length) {
    pending_.v_weighted = step.v_weighted;
    pending_.t_weighted = step.t_weighted;
    pending_.step_length = step_length;
    pending_.residual = residual;
    pending_.energy = energy_row(step.ledger);
    pending_.contacts.assign(step.contacts.begin(), step.contacts.end());
    pending_.reactions.assign(step.reactions.data(), step.reactions.data() + step.reactions.size());
    const bool known = step.multipliers.size() == step.reactions.size();
    pending_.reaction_forces.assign(pending_.reactions.size(), std::numeric_limits<double>::quiet_NaN());
    if (known) std::copy_n(step.multipliers.data(), step.multipliers.size(), pending_.reaction_forces.begin());
}

void Hdf5Recorder::note_worst(const Step& step, double residual) {
    const std::array<double, worst_terms> now{residual, step.violation.gap, step.violation.joint,
                                              step.violation.joint_speed};
    for (std::size_t i = 0; i < now.size(); ++i)
        if (!std::isnan(worst_[i]) && !(now[i] <= worst_[i])) worst_[i] = now[i];  // a NaN is the worst of all
}

// Names are written once, when a contact is first recorded: nobody knows beforehand which ones there will be.
void Hdf5Recorder::name(const WhoWords& who, std::string text) {
    if (!named_.insert(who).second) return;
    name_id_.add(who.data(), who.size());
    for (char& c : text)
        if (c == '\n') c = ' ';
    text += '\n';
    name_text_.add(text.data(), text.size());
    commit_.names += 1;
}

void Hdf5Recorder::row(const System& system, const State& state, const Pending& p) {
    if (state.v.size() < nv_ || p.v_weighted.size() < nv_)
        throw Error("the system has become smaller than when its record began", {path_});
    t_.add(state.t);
    step_length_.add(p.step_length);
    q_.add(kept_columns_.of(system, state.q), static_cast<std::size_t>(nq_));
    v_.add(state.v.data(), static_cast<std::size_t>(nv_));  // what is new stands behind
    v_weighted_.add(p.v_weighted.data(), static_cast<std::size_t>(nv_));
    t_weighted_.add(p.t_weighted);
    residual_.add(p.residual);
    worst_column_.add(worst_.data(), worst_.size());
    energy_.add(p.energy.data(), p.energy.size());
    for (int b = 0; b < bodies_; ++b) {
        const BodyState body = system.body_state(b, state.q, state.v);
        const Quat& a = body.pose.attitude;
        const std::array<double, 7> pose{
            body.pose.position[0], body.pose.position[1], body.pose.position[2], a.w(), a.x(), a.y(), a.z()};
        pose_.add(pose.data(), pose.size());
        velocity_.add(body.velocity.data(), 3);
        velocity_.add(body.angular_velocity.data(), 3);
        present_.add<std::uint8_t>(body.present);
    }
    std::size_t known = 0;  // contacts of this row and of the last are both sorted: one merge finds the new ones
    for (const ContactRecord& c : p.contacts) {
        while (known < last_contacts_.size() && last_contacts_[known] < c.id) ++known;
        if (known == last_contacts_.size() || last_contacts_[known] != c.id)
            name(words_of(c.id), system.contact_name(c.id));
        const WhoWords id = words_of(c.id);
        contact_id_.add(id.data(), id.size());
        contact_mode_.add(static_cast<std::uint8_t>(c.mode));
        contact_gap_.add(c.gap);
        contact_position_.add(c.position.data(), 3);
        contact_normal_.add(c.normal.data(), 3);
        contact_tangent_.add(c.tangent.data(), 3);
        contact_impulse_.add(c.impulse.data(), 3);
        contact_force_.add(c.force.data(), 3);
        contact_unique_.add<std::uint8_t>(c.unique);
    }
    last_contacts_.clear();
    for (const ContactRecord& c : p.contacts) last_contacts_.push_back(c.id);
    reaction_.add(p.reactions.data(), p.reactions.size());
    reaction_force_.add(p.reaction_forces.data(), p.reaction_forces.size());
    commit_.rows += 1;
    commit_.contacts += p.contacts.size();
    commit_.reactions += p.reactions.size();
    contact_offset_.add(commit_.contacts);
    reaction_offset_.add(commit_.reactions);
    new_rows_ += 1;
}

void Hdf5Recorder::write(const System& system, const State& state, const Step& step, const StepReport& report) {
    SS_ASSERT(file_, "write() before begin()");
    if (report.status != Status::ok) {
        const UncertifiedStep told = uncertified_step(system, step, report, tolerance_);
        uncertified_.add(told);
        for (std::size_t i = 0; i < told.worst.size(); ++i) name(words_of(told.worst[i]), told.who[i]);
    }
    for (const Event& e : step.events) {
        const WhoWords id = e.subject.kind == SubjectKind::none ? words_of(e.contact) : words_of(e.subject);
        if (e.kind != EventKind::load_switch && id != words_of(no_contact)) name(id, system.who(e));
        event_t_.add(e.t);
        event_kind_.add(static_cast<std::uint8_t>(e.kind));
        event_contact_.add(id.data(), id.size());
        event_before_.add(static_cast<std::uint8_t>(e.before));
        event_after_.add(static_cast<std::uint8_t>(e.after));
        event_speed_before_.add(e.normal_speed_before);
        event_speed_after_.add(e.normal_speed_after);
        event_impulse_.add(e.impulse);
        event_reason_.add(static_cast<std::uint8_t>(e.reason));
    }
    commit_.events += step.events.size();
    commit_.steps += 1;
    system_ = &system;

    // Copied also when no row is due: this may be the last step.
    fill(step, report.solve.residual.max(), step.t1 - step.t0);
    note_worst(step, report.solve.residual.max());
    const std::uint64_t rows_before = commit_.rows;
    const bool at_end = times_.sample(system, state, step, [&](const State& x) { row(system, x, pending_); });
    pending_.valid = !at_end;
    if (!at_end) pending_.state = state;
    if (commit_.rows > rows_before) worst_ = {};

    std::size_t buffered = 0;
    if (new_rows_ > 0)
        for (const Column* column : columns_) buffered += column->buffered();
    if (buffered > max_buffered || std::chrono::duration<double>(Clock::now() - last_flush_).count() >= flush_every_)
        flush(true);
}

// --- flushing ---

void Hdf5Recorder::store_snapshot() {
    if (!take_snapshot_) return;
    const std::vector<std::uint8_t> bytes = take_snapshot_();
    Slot& slot = slots_[slot_];
    if (bytes.size() > slot.capacity) {  // a larger slot behind everything; half more, so that this is rare
        slot = {snapshot_.rows(), bytes.size() + bytes.size() / 2};
        snapshot_.grow(slot.start + slot.capacity);
    }
    snapshot_.write_rows(slot.start, bytes.size(), bytes.data());
    commit_.snapshot_start = slot.start;
    commit_.snapshot_length = bytes.size();
    commit_.snapshot_check = fnv1a(bytes.data(), bytes.size());
    slot_ = 1 - slot_;
}

void Hdf5Recorder::store_checks() {
    row_checks_.clear();
    for (const Column* column : columns_)
        row_checks_.insert(row_checks_.end(), column->check().begin(), column->check().end());
    checks_.grow(commit_.sequence + 1);
    checks_.write_rows(commit_.sequence, 1, row_checks_.data());
}

void Hdf5Recorder::store_commit() {
    commit_.sequence += 1;
    commit_.check = commit_.right_check();
    commits_.write_rows(commit_.sequence % 2, 1, &commit_);
    commits_.flush();
}

void Hdf5Recorder::flush(bool with_snapshot) {
    if (broken_) throw Error("cannot write: an earlier write failed", {path_});
    broken_ = true;
    if (!file_->still_there())
        throw WriteError("cannot write: the record is gone, its folder was removed or replaced", {path_});
    for (Column* column : columns_) column->append(new_rows_);
    new_rows_ = 0;
    store_checks();
    if (with_snapshot) store_snapshot();
    file_->flush();
    store_commit();
    broken_ = false;
    last_flush_ = Clock::now();
}

void Hdf5Recorder::abandon() {
    for (Column* column : columns_) column->abandon();
    for (Hdf5Dataset* d : {&snapshot_, &checks_, &commits_}) d->abandon();
    summary_.abandon();
    file_->abandon();
}

void Hdf5Recorder::end(const RunSummary& s) {
    SS_ASSERT(file_, "end() before begin()");
    if (pending_.valid) row(*system_, pending_.state, pending_);
    pending_.valid = false;

    summary_.write(s);
    commit_.ended = 1;
    flush(s.end != RunEnd::refused);  // a refused step has already changed what a snapshot would hold
    file_->close();
    file_.reset();
}

}  // namespace

std::unique_ptr<Recorder> make_hdf5_recorder(const std::string& file, double flush_every_s,
                                             std::function<std::vector<std::uint8_t>()> snapshot) {
    return std::make_unique<Hdf5Recorder>(file, flush_every_s, std::move(snapshot));
}

}  // namespace stickslip
