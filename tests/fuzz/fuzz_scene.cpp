// libFuzzer target: whatever the bytes, the scene reader reads them or throws Error with a place; anything else, a
// report of a sanitizer included, is a bug. The first byte may choose a --set. Included files come from memory, and
// limits are small, since a large scene costs time and finds nothing that a small one would not.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "scene/reader.hpp"

namespace {

const stickslip::SceneLimits& limits() {
    static const stickslip::SceneLimits made{
        [](const std::string& file) -> std::string {
            if (file == "part.yaml") return "let: {w: 2}\nmaterials: {ice: {friction: 0}}\nrun: {end: w}\n";
            if (file == "circle.yaml") return "include: [part.yaml, circle.yaml]\n";
            throw stickslip::Error("cannot open: no such file", {file, 0, 0});
        },
        2000, 500};
    return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const stickslip::OptionValues sets[] = {
        {},
        {{"n", "3", {}}},
        {{"bodies.link-2.mass", "2*i", {}}},
        {{"scheme", "euler", {}}, {"step", "1/64", {}}},
        {{"bodies.box.shapes.0.box.2", "[1]", {}}},
    };
    std::string text(reinterpret_cast<const char*>(data), size);
    std::size_t which = 0;
    // Control characters do not begin a scene, so that the files of the corpus mean themselves.
    if (!text.empty() && text[0] > 0 && text[0] < 5) {
        which = static_cast<std::size_t>(text[0]);
        text.erase(0, 1);
    }
    try {
        stickslip::read_scene_within(text, "fuzz.yaml", sets[which], limits());
    } catch (const stickslip::Error& e) {
        if (e.place().file.empty()) {
            std::fprintf(stderr, "no place: %s\n", e.what());
            std::abort();
        }
    }
    return 0;
}
