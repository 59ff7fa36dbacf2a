#include "simulation/snapshot.hpp"

#include <cstring>
#include <type_traits>

#include "collision/finder.hpp"
#include "stickslip/error.hpp"

namespace stickslip {

namespace {

constexpr std::uint64_t magic = 0x34'70'61'6e'73'73'73ull;  // "sssnap4": changes with the layout

struct Writer {
    std::vector<std::uint8_t> bytes;

    template <class T>
    void number(const T& x) {
        static_assert(std::is_trivially_copyable_v<T>);
        const auto* from = reinterpret_cast<const std::uint8_t*>(&x);
        bytes.insert(bytes.end(), from, from + sizeof(T));
    }
    void vector(const ConstRef& x) {
        number<std::uint64_t>(static_cast<std::uint64_t>(x.size()));
        for (Eigen::Index i = 0; i < x.size(); ++i) number(x[i]);
    }
    template <class T>
    void list(const std::vector<T>& x) {
        number<std::uint64_t>(x.size());
        for (const T& entry : x) number(entry);
    }
    template <int n>
    void list(const std::vector<Eigen::Matrix<double, n, 1>>& x) {
        number<std::uint64_t>(x.size());
        for (const auto& entry : x)
            for (int k = 0; k < n; ++k) number(entry[k]);
    }
};

struct Reader {
    const std::vector<std::uint8_t>& bytes;
    std::size_t at = 0;

    template <class T>
    void number(T& x) {
        if (bytes.size() - at < sizeof(T)) throw Error("the snapshot is cut short");
        std::memcpy(&x, bytes.data() + at, sizeof(T));
        at += sizeof(T);
    }
    std::size_t count(std::size_t entry_size) {
        std::uint64_t n = 0;
        number(n);
        if (n > (bytes.size() - at) / entry_size) throw Error("the snapshot is cut short");
        return static_cast<std::size_t>(n);
    }
    template <class Vector>
    void vector(Vector& x) {
        x.resize(static_cast<Eigen::Index>(count(sizeof(double))));
        for (Eigen::Index i = 0; i < x.size(); ++i) number(x[i]);
    }
    template <class T>
    void list(std::vector<T>& x) {
        x.resize(count(sizeof(T)));
        for (T& entry : x) number(entry);
    }
    template <int n>
    void list(std::vector<Eigen::Matrix<double, n, 1>>& x) {
        x.resize(count(n * sizeof(double)));
        for (auto& entry : x)
            for (int k = 0; k < n; ++k) number(entry[k]);
    }
};

// One listing for both directions, so that they cannot drift apart.
template <class Archive, class StateT, class MemoryT, class FramesT, class LedgerT>
void exchange(Archive& archive, StateT& state, MemoryT& memory, FramesT& frames, LedgerT& ledger) {
    archive.number(state.t);
    archive.vector(state.q);
    archive.vector(state.v);
    archive.number(memory.h);
    archive.vector(memory.v_rate);
    archive.list(memory.contact);
    archive.list(memory.impulse);
    archive.list(memory.mode);
    archive.list(memory.joint);
    archive.list(memory.joint_row);
    archive.vector(memory.lambda);
    archive.number(memory.damped_steps);
    archive.number(memory.short_steps);
    archive.list(memory.bounced);
    archive.list(memory.bounce_times);
    archive.number(memory.next_step);
    archive.number(memory.last_error);
    archive.vector(memory.acceleration);
    archive.list(memory.slip);
    archive.list(memory.bound);
    archive.list(memory.side);
    archive.number(memory.afresh);
    archive.number(memory.stepping);
    archive.number(memory.calm_steps);
    archive.number(memory.switched);
    archive.number(memory.last_impact);
    archive.list(frames.id);
    archive.list(frames.tangent);
    archive.number(ledger);
}

}  // namespace

std::vector<std::uint8_t> write_snapshot(const State& state, const Step& step, long steps,
                                         const std::vector<MadeEdit>& edits) {
    Writer writer;
    writer.number(magic);
    writer.number(steps);
    writer.number<std::uint64_t>(edits.size());
    for (const MadeEdit& edit : edits) {
        writer.number<std::uint8_t>(edit.action);
        writer.number(edit.index);
        writer.number(edit.at.t);
        writer.vector(edit.at.q);
        writer.vector(edit.at.v);
    }
    const EnergyLedger::Snapshot ledger = step.ledger.snapshot();
    exchange(writer, state, step.memory, step.finder->frames(), ledger);
    return std::move(writer.bytes);
}

void read_snapshot(const std::vector<std::uint8_t>& bytes, State& state, Step& step, long& steps,
                   const std::function<void(const std::vector<MadeEdit>&, const State&)>& fits) {
    Reader reader{bytes};
    std::uint64_t mark = 0;
    reader.number(mark);
    if (mark != magic) throw Error("this is not a snapshot of this version");
    long steps_read = 0;
    reader.number(steps_read);
    std::vector<MadeEdit> edits(reader.count(1 + 4 + 3 * 8));
    for (MadeEdit& edit : edits) {
        std::uint8_t action = 0;
        reader.number(action);
        edit.action = action != 0;
        reader.number(edit.index);
        reader.number(edit.at.t);
        reader.vector(edit.at.q);
        reader.vector(edit.at.v);
    }
    EnergyLedger::Snapshot ledger;
    ContactFinder::Frames frames;
    State read;
    StepMemory memory;
    exchange(reader, read, memory, frames, ledger);
    fits(edits, read);
    state = read;
    step.memory = memory;
    steps = steps_read;
    step.finder->set_frames(frames);
    step.ledger.restore(ledger);
}

}  // namespace stickslip
