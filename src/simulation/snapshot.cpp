#include "simulation/snapshot.hpp"

#include <fmt/format.h>

#include "collision/finder.hpp"
#include "simulation/field_bytes.hpp"
#include "stickslip/error.hpp"

namespace stickslip {

namespace {

constexpr std::uint64_t magic = 0x37'70'61'6e'73'73'73ull;  // "sssnap7": changes with the layout

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
    LoopMemory loop;

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
        loop.substeps.fields(visit);
        visit(loop.inexact_energy);
        visit(loop.growth);
    }
};

}  // namespace

std::vector<std::uint8_t> write_snapshot(const std::string& scheme, const State& state, Step& step, long steps,
                                         const LoopMemory& loop, const std::vector<MadeEdit>& edits) {
    FieldWriter writer;
    Contents contents{.scheme = {scheme.begin(), scheme.end()},
                      .steps = steps,
                      .edits = edits,
                      .state = state,
                      .memory = step.memory,
                      .frames = step.finder->frames(),
                      .ledger = step.ledger.snapshot(),
                      .loop = loop};
    contents.fields(writer, [] {});
    step.scheme_work->remembered(writer);
    return std::move(writer.written);
}

void read_snapshot(const std::vector<std::uint8_t>& bytes, const std::string& scheme, SchemeWork& trial, State& state,
                   Step& step, long& steps, LoopMemory& loop,
                   const std::function<void(const std::vector<MadeEdit>&, const State&)>& fits) {
    FieldReader reader(bytes);
    Contents contents;
    contents.fields(reader, [&] {
        const std::string other(contents.scheme.begin(), contents.scheme.end());
        if (other != scheme)
            throw Error(
                fmt::format("the snapshot is of scheme '{}', which remembers other things than '{}': a run goes "
                            "on with the scheme it was begun with",
                            other, scheme));
    });
    if (!contents.loop.substeps.sound()) throw Error("the snapshot is damaged: its sub-steps make no sense");
    FieldReader again = reader;
    trial.remembered(reader);
    fits(contents.edits, contents.state);
    state = contents.state;
    step.memory = contents.memory;
    step.scheme_work->remembered(again);  // its scratch stays: a run that goes back has warmed up already
    steps = contents.steps;
    loop = contents.loop;
    step.finder->set_frames(contents.frames);
    step.ledger.restore(contents.ledger);
}

}  // namespace stickslip
