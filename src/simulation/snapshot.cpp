#include "simulation/snapshot.hpp"

#include <fmt/format.h>

#include <cstring>

#include "collision/finder.hpp"
#include "stickslip/error.hpp"

namespace stickslip {

namespace {

constexpr std::uint64_t magic = 0x35'70'61'6e'73'73'73ull;  // "sssnap5": changes with the layout

class Writer final : public FieldVisitor {
public:
    std::vector<std::uint8_t> written;

private:
    void bytes(void* data, std::size_t size) override {
        const auto* from = static_cast<const std::uint8_t*>(data);
        written.insert(written.end(), from, from + size);
    }
    std::size_t count(std::size_t now, std::size_t) override {
        auto n = static_cast<std::uint64_t>(now);
        bytes(&n, sizeof n);
        return now;
    }
};

class Reader final : public FieldVisitor {
public:
    explicit Reader(const std::vector<std::uint8_t>& bytes) : bytes_(bytes) {}

private:
    void bytes(void* data, std::size_t size) override {
        if (bytes_.size() - at_ < size) throw Error("the snapshot is cut short");
        if (size > 0) std::memcpy(data, bytes_.data() + at_, size);
        at_ += size;
    }
    std::size_t count(std::size_t, std::size_t entry_size) override {
        std::uint64_t n = 0;
        bytes(&n, sizeof n);
        if (n > (bytes_.size() - at_) / entry_size) throw Error("the snapshot is cut short");
        return static_cast<std::size_t>(n);
    }
    const std::vector<std::uint8_t>& bytes_;
    std::size_t at_ = 0;
};

// What a snapshot holds, in one listing for both directions, so that they cannot drift apart.
struct Contents {
    std::uint64_t mark = magic;
    std::vector<char> scheme;  // its name
    long steps = 0;
    std::vector<MadeEdit> edits;
    State state;
    StepMemory memory;
    ContactFinder::Frames frames;
    EnergyLedger::Snapshot ledger;

    // Up to where the memory of the scheme itself begins; `known` is called when it is clear whose snapshot this is.
    template <class Known>
    void fields(FieldVisitor& visit, const Known& known) {
        visit(mark);
        if (mark != magic) throw Error("this is not a snapshot of this version");
        visit(scheme);
        known();
        visit(steps);
        visit(edits);
        visit(state.t);
        visit(state.q);
        visit(state.v);
        memory.fields(visit);
        visit(frames.id);
        visit(frames.tangent);
        visit(ledger);
    }
};

}  // namespace

std::vector<std::uint8_t> write_snapshot(const std::string& scheme, const State& state, Step& step, long steps,
                                         const std::vector<MadeEdit>& edits) {
    Writer writer;
    Contents contents{.scheme = {scheme.begin(), scheme.end()},
                      .steps = steps,
                      .edits = edits,
                      .state = state,
                      .memory = step.memory,
                      .frames = step.finder->frames(),
                      .ledger = step.ledger.snapshot()};
    contents.fields(writer, [] {});
    step.scheme_work->remembered(writer);
    return std::move(writer.written);
}

void read_snapshot(const std::vector<std::uint8_t>& bytes, const std::string& scheme, SchemeWork& trial, State& state,
                   Step& step, long& steps,
                   const std::function<void(const std::vector<MadeEdit>&, const State&)>& fits) {
    Reader reader(bytes);
    Contents contents;
    contents.fields(reader, [&] {
        const std::string other(contents.scheme.begin(), contents.scheme.end());
        if (other != scheme)
            throw Error(
                fmt::format("the snapshot is of scheme '{}', which remembers other things than '{}': a run goes "
                            "on with the scheme it was begun with",
                            other, scheme));
    });
    Reader again = reader;
    trial.remembered(reader);
    fits(contents.edits, contents.state);
    state = contents.state;
    step.memory = contents.memory;
    step.scheme_work->remembered(again);  // its scratch stays: a run that goes back has warmed up already
    steps = contents.steps;
    step.finder->set_frames(contents.frames);
    step.ledger.restore(contents.ledger);
}

}  // namespace stickslip
