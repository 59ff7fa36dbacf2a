// `include`: several files as one scene, whose text in the record is the whole of it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "scene/reader.hpp"
#include "stickslip/load.hpp"

namespace stickslip {
namespace {

using Files = std::map<std::string, std::string>;

// The scene of files["main.yaml"], the others found in memory.
Scene read(const Files& files, const OptionValues& overrides = {}) {
    SceneLimits limits;
    limits.read = [&](const std::string& name) {
        const auto found = files.find(name);
        if (found == files.end()) throw Error("cannot open: no such file", {name, 0, 0});
        return found->second;
    };
    return read_scene_within(files.at("main.yaml"), "main.yaml", overrides, limits);
}

std::string message(const Files& files) {
    try {
        read(files);
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

const std::string ball = "{mass: 1, shapes: [{sphere: 0.1}]}";

TEST(Include, ThingsOfAllFilesMakeOneScene) {
    const Scene scene = read(
        {{"main.yaml", "stickslip: 1\ninclude: [parts/arm.yaml, floor.yaml]\nlet: {n: 2}\nbodies:\n  own: " + ball +
                           "\njoints: {j: {ball: {a: arm-1, b: own, at: [0, 0, 0]}}}\n"},
         {"parts/arm.yaml",
          "include: ../materials.yaml\nbodies: {\"arm-{i}\": {repeat: {i: n}, mass: 2*heavy, inertia: 1}}\n"},
         {"materials.yaml", "let: {heavy: 3}\nmaterials: {ice: {friction: 0}}\n"},
         {"floor.yaml",
          "stickslip: 1\ninclude: materials.yaml\nbodies: {floor: {fixed: true, shapes: "
          "[{half-space: {normal: [0, 0, 1]}, material: ice}]}}\n"}});
    std::vector<std::string> names;
    for (const Scene::Body& body : scene.bodies) names.push_back(body.name);
    EXPECT_EQ(names, (std::vector<std::string>{"arm-1", "arm-2", "floor", "own"}));
    EXPECT_EQ(scene.bodies[1].mass, 6);
    EXPECT_EQ(scene.bodies[0].place.text(), "parts/arm.yaml:2:10");
    EXPECT_EQ(scene.bodies[3].place.text(), "main.yaml:5:3");
    EXPECT_EQ(scene.joints.size(), 1u);
    EXPECT_EQ(scene.materials[0].name, "ice");
}

TEST(Include, ActionsOfAllFilesHappenInTheOrderOfTheirTimes) {
    const Scene scene = read({{"main.yaml", "stickslip: 1\ninclude: arm.yaml\nbodies: {own: " + ball +
                                                "}\nactions: [{at: 1, remove: own}, {at: 3, add: own}]\n"},
                              {"arm.yaml", "bodies: {arm: " + ball +
                                               "}\njoints: {pin: {ball: {a: ground, b: arm, at: [0, 0, 0]}}}\n"
                                               "actions: [{at: 2, cut: pin}]\n"}});
    ASSERT_EQ(scene.actions.size(), 3u);
    EXPECT_EQ(scene.actions[0].place.text(), "main.yaml:4:11");
    EXPECT_EQ(scene.actions[1].place.text(), "arm.yaml:3:11");
    EXPECT_EQ(scene.actions[2].at, 3);
    // What the record keeps of them is one scene that reads the same.
    EXPECT_EQ(read_scene_text(scene.text, "one.yaml").actions.size(), 3u);
}

TEST(Include, OwnSettingsBeatThoseOfIncludedFiles) {
    const Files files = {{"main.yaml",
                          "stickslip: 1\ninclude: base.yaml\nlet: {length: 3*side, side: 2}\n"
                          "run: {step: 1e-4}\ncontacts: {pairs: [{a: ice, b: ice, friction: 0.1}]}\n"},
                         {"base.yaml",
                          "include: deep.yaml\nlet: {length: 1, volume: length^3}\ngravity: [0, 0, -1]\n"
                          "materials: {ice: {}}\nrun: {scheme: {name: euler}, step: 1e-3, end: 2}\n"
                          "contacts: {cone: {polygon: 6}, pairs: [{a: ice, b: default, friction: 0.2}]}\n"},
                         {"deep.yaml", "let: {length: 100}\ngravity: [0, 0, -2]\nplane: xz\ncontacts: {cone: disc}\n"}};
    const Scene scene = read(files);
    std::map<std::string, double> parameters;
    for (const Scene::Parameter& parameter : scene.parameters) parameters[parameter.name] = parameter.value;
    EXPECT_EQ(parameters, (std::map<std::string, double>{{"length", 6}, {"side", 2}, {"volume", 216}}));
    EXPECT_EQ(scene.gravity, Vec3(0, 0, -1));
    EXPECT_EQ(scene.plane, Scene::Plane::xz);
    EXPECT_EQ(scene.run.step->text, "0.0001");
    EXPECT_EQ(scene.run.end, 2);
    EXPECT_EQ(scene.run.scheme.name, "euler");
    EXPECT_EQ(scene.contacts.facets, 6);
    ASSERT_EQ(scene.contacts.pairs.size(), 2u);
    EXPECT_EQ(scene.contacts.pairs[0].place.text(), "base.yaml:6:40");
    // From outside every parameter is within reach, wherever it stands.
    EXPECT_EQ(read(files, {{"side", "1", {}}}).parameters.size(), 3u);
}

TEST(Include, TheOrderOfIncludesDecidesNothing) {
    const std::string a = "include: m.yaml\nlet: {mu: 0.3}\n", b = "include: m.yaml\n", m = "let: {mu: 0.5}\n";
    for (const char* order : {"[a.yaml, b.yaml]", "[b.yaml, a.yaml]", "[m.yaml, b.yaml, a.yaml]", "[a.yaml, m.yaml]"}) {
        const Scene scene = read({{"main.yaml", fmt::format("stickslip: 1\ninclude: {}\n", order)},
                                  {"a.yaml", a},
                                  {"b.yaml", b},
                                  {"m.yaml", m}});
        EXPECT_EQ(scene.parameters.at(0).value, 0.3) << order;
        EXPECT_EQ(message({{"main.yaml", fmt::format("stickslip: 1\ninclude: {}\n", order)},
                           {"a.yaml", a},
                           {"b.yaml", "include: m.yaml\nlet: {mu: 0.4}\n"},
                           {"m.yaml", m}})
                      .empty(),
                  std::string(order).find('b') == std::string::npos)
            << order;
    }
    // The file that includes both may decide.
    EXPECT_EQ(read({{"main.yaml", "stickslip: 1\ninclude: [a.yaml, c.yaml]\nlet: {mu: 1}\n"},
                    {"a.yaml", a},
                    {"c.yaml", "let: {mu: 0.4}\n"},
                    {"m.yaml", m}})
                  .parameters.at(0)
                  .value,
              1);
}

TEST(Include, ErrorsPointIntoTheFileOfTheFault) {
    const std::string main = "stickslip: 1\ninclude: sub/part.yaml\n";
    const std::pair<Files, const char*> cases[] = {
        {{{"main.yaml", main}},
         "main.yaml:2:10: cannot include 'sub/part.yaml' (sub/part.yaml): cannot open: no such file"},
        {{{"main.yaml", main}, {"sub/part.yaml", "bodies:\n  arm: {mass: -1, inertia: 1}\n"}},
         "sub/part.yaml:2:15: expected a number > 0 [kg], found '-1'"},
        {{{"main.yaml", main}, {"sub/part.yaml", "bodeis: {}\n"}},
         "sub/part.yaml:1:1: the included file has no key 'bodeis'"},
        {{{"main.yaml", main}, {"sub/part.yaml", "bodies: [\n"}}, "sub/part.yaml:2:1: not YAML"},
        {{{"main.yaml", main}, {"sub/part.yaml", ""}}, "sub/part.yaml:1:1: the included file is empty"},
        {{{"main.yaml", main}, {"sub/part.yaml", "- 1\n"}}, "sub/part.yaml:1:1: expected a map of keys"},
        {{{"main.yaml", main}, {"sub/part.yaml", "stickslip: 2\n"}}, "sub/part.yaml:1:12: expected 'stickslip: 1'"},
        {{{"main.yaml", main}, {"sub/part.yaml", "include: part.yaml\n"}},
         "sub/part.yaml:1:10: 'part.yaml' includes itself"},
        {{{"main.yaml", main}, {"sub/part.yaml", "include: ../main.yaml\n"}},
         "sub/part.yaml:1:10: '../main.yaml' includes itself, by way of part.yaml"},
        {{{"main.yaml", main}, {"sub/part.yaml", "include: other.yaml\n"}},
         "sub/part.yaml:1:10: cannot include 'other.yaml' (sub/other.yaml): cannot open: no such file"},
        {{{"main.yaml", main + "bodies: {arm: " + ball + "}\n"}, {"sub/part.yaml", "bodies:\n  arm: " + ball + "\n"}},
         "main.yaml:3:10: the body 'arm' is given twice (first in sub/part.yaml:2:3)"},
        {{{"main.yaml", main + "bodies: {arm-1: " + ball + "}\n"},
          {"sub/part.yaml", "bodies:\n  \"arm-{i}\": {repeat: {i: 2}, mass: 1, inertia: 1}\n"}},
         "main.yaml:3:10: the body 'arm-1' is given twice (first in sub/part.yaml:2:3)"},
        {{{"main.yaml", main + "bodies: [1]\n"}, {"sub/part.yaml", "bodies: {arm: " + ball + "}\n"}},
         "main.yaml:3:9: expected a map of bodies, found a list of 1"},
        {{{"main.yaml", "stickslip: 1\ninclude: [a.yaml, b.yaml]\n"},
          {"a.yaml", "gravity: [0, 0, 1]\n"},
          {"b.yaml", "gravity: [0, 0, 2]\n"}},
         "b.yaml:1:1: 'gravity' is given here and in a.yaml:1:1, neither of which includes the other; give it in "
         "main.yaml"},
        {{{"main.yaml", "include: a.yaml\n"}, {"a.yaml", "stickslip: 1\n"}},
         "main.yaml:1:1: the scene needs the key 'stickslip'"},
    };
    for (const auto& [files, expected] : cases)
        EXPECT_EQ(message(files).find(expected), 0u) << "said: " << message(files) << "\nexpected: " << expected;
    // Each file includes the next: refused long before the stack is.
    Files deep;
    for (int i = 0; i < 1000; ++i) deep[fmt::format("f{}.yaml", i)] = fmt::format("include: f{}.yaml\n", i + 1);
    deep["main.yaml"] = "stickslip: 1\ninclude: f0.yaml\n";
    EXPECT_NE(message(deep).find("nested more than 32 deep"), std::string::npos) << message(deep);
    EXPECT_NE(message({{"main.yaml", main}, {"sub/part.yaml", ""}}), "");
    try {
        read({{"main.yaml", "stickslip: 1"}}, {{"include", "x.yaml", {}}});
        ADD_FAILURE() << "--set include was taken";
    } catch (const Error& e) {
        EXPECT_EQ(std::string(e.what()).find("--set include: included files are read before"), 0u) << e.what();
    }
}

TEST(Include, TheTextKeptForTheRecordIsTheWholeSceneAndRunsByItself) {
    const std::string file = std::string(STICKSLIP_TEST_DATA) + "/scenes/every-key.yaml";
    const Model model = load_model(file);
    EXPECT_EQ(model.source.find("# Every key of the format"), 0u);
    EXPECT_NE(model.source.find("# One scene out of frame.yaml, every-key.yaml"), std::string::npos);
    EXPECT_NE(model.source.find("  frame: {"), std::string::npos);
    EXPECT_EQ(model.source.find("include"), std::string::npos);
    // The same bodies in the same order at the same places, and the same bits at the end.
    const std::filesystem::path copy = std::filesystem::path(::testing::TempDir()) / "stickslip-merged.yaml";
    std::ofstream(copy) << model.source;
    Simulation first(load_model(file)), second(load_model(copy.string()));
    EXPECT_EQ(first.run().hash, second.run().hash);
    EXPECT_EQ(second.model().source.find(mechanics_of(first.model().source)), 0u);
    std::filesystem::remove(copy);
}

TEST(Include, WrittenTreesReadBackAsTheyWere) {
    const std::string text =
        "a: {b: [1, \"x: y\", 'it''s', \"new\\nline\", ~, \"~\", \"\", -, \"- x\", \"*a\", null, \"null\"]}\n"
        "\"k: {i}\": \"\\\\ \\\" \\x01 \xc3\xa9\"\nc: []\nd: {}\ne:\nf: plain\n";
    const YamlNode once = parse_yaml(text, "x"), twice = parse_yaml(write_yaml(once), "y");
    EXPECT_EQ(write_yaml(once), write_yaml(twice));
    ASSERT_EQ(once.keys, twice.keys);
    const YamlNode &list = once.children[0].children[0], &again = twice.children[0].children[0];
    ASSERT_EQ(list.children.size(), again.children.size());
    for (std::size_t i = 0; i < list.children.size(); ++i) {
        EXPECT_EQ(list.children[i].kind, again.children[i].kind) << i;
        EXPECT_EQ(list.children[i].text, again.children[i].text) << i;
    }
    EXPECT_EQ(once.children[1].text, twice.children[1].text);
}

}  // namespace
}  // namespace stickslip
