// A run without mechanics: every number of row k is a known function of k, so that a reader can tell what it should
// have found. Three coordinates, two velocities, one body, and a number of contacts, reactions and events that
// changes from step to step.
#pragma once

#include <hdf5.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "stickslip/record.hpp"

namespace stickslip::testing {

// A folder of this test's own, gone with it.
class Folder {
public:
    explicit Folder(const std::string& name)
        : path_(std::filesystem::temp_directory_path() / ("stickslip-" + name + "-" + std::to_string(::getpid()))) {
        std::filesystem::create_directories(path_);
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    std::string file(const std::string& name) const { return (path_ / name).string(); }
    std::string path() const { return path_.string(); }

private:
    std::filesystem::path path_;
};

class FakeSystem : public System {
public:
    FakeSystem() { nodes_.add(2); }
    int nq() const override { return 3; }
    bool constant_mass() const override { return true; }
    void mass(const VecX&, BlockMatrix&) const override {}
    void forces(double, const VecX&, const VecX&, Forces&) const override {}
    void rows(double, const VecX&, ContactFinder&, BilateralRows&, ContactRows&) const override {}
    void bias(double, const VecX&, const VecX&, const ContactFinder&, BilateralRows&, ContactRows&) const override {}
    void advance(VecX& q, const VecX& dq) const override { q.head(2) += dq; }
    Energies energies(double, const VecX&, const VecX&) const override { return {}; }
    std::vector<std::string> coordinate_names() const override { return {"x", "y", "angle, third"}; }
    std::vector<std::string> body_names() const override { return {"crate"}; }
    BodyState body_state(int, const VecX& q, const VecX& v) const override {
        BodyState body;
        body.pose.position = q;
        body.pose.attitude = Quat(0.5, -0.5, 0.5, -0.5);
        body.velocity = Vec3(v[0], v[1], 0);
        body.angular_velocity = Vec3(0, v[0], v[1]);
        return body;
    }
};

// A number in (0, 1) of (k, i): any two differ.
inline double known(std::uint64_t k, std::uint64_t i) {
    std::uint64_t x = k * 1000003 + i + 1;  // splitmix64
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (static_cast<double>((x ^ (x >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}
inline VecX known_vector(std::uint64_t k, std::uint64_t i, int n) {
    VecX x(n);
    for (int j = 0; j < n; ++j) x[j] = known(k, i + static_cast<std::uint64_t>(j));
    return x;
}
inline Vec3 known3(std::uint64_t k, std::uint64_t i) { return {known(k, i), known(k, i + 1), known(k, i + 2)}; }

struct FakeRun {
    static constexpr double h = 1.0 / 1024;  // [s]; sums exactly
    std::size_t max_contacts = 5;

    Model model(double record_every = 0) const {
        Model m;
        m.name = "fake";
        m.source = "bodies:\n  crate: {mass: 1}  # 5 \xc2\xb0\n";
        m.system = std::make_unique<FakeSystem>();
        m.state = state(0);
        m.run.record_every = record_every;
        return m;
    }
    // Row k: the state after k steps, and what the k-th step did.
    State state(std::uint64_t k) const {
        State x;
        x.t = h * static_cast<double>(k);
        x.q = known_vector(k, 0, 3);
        x.v = known_vector(k, 3, 2);
        return x;
    }
    std::vector<ContactRecord> contacts(std::uint64_t k) const {
        std::vector<ContactRecord> list(k == 0 ? 0 : (k * 7) % (max_contacts + 1));
        for (std::size_t i = 0; i < list.size(); ++i) {
            list[i].id = {static_cast<ContactKind>(i % 2),
                          static_cast<std::uint32_t>(k),
                          static_cast<std::uint32_t>(i),
                          {0xfffffff1u, 7},
                          {0xfffffff0u, 9}};
            list[i].mode = static_cast<ContactMode>((k + i) % 4);
            list[i].gap = -known(k, 100 + i);
            list[i].position = known3(k, 200 + 20 * i);
            list[i].normal = known3(k, 205 + 20 * i);
            list[i].tangent = known3(k, 210 + 20 * i);
            list[i].impulse = known3(k, 215 + 20 * i);
            list[i].unique = (k + i) % 3 != 0;
            if (k % 2 == 1) list[i].force = known3(k, 400 + 3 * i);  // of other steps it is not known
        }
        return list;
    }
    std::vector<double> reactions(std::uint64_t k) const {
        std::vector<double> list(k == 0 ? 0 : k % 4);
        for (std::size_t i = 0; i < list.size(); ++i) list[i] = known(k, 50 + i);
        return list;
    }
    std::vector<Event> events(std::uint64_t k) const {
        std::vector<Event> list(k % 3 == 2 ? 2 : 0);
        for (std::size_t i = 0; i < list.size(); ++i)
            list[i] = {known(k, 60 + i),
                       static_cast<EventKind>(k % 13),
                       {.a = static_cast<std::uint32_t>(k), .b = 2, .feature = {3, 4}},
                       ContactMode::slip,
                       ContactMode::stick,
                       -known(k, 70 + i),
                       known(k, 80 + i),
                       known(k, 90 + i),
                       static_cast<SwitchReason>(k % switch_reasons),
                       {}};
        for (Event& e : list) {
            if (!is_edit(e.kind)) continue;
            e.contact = no_contact;
            e.subject = {static_cast<SubjectKind>(1 + k % 3), static_cast<std::uint32_t>(k)};
        }
        return list;
    }
    std::vector<double> reaction_forces(std::uint64_t k) const {  // known in some steps only
        std::vector<double> list = reactions(k);
        for (std::size_t i = 0; i < list.size(); ++i)
            list[i] = k % 2 == 1 ? known(k, 450 + i) : std::numeric_limits<double>::quiet_NaN();
        return list;
    }
    double residual(std::uint64_t k) const { return k == 0 ? 0 : known(k, 7); }
    Vec3 drift(std::uint64_t k) const { return k == 0 ? Vec3(Vec3::Zero()) : known3(k, 20); }
    EnergyLedger::Snapshot ledger(std::uint64_t k) const {
        EnergyLedger::Snapshot s;
        s.start = {0, 0, 0};
        s.now = {known(k, 10), known(k, 11), known(k, 12)};
        s.flows = {known(k, 13), known(k, 14), known(k, 15), known(k, 16), known(k, 17), known(k, 18), known(k, 19)};
        s.scale = 1;
        return s;
    }
    std::vector<std::uint8_t> snapshot(std::uint64_t k) const {  // sizes go up and down
        std::vector<std::uint8_t> bytes(8 + (k * k * 37) % 3000, static_cast<std::uint8_t>(k * 11));
        std::memcpy(bytes.data(), &k, sizeof k);
        return bytes;
    }

    void fill(std::uint64_t k, Step& step, StepReport& report) const {
        const State x0 = state(k == 0 ? 0 : k - 1), x1 = state(k);
        step.t0 = x0.t;
        step.t1 = x1.t;
        step.q0 = x0.q, step.v0 = x0.v, step.q1 = x1.q, step.v1 = x1.v;
        step.v_weighted = known_vector(k, 30, 2);
        step.t_weighted = known(k, 32);
        step.contacts = contacts(k);
        const std::vector<double> r = reactions(k);
        step.reactions.resize(static_cast<Eigen::Index>(r.size()));
        for (std::size_t i = 0; i < r.size(); ++i) step.reactions[static_cast<Eigen::Index>(i)] = r[i];
        step.multipliers.resize(k % 2 == 1 ? step.reactions.size() : 0);
        const std::vector<double> forces = reaction_forces(k);
        for (Eigen::Index i = 0; i < step.multipliers.size(); ++i) step.multipliers[i] = forces[i];
        step.events = k == 0 ? std::vector<Event>{} : events(k);
        step.ledger.restore(ledger(k));
        const Vec3 now = drift(k);
        step.violation.gap = now[0];
        step.violation.joint = now[1];
        step.violation.joint_speed = now[2];
        report.solve.residual = {residual(k) / 2, residual(k), residual(k) / 3};
        report.t = x1.t;
    }
};

inline bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

// "" if the record holds exactly rows 0 .. t.size() - 1 of the run, else what is wrong. Meant for runs that record
// every step.
inline std::string compare(const FakeRun& run, const RecordContents& r) {
    const std::size_t n = r.t.size();
    const auto columns = static_cast<Eigen::Index>(n);
    if (r.q.cols() != columns || r.v.cols() != columns || r.v_weighted.cols() != columns || r.energy.cols() != columns)
        return "matrices and times differ in length";
    if (r.residual.size() != n || r.step_length.size() != n || r.contact_start.size() != n + 1 ||
        r.reaction_start.size() != n + 1)
        return "arrays and times differ in length";
    if (r.contact_start.back() != r.contacts.size() || r.reaction_start.back() != r.reactions.size())
        return "ragged arrays do not end where their offsets say";
    std::size_t event = 0;
    for (std::size_t k = 0; k < n; ++k) {
        const std::string row = " of row " + std::to_string(k);
        const State x = run.state(k);
        const auto i = static_cast<Eigen::Index>(k);
        if (!same_bits(r.t[k], x.t) || r.q.col(i) != x.q || r.v.col(i) != x.v) return "state" + row;
        if (r.v_weighted.col(i) != known_vector(k, 30, 2)) return "v_weighted" + row;
        if (r.t_weighted.size() != n || !same_bits(r.t_weighted[k], known(k, 32))) return "t_weighted" + row;
        if (!same_bits(r.residual[k], run.residual(k))) return "residual" + row;
        if (!same_bits(r.step_length[k], k == 0 ? 0.0 : FakeRun::h)) return "step_length" + row;
        for (Eigen::Index e = 0; e < 9; ++e)
            if (!same_bits(r.energy(e, i), known(k, 10 + static_cast<std::uint64_t>(e)))) return "energy" + row;
        EnergyLedger ledger;
        ledger.restore(run.ledger(k));
        if (!same_bits(r.energy(9, i), ledger.imbalance())) return "imbalance" + row;
        if (r.worst.cols() != columns || !same_bits(r.worst(0, i), run.residual(k)) ||
            r.worst.col(i).tail<3>() != run.drift(k))
            return "worst" + row;
        if (!same_bits(r.energy(10, i), known(k, 19))) return "energy of edits" + row;
        const std::vector<ContactRecord> contacts = run.contacts(k);
        if (r.contact_start[k + 1] - r.contact_start[k] != contacts.size()) return "number of contacts" + row;
        for (std::size_t j = 0; j < contacts.size(); ++j) {
            const ContactRecord &a = contacts[j], &b = r.contacts[r.contact_start[k] + j];
            if (a.id != b.id || a.mode != b.mode || !same_bits(a.gap, b.gap) || a.position != b.position ||
                a.normal != b.normal || a.tangent != b.tangent || a.impulse != b.impulse || a.unique != b.unique)
                return "contact" + row;
            for (int c = 0; c < 3; ++c)
                if (std::isnan(a.force[c]) ? !std::isnan(b.force[c]) : !same_bits(a.force[c], b.force[c]))
                    return "force of a contact" + row;
            if (contact_name(r, a.id) != "contact " + std::to_string(k)) return "name of a contact" + row;
        }
        const std::vector<double> reactions = run.reactions(k);
        if (r.reaction_start[k + 1] - r.reaction_start[k] != reactions.size()) return "number of reactions" + row;
        for (std::size_t j = 0; j < reactions.size(); ++j)
            if (!same_bits(reactions[j], r.reactions[r.reaction_start[k] + j])) return "reaction" + row;
        const std::vector<double> forces = run.reaction_forces(k);
        if (r.reaction_forces.size() != r.reactions.size()) return "number of reaction forces" + row;
        for (std::size_t j = 0; j < forces.size(); ++j) {
            const double force = r.reaction_forces[r.reaction_start[k] + j];
            if (std::isnan(forces[j]) ? !std::isnan(force) : !same_bits(forces[j], force))
                return "reaction force" + row;
        }
        if (k == 0) continue;
        for (const Event& a : run.events(k)) {
            if (event >= r.events.size()) return "missing event" + row;
            const Event& b = r.events[event++];
            if (!same_bits(a.t, b.t) || a.kind != b.kind || a.contact != b.contact || a.before != b.before ||
                a.after != b.after || !same_bits(a.normal_speed_before, b.normal_speed_before) ||
                !same_bits(a.normal_speed_after, b.normal_speed_after) || !same_bits(a.impulse, b.impulse) ||
                a.reason != b.reason || a.subject != b.subject)
                return "event" + row;
            if (a.kind != EventKind::load_switch && who(r, a) != FakeSystem().who(a)) return "name of an event" + row;
        }
    }
    if (event != r.events.size()) return "events of rows that are not there";
    if (n > 0 && r.steps != static_cast<long>(n) - 1) return "number of steps";
    return {};
}

// Shows the start and so many steps to a recorder. Returns the model, which must live as long as the recorder uses it.
[[nodiscard]] inline Model record(Recorder& recorder, const FakeRun& run, std::uint64_t steps,
                                  double record_every = 0) {
    Model model = run.model(record_every);
    Step step;
    StepReport report;
    run.fill(0, step, report);
    recorder.begin(model, model.state, step);
    for (std::uint64_t k = 1; k <= steps; ++k) {
        run.fill(k, step, report);
        recorder.write(*model.system, run.state(k), step, report);
    }
    return model;
}

// Opens as programs do that know nothing of SWMR.
inline bool opens_plainly(const std::string& file) {
    H5E_auto2_t handler = nullptr;
    void* data = nullptr;
    H5Eget_auto2(H5E_DEFAULT, &handler, &data);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, handler, data);
    if (id >= 0) H5Fclose(id);
    return id >= 0;
}

}  // namespace stickslip::testing
