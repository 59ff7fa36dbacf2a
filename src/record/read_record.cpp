// Reading records back, however their run ended. Only what the last commit counts is read (see record_layout.hpp); a
// run that goes on while we read changes nothing below that count except the older of the two snapshot slots.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <limits>
#include <new>
#include <thread>

#include "base/hdf5_file.hpp"
#include "record/record_layout.hpp"
#include "record/verdict_text.hpp"
#include "stickslip/record.hpp"

namespace stickslip {

std::string record_file(const std::string& run) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(run, ignored)) return run;
    return (std::filesystem::path(run) / "run.h5").string();
}

std::string options_text(const OptionValues& options) {
    std::string text;
    for (const OptionValue& option : options)
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", option.key, option.text);
    return text;
}

std::string contact_name(const RecordContents& record, const ContactId& id) {
    const auto& names = record.contact_names;
    const auto place = std::lower_bound(names.begin(), names.end(), id,
                                        [](const ContactName& n, const ContactId& x) { return n.id < x; });
    if (place != names.end() && place->id == id) return place->name;
    return fmt::format("shapes {}/{}, features {:x}/{:x}", id.a, id.b, id.feature.a, id.feature.b);
}

std::string who(const RecordContents& record, const Event& event) {
    if (event.subject.kind == SubjectKind::none)
        return event.contact == no_contact ? std::string() : contact_name(record, event.contact);
    for (const SubjectName& known : record.subject_names)
        if (known.subject == event.subject) return known.name;
    static constexpr const char* words[] = {"nothing", "body", "joint", "spring"};
    return fmt::format("{} {}", words[static_cast<std::size_t>(event.subject.kind)], event.subject.id);
}

namespace {

// How often a moving file is looked at again before it is called damaged; one try takes about a millisecond, a
// commit some microseconds.
constexpr int max_tries = 50;
constexpr std::uint64_t first_revision_with_checks = 5;
constexpr std::size_t checked_before_verdicts = 7;  // arrays of the summary in revision 5

std::vector<std::string> split_lines(const std::string& text) {
    std::vector<std::string> lines;
    if (text.empty()) return lines;
    std::size_t from = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos; from = end + 1, end = text.find('\n', from))
        lines.push_back(text.substr(from, end - from));
    lines.push_back(text.substr(from));
    return lines;
}

class Reading {
public:
    explicit Reading(const std::string& path) : path_(path), file_(path, Hdf5File::Open::follow) {
        if (!file_.has_attribute("/", "format") || file_.text_attribute("/", "format") != record_format)
            throw Error("is not a stickslip record", {path});
        const std::uint64_t version = file_.number_attribute("/", "format_version");
        if (version < 1 || version > record_format_version)
            throw Error(fmt::format("has record format {}, this program reads 1 to {}", version, record_format_version),
                        {path});
        id_columns_ = version == 1 ? old_who_words : who_words;
    }

    // The commit first, then the datasets: HDF5 remembers sizes when a dataset is opened, and whatever the commit
    // counts was there before it.
    RecordContents read() {
        RecordContents r;
        commit_ = last_commit();
        read_checks();
        r.model = file_.text_attribute("/", "model");
        r.version = file_.text_attribute("/", "stickslip");
        r.source = text("source");
        r.coordinate_names = split_lines(text("names/coordinates"));
        r.body_names = split_lines(text("names/bodies"));
        if (file_.has("names/reactions")) {
            r.reaction_names = split_lines(text("names/reactions"));
            r.redundant = split_lines(text("names/redundant"));
            r.reaction_unique = file_.read<std::uint8_t>("reactions/unique");
            check_constant("reactions/unique", r.reaction_unique.data(), r.reaction_unique.size());
            if (r.reaction_unique.size() != r.reaction_names.size())
                throw Error("is damaged: 'reactions/unique' does not fit 'names/reactions'", {path_});
        }
        r.complete = commit_.ended == 1;
        r.steps = static_cast<long>(commit_.steps);

        const std::uint64_t n = commit_.rows;
        r.t = column<double>("t", n, 1);
        r.step_length = column<double>("step_length", n, 1);
        r.residual = column<double>("residual", n, 1);
        r.q = matrix("q", n);
        r.v = matrix("v", n);
        r.v_weighted = matrix("v_weighted", n);
        if (file_.has("t_weighted")) r.t_weighted = column<double>("t_weighted", n, 1);
        r.energy = matrix("energy", n);
        r.contact_start = starts("contacts/offset", commit_.contacts);
        r.reaction_start = starts("reactions/offset", commit_.reactions);
        r.reactions = column<double>("reactions/impulse", commit_.reactions, 1);
        if (file_.has("reactions/force")) r.reaction_forces = column<double>("reactions/force", commit_.reactions, 1);
        read_contacts(r.contacts);
        read_events(r.events);
        r.body_pose = matrix("bodies/pose", n);
        r.body_velocity = matrix("bodies/velocity", n);
        if (file_.has("bodies/present"))  // for its checks alone
            static_cast<void>(column<std::uint8_t>("bodies/present", n, r.body_names.size()));
        read_settings(r);
        read_names(r);
        if (file_.has("uncertified") && !checked_.empty()) read_uncertified(r);
        if (file_.has("worst")) r.worst = matrix("worst", n);
        if (r.complete) read_summary(r);
        r.snapshot = last_snapshot();
        return r;
    }

private:
    Commit last_commit() const {
        for (int i = 0; i < max_tries; ++i) {
            const std::vector<std::uint64_t> words = file_.read<std::uint64_t>("commit");
            if (words.size() != 2 * commit_words) throw Error("is damaged: 'commit' has the wrong size", {path_});
            Commit best;
            for (const std::size_t slot : {0u, 1u}) {
                Commit c;
                std::memcpy(static_cast<void*>(&c), words.data() + slot * commit_words, sizeof(Commit));
                if (c.sequence > best.sequence && c.check == c.right_check()) best = c;
            }
            if (best.sequence > 0) return best;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        throw Error("holds nothing yet: its run ended before the first row", {path_});
    }

    // --- checksums; records before revision 5 have none ---

    void read_checks() {
        const bool expected = file_.has_attribute("/", "format_revision") &&
                              file_.number_attribute("/", "format_revision") >= first_revision_with_checks;
        if (!expected) return;
        checked_ = split_lines(file_.text_attribute("checks", "names"));
        const Hdf5Dataset dataset = file_.open("checks", Hdf5Type::u64);
        if (dataset.rows() < commit_.sequence || dataset.row_size() != 2 * checked_.size())
            throw Error("is damaged: 'checks' has the wrong size", {path_});
        checks_.resize(static_cast<std::size_t>(commit_.sequence * dataset.row_size()));
        dataset.read_rows(0, commit_.sequence, checks_.data());
    }

    // The first `rows` rows of a growing array against what was noted when they were written. A writer that goes on may have
    // added rows that no commit counts.
    void check_rows(const std::string& name, const void* data, std::uint64_t rows, std::uint64_t row_bytes) const {
        const std::size_t k =
            static_cast<std::size_t>(std::find(checked_.begin(), checked_.end(), name) - checked_.begin());
        if (k == checked_.size()) return;
        const unsigned char* bytes = static_cast<const unsigned char*>(data);
        std::uint64_t from = 0;
        for (std::size_t i = 0; i < commit_.sequence; ++i) {
            const std::uint64_t* noted = checks_.data() + 2 * (i * checked_.size() + k);
            const std::uint64_t to = noted[0];
            const bool fits = to >= from && to <= rows;
            if (!fits || fnv1a_words(bytes + from * row_bytes, (to - from) * row_bytes) != noted[1])
                throw Error(fmt::format("is damaged: the checksum of rows {} to {} of '{}' is wrong", from,
                                        std::max(from, std::min(to, rows)), name),
                            {path_});
            from = to;
        }
    }

    void check_constant(const std::string& name, const void* data, std::size_t bytes) const {
        if (file_.has_attribute(name, "check") && file_.number_attribute(name, "check") != fnv1a_words(data, bytes))
            throw Error(fmt::format("is damaged: the checksum of '{}' is wrong", name), {path_});
    }

    std::string text(const std::string& name) const {
        std::string words = file_.read_text(name);
        check_constant(name, words.data(), words.size());
        return words;
    }

    void check_summary() const {
        if (checked_.empty()) return;
        constexpr std::size_t ladder = summary_arrays.size() - 1;
        const std::size_t known = file_.has("summary/ladder") ? summary_arrays.size() : checked_before_verdicts;
        const auto noted = column<std::uint64_t>("summary/checks", known, 1);
        const auto check = [&](std::size_t i, const auto& values) {
            if (fnv1a_words(values.data(), values.size() * sizeof(values[0])) != noted[i])
                throw Error(fmt::format("is damaged: the checksum of '{}' is wrong", summary_arrays[i]), {path_});
        };
        check(0, file_.read<std::uint64_t>(summary_arrays[0]));
        check(1, file_.read<double>(summary_arrays[1]));
        check(2, file_.read<double>(summary_arrays[2]));
        for (std::size_t i = 3; i < std::min(known, ladder); ++i) check(i, file_.read<std::uint8_t>(summary_arrays[i]));
        if (known > ladder) check(ladder, file_.read<std::uint64_t>(summary_arrays[ladder]));
    }

    template <class T>
    std::vector<T> column(const char* name, std::uint64_t rows, std::uint64_t width) const {
        const Hdf5Dataset dataset = file_.open(name, hdf5_type<T>());
        if (dataset.rows() < rows || (rows > 0 && dataset.row_size() != width))
            throw Error(fmt::format("is damaged: '{}' has {} rows of {} instead of {} of {}", name, dataset.rows(),
                                    dataset.row_size(), rows, width),
                        {path_});
        std::vector<T> values(static_cast<std::size_t>(rows * width));
        dataset.read_rows(0, rows, values.data());
        check_rows(name, values.data(), rows, width * sizeof(T));
        return values;
    }

    // `all` numbers of the summary, of which older records have fewer, but at least `least`; the others are then zero.
    template <class T>
    std::vector<T> numbers(const char* name, std::size_t least, std::size_t all) const {
        const std::uint64_t there = file_.open(name, hdf5_type<T>()).rows();
        std::vector<T> values = column<T>(name, std::clamp<std::uint64_t>(there, least, all), 1);
        values.resize(all);
        return values;
    }

    MatX matrix(const char* name, std::uint64_t rows) const {
        const Hdf5Dataset dataset = file_.open(name, Hdf5Type::f64);
        if (dataset.rows() < rows) throw Error(fmt::format("is damaged: '{}' is too short", name), {path_});
        MatX values(static_cast<Eigen::Index>(dataset.row_size()), static_cast<Eigen::Index>(rows));
        dataset.read_rows(0, rows, values.data());  // a row of the file is a column here
        check_rows(name, values.data(), rows, dataset.row_size() * sizeof(double));
        return values;
    }

    std::vector<std::size_t> starts(const char* name, std::uint64_t total) const {
        const std::vector<std::uint64_t> offset = column<std::uint64_t>(name, commit_.rows + 1, 1);
        bool good = offset.front() == 0 && offset.back() == total;
        for (std::size_t k = 0; k + 1 < offset.size(); ++k) good = good && offset[k] <= offset[k + 1];
        if (!good) throw Error(fmt::format("is damaged: '{}' does not ascend to {}", name, total), {path_});
        return {offset.begin(), offset.end()};
    }

    std::string padded_text(const char* name, std::size_t length) const {
        const auto bytes = column<std::uint8_t>(name, length, 1);
        const std::string text(bytes.begin(), bytes.end());
        return text.substr(0, text.find('\0'));
    }

    void read_settings(RecordContents& r) const {
        r.scheme = file_.text_attribute("/", "scheme");
        r.solver = file_.text_attribute("/", "solver");
        r.policy = file_.text_attribute("/", "policy");
        if (file_.has_attribute("/", "budget")) r.budget = file_.text_attribute("/", "budget");
        if (!file_.has("settings")) return;  // revision 0
        r.scheme_options = text("settings/scheme_options");
        r.solver_options = text("settings/solver_options");
        const auto figures = column<double>("settings/figures", 3, 1);
        check_constant("settings/figures", figures.data(), figures.size() * sizeof(double));
        r.end = figures[0];
        r.tolerance = figures[1];
        r.record_every = figures[2];
    }

    // Ids of n contacts or subjects.
    std::vector<WhoWords> ids(const char* name, std::uint64_t n) const {
        const auto flat = column<std::uint32_t>(name, n, id_columns_);
        std::vector<WhoWords> list(static_cast<std::size_t>(n));
        for (std::size_t i = 0; i < list.size(); ++i) list[i] = who_at(flat.data(), id_columns_, i);
        return list;
    }

    void read_names(RecordContents& r) const {
        const std::uint64_t n = commit_.names;
        if (n == 0) return;
        const std::vector<WhoWords> id = ids("contacts/name_id", n);
        const std::vector<std::uint8_t> bytes = file_.read<std::uint8_t>("contacts/name_text");
        check_rows("contacts/name_text", bytes.data(), bytes.size(), 1);
        const std::vector<std::string> text = split_lines(std::string(bytes.begin(), bytes.end()));
        if (text.size() < n) throw Error("is damaged: contacts without a name", {path_});
        for (std::size_t i = 0; i < n; ++i) {
            if (is_subject(id[i]))
                r.subject_names.push_back({subject_of(id[i]), text[i]});
            else
                r.contact_names.push_back({contact_of(id[i]), text[i]});
        }
        std::sort(r.contact_names.begin(), r.contact_names.end(),
                  [](const auto& x, const auto& y) { return x.id < y.id; });
        std::sort(r.subject_names.begin(), r.subject_names.end(),
                  [](const auto& x, const auto& y) { return x.subject < y.subject; });
    }

    // Counts that a run could have reached. Larger ones come from a damaged file, and their sums and casts would overflow.
    std::vector<std::uint64_t> counts(const char* name, std::size_t least, std::size_t all) const {
        constexpr std::uint64_t largest = std::uint64_t{1} << 53;
        const auto values = numbers<std::uint64_t>(name, least, all);
        for (const std::uint64_t value : values)
            if (value > largest)
                throw Error(fmt::format("is damaged: '{}' counts {}, more than any run can", name, value), {path_});
        return values;
    }

    // By name, so that rungs may come and go from version to version.
    void read_ladder(std::array<long, rung_count>& ladder) const {
        if (!file_.has("summary/ladder")) return;
        const std::vector<std::string> names = split_lines(file_.text_attribute("summary/ladder", "names"));
        const auto islands = counts("summary/ladder", names.size(), names.size());
        for (std::size_t i = 0; i < names.size(); ++i)
            ladder[static_cast<std::size_t>(rung_named(names[i]))] += static_cast<long>(islands[i]);
    }

    void read_summary(RecordContents& r) const {
        RunSummary& s = r.summary;
        check_summary();
        const auto number = counts("summary/counts", old_counts, summary_counts);
        if (number[0] > static_cast<std::uint64_t>(RunEnd::interrupted))
            throw Error("is damaged: its run ended in a way that does not exist", {path_});
        s.end = static_cast<RunEnd>(number[0]);
        s.steps = static_cast<long>(number[1]);
        s.rejected = static_cast<long>(number[2]);
        s.solves = static_cast<long>(number[3]);
        s.certified_steps = static_cast<long>(number[4]);
        s.certified = s.certified_steps == s.steps;
        if (number[5] > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
            throw Error("is damaged: a step with more contacts than there can be", {path_});
        s.contacts.max = static_cast<int>(number[5]);
        s.impact_gains.count = static_cast<long>(number[6]);
        s.energy_bound_violations = static_cast<long>(number[7]);
        s.unlocated_events = static_cast<long>(number[8]);
        s.paradox_steps = static_cast<long>(number[9]);
        s.substepped = static_cast<long>(number[10]);
        const auto figures = numbers<double>("summary/figures", old_figures, summary_figures);
        double* const into[] = {&s.t,
                                &s.wall_s,
                                &s.step_ms.mean,
                                &s.step_ms.p50,
                                &s.step_ms.p99,
                                &s.step_ms.max,
                                &s.residual.max,
                                &s.residual.mean,
                                &s.gap_violation_max,
                                &s.joint_violation.position_max,
                                &s.joint_violation.velocity_max,
                                &s.contacts.mean,
                                &s.variation.v,
                                &s.variation.v_weighted,
                                &s.impact_gains.energy};
        static_assert(std::size(into) == summary_figures);
        for (std::size_t i = 0; i < figures.size(); ++i) *into[i] = figures[i];
        const auto timers = column<double>("summary/timers", StepTimers::arrows, 1);
        std::copy(timers.begin(), timers.end(), s.timers.seconds.begin());
        s.hash = r.hash = padded_text("summary/hash", 16);
        s.reason = padded_text("summary/reason", reason_length);
        if (file_.has("summary/warnings")) s.warnings = split_lines(padded_text("summary/warnings", warnings_length));
        if (file_.has("summary/cone")) s.cone = padded_text("summary/cone", cone_length);
        s.verdict = verdict_of_warnings(s);
        if (file_.has("summary/verdict") &&
            !read_verdict(split_lines(padded_text("summary/verdict", verdict_length)), s.verdict))
            throw Error("is damaged: 'summary/verdict' is no verdict", {path_});
        read_ladder(s.ladder);
        s.model = r.model;
        s.scheme = r.scheme;
        s.solver = r.solver;
        s.policy = r.policy;
        s.uncertified.steps = s.steps - s.certified_steps;
        const auto listed = std::min(r.uncertified.size(), max_uncertified_listed);
        s.uncertified.listed.assign(r.uncertified.begin(), r.uncertified.begin() + static_cast<long>(listed));
        for (const UncertifiedStep& u : r.uncertified)
            if (!(u.residual * s.uncertified.tol <= s.uncertified.residual * u.tol) || s.uncertified.tol == 0) {
                s.uncertified.residual = u.residual;
                s.uncertified.tol = u.tol;
            }
        s.deterministic = r.budget.find("ms=") == std::string::npos;
        s.event_count = static_cast<long>(r.events.size());
        for (const Event& event : r.events)
            if (event.kind == EventKind::method_switch) ++s.switches[static_cast<std::size_t>(event.reason)];
    }

    void read_contacts(std::vector<ContactRecord>& contacts) const {
        const std::uint64_t n = commit_.contacts;
        const std::vector<WhoWords> id = ids("contacts/id", n);
        const auto mode = column<std::uint8_t>("contacts/mode", n, 1);
        const auto gap = column<double>("contacts/gap", n, 1);
        const auto position = column<double>("contacts/position", n, 3);
        const auto normal = column<double>("contacts/normal", n, 3);
        const auto tangent = column<double>("contacts/tangent", n, 3);
        const auto impulse = column<double>("contacts/impulse", n, 3);
        contacts.resize(static_cast<std::size_t>(n));
        for (std::size_t i = 0; i < contacts.size(); ++i) {
            ContactRecord& c = contacts[i];
            c.id = contact_of(id[i]);
            c.mode = mode_of(mode[i]);
            c.gap = gap[i];
            c.position = Vec3::Map(position.data() + 3 * i);
            c.normal = Vec3::Map(normal.data() + 3 * i);
            c.tangent = Vec3::Map(tangent.data() + 3 * i);
            c.impulse = Vec3::Map(impulse.data() + 3 * i);
        }
        if (file_.has("contacts/unique")) {
            const auto unique = column<std::uint8_t>("contacts/unique", n, 1);
            for (std::size_t i = 0; i < contacts.size(); ++i) contacts[i].unique = unique[i] != 0;
        }
        if (!file_.has("contacts/force")) return;
        const auto force = column<double>("contacts/force", n, 3);
        for (std::size_t i = 0; i < contacts.size(); ++i) contacts[i].force = Vec3::Map(force.data() + 3 * i);
    }

    void read_events(std::vector<Event>& events) const {
        const std::uint64_t n = commit_.events;
        const auto t = column<double>("events/t", n, 1);
        const auto kind = column<std::uint8_t>("events/kind", n, 1);
        const std::vector<WhoWords> id = ids("events/contact", n);
        const auto before = column<std::uint8_t>("events/before", n, 1);
        const auto after = column<std::uint8_t>("events/after", n, 1);
        const auto speed_before = column<double>("events/normal_speed_before", n, 1);
        const auto speed_after = column<double>("events/normal_speed_after", n, 1);
        const auto impulse = column<double>("events/impulse", n, 1);
        events.resize(static_cast<std::size_t>(n));
        for (std::size_t i = 0; i < events.size(); ++i) {
            if (kind[i] > static_cast<std::uint8_t>(EventKind::method_switch))
                throw Error("is damaged: an event of a kind that does not exist", {path_});
            events[i] = {t[i],
                         static_cast<EventKind>(kind[i]),
                         is_subject(id[i]) ? no_contact : contact_of(id[i]),
                         mode_of(before[i]),
                         mode_of(after[i]),
                         speed_before[i],
                         speed_after[i],
                         impulse[i]};
            if (is_subject(id[i])) events[i].subject = subject_of(id[i]);
        }
        if (!file_.has("events/reason")) return;
        const auto reason = column<std::uint8_t>("events/reason", n, 1);
        for (std::size_t i = 0; i < events.size(); ++i) {
            if (reason[i] >= switch_reasons)
                throw Error("is damaged: a change of method for a reason that does not exist", {path_});
            events[i].reason = static_cast<SwitchReason>(reason[i]);
        }
    }

    // Rows that a growing array had at the last commit.
    std::uint64_t rows_of(const std::string& name) const {
        const auto k = static_cast<std::size_t>(std::find(checked_.begin(), checked_.end(), name) - checked_.begin());
        if (k == checked_.size()) throw Error(fmt::format("is damaged: '{}' has no checks", name), {path_});
        return checks_[2 * ((commit_.sequence - 1) * checked_.size() + k)];
    }

    void read_uncertified(RecordContents& r) const {
        const std::uint64_t n = rows_of("uncertified/t");
        const auto t = column<double>("uncertified/t", n, 1);
        const auto step = column<std::uint64_t>("uncertified/step", n, 1);
        const auto residual = column<double>("uncertified/residual", n, 1);
        const auto tol = column<double>("uncertified/tol", n, 1);
        const auto substeps = column<std::uint32_t>("uncertified/substeps", n, 1);
        const auto compliance = column<double>("uncertified/compliance", n, 1);
        const auto solver = column<std::uint8_t>("uncertified/solver", n, uncertified_solver_length);
        const auto contacts = column<std::uint32_t>("uncertified/contacts", n, 1);
        const auto worst = column<std::uint32_t>("uncertified/worst", n, uncertified_named * who_words);
        r.uncertified.resize(static_cast<std::size_t>(n));
        for (std::size_t i = 0; i < r.uncertified.size(); ++i) {
            UncertifiedStep& u = r.uncertified[i];
            u.t = t[i];
            u.step = static_cast<long>(step[i]);
            u.residual = residual[i];
            u.tol = tol[i];
            u.substeps = static_cast<int>(substeps[i]);
            u.compliance = compliance[i];
            const std::string name(solver.begin() + static_cast<long>(i * uncertified_solver_length),
                                   solver.begin() + static_cast<long>((i + 1) * uncertified_solver_length));
            u.solver = name.substr(0, name.find('\0'));
            u.contacts = static_cast<int>(contacts[i]);
            for (std::size_t k = 0; k < uncertified_named; ++k) {
                const ContactId id = contact_of(who_at(worst.data(), who_words, i * uncertified_named + k));
                if (id == no_contact) break;
                u.worst.push_back(id);
                u.who.push_back(contact_name(r, u.worst.back()));
            }
        }
    }

    ContactMode mode_of(std::uint8_t mode) const {
        if (mode > static_cast<std::uint8_t>(ContactMode::impact))
            throw Error("is damaged: a contact mode that does not exist", {path_});
        return static_cast<ContactMode>(mode);
    }

    // A running writer may be filling the slot we read; then the check is wrong and there is a newer commit.
    std::vector<std::uint8_t> last_snapshot() const {
        Commit c = commit_;
        for (int i = 0; i < max_tries; ++i, c = last_commit()) {
            std::vector<std::uint8_t> bytes(static_cast<std::size_t>(c.snapshot_length));
            if (bytes.empty()) return bytes;
            const Hdf5Dataset dataset = file_.open("snapshot/bytes", Hdf5Type::u8);
            dataset.read_rows(c.snapshot_start, c.snapshot_length, bytes.data());
            if (fnv1a(bytes.data(), bytes.size()) == c.snapshot_check) return bytes;
        }
        throw Error("is damaged: its snapshot has the wrong checksum", {path_});
    }

    const std::string& path_;
    Hdf5File file_;
    Commit commit_;
    std::vector<std::string> checked_;   // arrays with checks, in their order
    std::vector<std::uint64_t> checks_;  // per commit, array and word
    std::size_t id_columns_ = who_words;
};

}  // namespace

RecordContents read_record(const std::string& run) {
    const std::string path = record_file(run);
    try {
        return Reading(path).read();
    } catch (const std::bad_alloc&) {
        throw Error("is damaged: it asks for more memory than there is", {path});
    }
}

bool repair_record(const std::string& run) {
    const std::string path = record_file(run);
    {
        const Hdf5File file(path, Hdf5File::Open::follow);
        if (!file.has_attribute("/", "format") || file.text_attribute("/", "format") != record_format)
            throw Error("is not a stickslip record", {path});
    }
    return clear_open_mark(path);
}

}  // namespace stickslip
