// Broken scenes: each must be refused at exactly the place of the fault, in words that name it; and nothing that
// can stand in a file, however mangled, may do anything but read or throw Error.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "stickslip/load.hpp"
#include "stickslip/scene.hpp"

namespace stickslip {
namespace {

const std::string folder = std::string(STICKSLIP_TEST_DATA) + "/bad_scenes";

struct Bad {
    const char* name;
    int line, column;
    const char* expected;
};

const Bad table[] = {
    {"empty-file", 1, 1, "the scene is empty"},
    {"only-comments", 1, 1, "the scene is empty"},
    {"not-a-map", 1, 1, "expected a map of keys (stickslip, bodies, run, ...), found a list of 2"},
    {"bare-word", 1, 1, "found 'hello'"},
    {"no-version", 1, 1, "the scene needs the key 'stickslip'"},
    {"wrong-version", 1, 12, "expected 'stickslip: 1'"},
    {"unknown-section", 2, 1, "the scene has no key 'bodeis', did you mean 'bodies'?"},
    {"syntax-tab", 3, 1, "not YAML: a tab in the indentation, expected spaces"},
    {"syntax-unclosed-flow", 3, 7, "(no ']' for the '[' in line 2)"},
    {"syntax-bad-indent", 5, 4, "not YAML"},
    {"two-documents", 2, 1, "a second one"},
    {"duplicate-key", 3, 30, "the key 'mass' is given twice (first in line 3)"},
    {"duplicate-body", 5, 3, "the key 'arm' is given twice (first in line 3)"},
    {"map-as-key", 3, 5, "expected a key, found a list of 2"},
    {"alias-inside-itself", 3, 8, "inside what it names"},
    {"unknown-alias", 3, 8, "not YAML"},
    {"ground-defined", 3, 3, "the body 'ground' always exists"},
    {"name-with-dot", 3, 3, "expected a name of letters, digits, - and _ for a body, found 'left.arm'"},
    {"bodies-as-list", 3, 3, "expected a map of bodies"},
    {"body-is-number", 3, 8, "expected a map with keys of body 'arm'"},
    {"body-without-value", 3, 3, "found nothing"},
    {"unknown-body-key", 3, 30, "body 'arm' has no key 'velocty', did you mean 'velocity'?"},
    {"mass-missing", 3, 3, "body 'arm' can move, so it needs 'mass' or 'density'"},
    {"mass-negative", 3, 15, "expected a number > 0 [kg], found '-2'"},
    {"mass-zero", 5, 11, "expected a number > 0 [kg], found '0'"},
    {"mass-nan", 3, 15, "expected a finite number, found '.nan'"},
    {"mass-infinite", 3, 15, "expected a finite number, found 'inf'"},
    {"mass-overflow", 3, 15, "1e999 is beyond what a double can hold"},
    {"mass-with-unit", 3, 15, "found '2 kg'"},
    {"mass-is-list", 3, 15, "expected a number, found a list of 1"},
    {"mass-empty", 4, 5, "expected a number, found nothing"},
    {"mass-and-density", 3, 41, "has both 'mass' and 'density'"},
    {"density-without-shapes", 3, 9, "body 'arm' has a density but no shapes"},
    {"point-mass", 3, 3, "body 'arm' has no shapes, so it needs 'inertia'"},
    {"inertia-negative", 3, 27, "every principal moment > 0"},
    {"inertia-zero", 3, 27, "the inertia must be positive"},
    {"inertia-triangle", 3, 27, "at most the sum of the other two"},
    {"inertia-triangle-products", 5, 14, "at most the sum of the other two"},
    {"inertia-size", 3, 27, "found a list of 2"},
    {"pose-size", 3, 36, "expected a pose: [x, y, z], [x, y, z, qw, qx, qy, qz] or {at, rpy_deg}, found a list of 4"},
    {"pose-quaternion-zero", 3, 46, "must not be zero"},
    {"pose-unknown-key", 3, 52, "a pose has no key 'rpy'"},
    {"vector-with-word", 2, 14, "no parameter 'down'"},
    {"vector-size", 2, 10, "expected a list of 3 numbers [x, y, z], found a list of 2"},
    {"limits-reversed", 6, 77, "the lower limit must be below the upper one, found 1 and -1"},
    {"limits-one-number", 6, 77,
     "expected limits [lower, upper] or {lower: ..., upper: ..., restitution: ...}, found '1'"},
    {"limits-exclude-start", 6, 77, "revolute joint 'j' starts at 0, outside its limits [1, 2]"},
    {"limits-nan", 6, 78, "expected a finite number, found '.nan'"},
    {"motor-no-target", 6, 76, "the motor of revolute joint 'j' needs 'speed' or 'position'"},
    {"motor-two-targets", 6, 87,
     "the motor of revolute joint 'j' has both 'speed' and 'position', expected one of them"},
    {"motor-force-for-torque", 6, 87,
     "the motor of revolute joint 'j' has no key 'max_force', did you mean 'max_torque'?"},
    {"motor-time-constant", 6, 87, "'time_constant' belongs to a 'position'"},
    {"motor-formula", 6, 84, "the formula '1/t' is inf at t = 0"},
    {"joint-friction-negative", 6, 79, "expected a number >= 0 [N m], found '-1'"},
    {"universal-parallel", 6, 78, "the two axes of a universal joint must be at right angles"},
    {"gear-unknown", 7, 32, "no joint 'jj', did you mean 'j'?"},
    {"gear-of-slide", 7, 21, "expected a revolute, cylindrical or screw joint, but 'j' is a prismatic joint"},
    {"gear-ratio-zero", 8, 42, "the ratio must be a finite number other than zero"},
    {"gear-with-itself", 7, 32, "gear joint 'm' couples 'j' with itself"},
    {"cylindrical-plane", 7, 7,
     "a cylindrical joint needs space, the scene is in the plane xz: use revolute or prismatic"},
    {"distance-length-and-limits", 6, 37,
     "distance joint 'j' has a fixed 'length', so nothing can act on it: leave 'length' out"},
    {"distance-outside-limits", 6, 45, "distance joint 'j' is 1 m long at t = 0, outside its limits [0, 0.5]"},
    {"curve-one-point", 6, 66, "a curve needs at least 2 points, got 1"},
    {"curve-elsewhere", 6, 3, "joint 'j' is not closed at t = 0: its points are 1 m apart"},
    {"torsion-spring-on-ball", 8, 31, "a ball joint has no angle or slide for a spring"},
    {"bushing-five", 6, 62, "expected six numbers: along x, y, z [N/m] and about x, y, z [N m/rad], found a list of 5"},
    {"drag-nothing", 6, 13, "drag 's' needs 'linear', 'quadratic' or 'angular'"},
    {"gravity-scalar", 2, 10, "found '-9.81'"},
    {"fixed-moves", 3, 22, "body 'arm' is fixed, it cannot have the key 'velocity'"},
    {"fixed-not-bool", 3, 16, "expected true or false, got 'maybe'"},
    {"shape-unknown", 3, 28, "a shape of body 'arm' has no key 'spere', did you mean 'sphere'?"},
    {"shape-none", 3, 27, "expected one of sphere, box, capsule, half-space"},
    {"shape-two-kinds", 3, 27, "found several"},
    {"shapes-not-list", 3, 26, "expected a list of shapes"},
    {"sphere-radius", 6, 17, "expected a number > 0 [m], found '-0.1'"},
    {"box-edge-zero", 3, 37, "expected a number > 0 [m], found '0'"},
    {"capsule-length-zero", 3, 57, "expected a number > 0 [m], found '0'"},
    {"capsule-no-length", 3, 37, "a capsule needs the key 'length'"},
    {"capsule-is-number", 3, 37, "expected a map with keys of a capsule (radius, length), found '0.5'"},
    {"capsule-unknown-key", 6, 32, "a capsule has no key 'lenght', did you mean 'length'?"},
    {"capsule-off-plane", 6, 56, "the axis of a capsule in the plane xz must lie in the plane or be along y"},
    {"half-space-moves", 3, 39, "body 'arm' must be fixed"},
    {"half-space-normal-zero", 3, 55, "the normal must not be zero"},
    {"half-space-normal-missing", 3, 46, "a half-space needs the key 'normal'"},
    {"material-unknown", 4, 49, "no material 'stel', did you mean 'steel'?"},
    {"friction-negative", 3, 19, "expected a number >= 0 [-]"},
    {"restitution-above-one", 3, 23, "expected a number from 0 to 1, found '1.2'"},
    {"cone-unknown", 2, 18, "no cone 'disk', did you mean 'disc'?"},
    {"cone-without-facets", 2, 18, "{polygon: 8}"},
    {"cone-odd", 2, 28, "even number of facets from 4 to 1000, found 5"},
    {"cone-two", 2, 28, "even number of facets from 4 to 1000, found 2"},
    {"cone-fraction", 2, 28, "expected a whole number"},
    {"pair-unknown-material", 2, 36, "no material 'rubber'"},
    {"pair-twice", 6, 7, "given twice"},
    {"joint-kind", 5, 11, "joint 'hinge' has no kind 'revolut', did you mean 'revolute'?"},
    {"joint-not-nested", 7, 5, "joint 'hinge' has one kind, found 'a' beside 'revolute'"},
    {"joint-body", 5, 32, "no body 'amr', did you mean 'arm'?"},
    {"joint-itself", 5, 29, "joins 'arm' with itself"},
    {"joint-immovable", 4, 32, "neither of which can move"},
    {"joint-no-point", 5, 17, "ball joint 'hinge' needs the key 'at'"},
    {"joint-half-point", 5, 37, "needs both 'at_a' and 'at_b'"},
    {"joint-two-points", 5, 71, "has both 'at' and 'at_a'"},
    {"joint-no-axis", 5, 21, "revolute joint 'hinge' needs the key 'axis'"},
    {"joint-axis-zero", 10, 13, "the axis must not be zero"},
    {"joint-axis-on-ball", 5, 52, "ball joint 'hinge' has no key 'axis'"},
    {"distance-length", 5, 47, "expected a number > 0 [m]"},
    {"spring-stiffness", 5, 48, "expected a number >= 0 [N/m]"},
    {"spring-nothing", 5, 17, "needs 'stiffness' or 'damping'"},
    {"force-kind", 5, 9, "did you mean 'spring'?"},
    {"load-on-ground", 5, 23, "acts on 'ground', which cannot move"},
    {"load-formula-name", 5, 36, "no parameter 'coz', did you mean 'cos'?"},
    {"load-formula-syntax", 5, 39, "issing parenthesis"},
    {"load-formula-infinite", 5, 42, "is inf at t = 0"},
    {"load-components", 5, 35, "expected 3 numbers or formulas of t"},
    {"load-empty", 5, 16, "needs 'force', 'torque' or 'table'"},
    {"load-table-order", 5, 64, "times must increase: 1 after 1"},
    {"load-table-row", 5, 36, "expected a row [t, fx, fy, fz]"},
    {"load-interpolation", 5, 66, "no interpolation 'stepwise'"},
    {"load-window", 5, 55, "'until' must come after 'from'"},
    {"let-name", 3, 3, "expected a parameter's name of letters, digits and _"},
    {"let-reserved", 3, 3, "'t' has a meaning in formulas"},
    {"let-unknown", 3, 6, "no parameter 'bb', did you mean 'b'?"},
    {"let-circle", 5, 6, "parameters need each other in a circle: a -> b -> c -> a"},
    {"let-itself", 2, 10, "parameters need each other in a circle: a -> a"},
    {"let-time", 3, 6, "only formulas of loads, motors and brakes may depend on the time t"},
    {"number-of-time", 3, 15, "only formulas of loads, motors and brakes may depend on the time t"},
    {"number-divided-by-zero", 4, 15, "expected a finite number"},
    {"plane-unknown", 2, 8, "no plane 'zx'"},
    {"plane-velocity", 4, 40, "its y component is 1"},
    {"run-unknown-key", 2, 7, "run has no key 'stepp', did you mean 'step'?"},
    {"run-step-zero", 2, 13, "expected a number > 0 [s]"},
    {"run-end-negative", 2, 12, "expected a number > 0 [s]"},
    {"run-step-twice", 2, 53, "'step' is given in 'run' and in 'scheme'"},
    {"run-policy", 2, 15, "no policy 'certified', did you mean 'certify'?"},
    {"run-scheme-list", 2, 15, "expected the name of a scheme"},
    {"run-option-list", 2, 33, "expected one value for the option 'tol'"},
    {"action-not-list", 12, 3, "expected a list of actions"},
    {"action-no-time", 12, 5, "an action needs the key 'at'"},
    {"action-negative-time", 12, 10, "expected a number >= 0 [s], found '-1'"},
    {"action-no-verb", 12, 5, "an action needs one of add, remove, attach, cut, drive"},
    {"action-two-verbs", 12, 25, "an action does one thing, found 'cut' and 'remove'"},
    {"action-verb", 12, 13, "no key of an action 'ctu', did you mean 'cut'?"},
    {"action-key", 12, 25, "an action has no key 'speed'"},
    {"action-cut-name", 12, 18, "no joint or spring 'hinje', did you mean 'hinge'?"},
    {"action-cut-twice", 12, 18, "'tie' is not there at t = 2 s, so it cannot be cut: it went before"},
    {"action-cut-before-attach", 12, 18, "it is attached later"},
    {"action-remove-name", 12, 21, "no body 'bxo', did you mean 'box'?"},
    {"action-remove-absent", 12, 21, "body 'late' is not there at t = 1 s"},
    {"action-remove-takes-joints", 13, 20, "joint 'hinge' is not there at t = 2 s, so it cannot be driven"},
    {"action-add-present", 12, 18, "body 'box' is there already at t = 1 s"},
    {"action-add-name", 12, 18, "no body 'lat', did you mean 'late'?"},
    {"action-attach-itself", 12, 48, "joins 'arm' with itself"},
    {"action-attach-absent", 12, 48, "joint 'grip' needs body 'late', which is not there at t = 1 s"},
    {"action-attach-twice", 12, 22, "there is a joint 'pin' already at t = 1 s"},
    {"action-attach-kind", 12, 29, "did you mean 'fixed'?"},
    {"action-attach-scalar", 12, 21, "expected a joint as under `joints`"},
    {"action-drive-ball", 12, 20, "joint 'pin' has nothing to drive: it is a ball joint"},
    {"action-drive-nothing", 12, 5, "driving 'hinge' needs one of speed, position, max_torque"},
    {"action-drive-force", 12, 27, "joint 'hinge' turns: expected 'max_torque', found 'max_force'"},
    {"action-drive-both", 12, 37, "has both 'speed' and 'position'"},
    {"run-record-every", 2, 23, "expected a number > 0 [s]"},
    {"include-missing", 2, 10, "cannot include 'no-such-part.yaml'"},
    {"include-missing-in-list", 4, 5, "cannot open: no such file"},
    {"include-itself", 2, 10, "'include-itself.yaml' includes itself"},
    {"include-map", 2, 10, "expected the name of a scene file to include, or a list of names, found a map"},
    {"include-nothing", 2, 1, "expected the name of a scene file to include, or a list of names, found nothing"},
    {"include-folder", 2, 10, "it is a folder, expected a scene file"},
    {"include-clash", 4, 3, "the body 'arm' is given twice (first in "},
    {"include-unknown-key", 2, 1, "the scene has no key 'includes', did you mean 'include'?"},
    {"repeat-number", 3, 21, "expected indices with their ranges, like {i: 10} or {i: 2..n}, found '3'"},
    {"repeat-list", 3, 25, "expected a count or a range like 1..n, found a list of 2"},
    {"repeat-empty", 3, 21, "expected indices with their ranges"},
    {"repeat-two-indices", 3, 28, "'repeat' has one index, 'grid' takes several"},
    {"repeat-and-grid", 3, 35, "body 'arm-{i}' has both 'repeat' and 'grid'"},
    {"repeat-fraction", 3, 25, "expected a whole number, found '2.5'"},
    {"repeat-negative", 3, 25, "expected a count >= 0, found '-2'"},
    {"repeat-backwards", 3, 25, "the range '5..1' runs backwards"},
    {"repeat-half-range", 3, 25, "expected a count or a range like 1..n, found '5..'"},
    {"repeat-unknown", 4, 25, "no parameter 'cuont', did you mean 'count'?"},
    {"repeat-too-many", 4, 25, "asks for more than 1000000 copies"},
    {"repeat-same-name", 3, 3, "two copies would be called 'arm': put every index into the name, like \"arm-{i}\""},
    {"repeat-name-taken", 4, 3, "the body 'arm-2' is given twice (first in "},
    {"repeat-name-fraction", 3, 3, "expected a whole number, found 'i/2' = 0.5 (where i = 1)"},
    {"repeat-name-open", 3, 3, "expected braces in pairs around an index, like link-{i}, found 'arm-{i'"},
    {"repeat-name-nothing", 3, 3, "expected a number or a formula, found ''"},
    {"repeat-name-unknown", 3, 3, "no parameter 'k', did you mean 'i'?"},
    {"repeat-index-is-parameter", 4, 22, "the index 'i' has the name of a parameter"},
    {"repeat-index-reserved", 3, 22, "'t' has a meaning in formulas"},
    {"repeat-index-name", 3, 22, "expected an index's name of letters, digits and _, found '1st'"},
    {"repeat-mass", 3, 35, "expected a number > 0 [kg], found '2 - i' (where i = 2)"},
    {"repeat-key", 3, 29, "body 'arm-1' has no key 'mas', did you mean 'mass'?"},
    {"repeat-joint-body", 5, 53, "no body 'arm-4'"},
    {"repeat-in-material", 3, 3, "found 'ice-{i}' (materials cannot be repeated)"},
    {"repeat-without-kind", 5, 12, "expected joint 'pin-1' as {kind: {...}}"},
    {"name-with-braces", 3, 3, "found 'arm-{i}' (an index needs 'repeat' or 'grid')"},
    {"grid-too-many", 4, 33, "asks for more than 1000000 copies"},
    {"grid-range-uses-later", 3, 27, "no parameter 'j'"},
    {"grid-same-names", 3, 3,
     "two copies would be called 'box-1': put every index into the name, like \"box-{i}-{j}\""},
    {"grid-backwards", 3, 33, "the range '1..1 - i' runs backwards: 1..-1 (where i = 2)"},
    {"grid-nine", 3, 64, "a grid has at most 8 indices"},
};

TEST(BadScenes, AreRefusedAtThePlaceOfTheFault) {
    for (const Bad& bad : table) {
        SCOPED_TRACE(bad.name);
        const std::string file = folder + "/" + bad.name + ".yaml";
        try {
            build_model(read_scene(file));
            ADD_FAILURE() << "was read and built";
        } catch (const Error& e) {
            const std::string what = e.what();
            EXPECT_EQ(e.place().file, file);
            EXPECT_EQ(e.place().line, bad.line) << what;
            EXPECT_EQ(e.place().column, bad.column) << what;
            EXPECT_NE(what.find(bad.expected), std::string::npos) << what << "\n  expected: " << bad.expected;
            EXPECT_EQ(what.find(file + ":" + std::to_string(bad.line) + ":"), 0u) << what;
        }
    }
}

TEST(BadScenes, EveryFileIsInTheTable) {
    std::set<std::string> listed, found;
    for (const Bad& bad : table) listed.insert(bad.name);
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.is_regular_file()) found.insert(entry.path().stem().string());
    EXPECT_EQ(listed, found);
}

std::string refusal(const std::string& file) {
    try {
        read_scene(file);
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

TEST(BadScenes, FilesThatCannotBeOpenedSayWhy) {
    EXPECT_EQ(refusal("no/such/scene.yaml"), "no/such/scene.yaml: cannot open: no such file");
    EXPECT_EQ(refusal(folder), folder + ": cannot open: it is a folder, expected a scene file");
    EXPECT_EQ(refusal(""), "cannot open: no such file");
}

std::string refusal_of_text(const std::string& text) {
    try {
        read_scene_text(text, "x");
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

std::string repeated(const std::string& piece, int n) {
    std::string text;
    for (int i = 0; i < n; ++i) text += piece;
    return text;
}

TEST(BadScenes, BombsAreRefusedQuickly) {
    // Ten levels of ten aliases each: 1e10 values out of 400 bytes.
    std::string bomb = "stickslip: 1\nlet:\n  a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
    for (int level = 1; level <= 10; ++level) {
        const std::string below = "*a" + std::to_string(level - 1);
        const std::string name = "a" + std::to_string(level);
        bomb += "  " + name + ": &" + name + " [" + repeated(below + " , ", 9) + below + " ]\n";
    }
    EXPECT_NE(refusal_of_text(bomb).find("aliases count in full"), std::string::npos) << refusal_of_text(bomb);

    EXPECT_NE(refusal_of_text("stickslip: 1\nlet: " + std::string(100000, '[')).find("nested"), std::string::npos);
    EXPECT_NE(refusal_of_text("stickslip: 1\nlet: " + repeated("{a: ", 100000)), "");
    EXPECT_NE(refusal_of_text(repeated("- ", 100000)), "");
    EXPECT_NE(refusal_of_text("stickslip: 1\ngravity: [0, 0, " + std::string(100000, '(') + "]"), "");
    EXPECT_NE(refusal_of_text("stickslip: 1\ngravity: [0, 0, " + std::string(1500, '(') + "]"), "");
    EXPECT_NE(refusal_of_text("stickslip: 1\ngravity: [0, 0, " + std::string(1500, '-') + "]"), "");
    // Depth gained through aliases: each level nests the one before.
    std::string ladder = "stickslip: 1\nlet:\n  b0: &b0 [1]\n";
    for (int level = 1; level <= 200; ++level)
        ladder += "  b" + std::to_string(level) + ": &b" + std::to_string(level) + " [*b" + std::to_string(level - 1) +
                  " ]\n";
    EXPECT_NE(refusal_of_text(ladder).find("nested more than"), std::string::npos) << refusal_of_text(ladder);
    // A few bytes that name a megabyte, a thousand times.
    std::string heavy = "stickslip: 1\nlet:\n  a0: &a0 " + std::string(1u << 20, '9') + "\n";
    for (int i = 1; i < 1000; ++i) heavy += "  a" + std::to_string(i) + ": *a0\n";
    EXPECT_NE(refusal_of_text(heavy).find("aliases count in full"), std::string::npos) << refusal_of_text(heavy);
    EXPECT_NE(refusal_of_text(std::string(40u << 20, ' ')).find("larger than 32 MB"), std::string::npos);
    EXPECT_NE(
        refusal_of_text(std::string("stickslip: 1\ngravity\0: 1", 24)).find("x:2:8: expected text, found a zero byte"),
        std::string::npos);
    // A device without end is not opened at all.
    if (std::filesystem::exists("/dev/zero")) {
        EXPECT_NE(refusal("/dev/zero").find("is a device"), std::string::npos);
    }
}

std::string contents(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

std::vector<std::filesystem::path> yaml_files() {
    std::vector<std::filesystem::path> files;
    for (const std::string& where : {std::string(STICKSLIP_SCENES), folder})
        for (const auto& entry : std::filesystem::directory_iterator(where))
            if (entry.path().extension() == ".yaml") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

// Reads or throws Error; anything else fails. True if read.
bool survives(const std::string& text) {
    try {
        read_scene_text(text, "mangled.yaml");
        return true;
    } catch (const Error& e) {
        EXPECT_NE(e.what(), std::string());
        // A fault has a place inside the text, at most one past its end.
        const auto lines = 1 + std::count(text.begin(), text.end(), '\n');
        EXPECT_GE(e.place().line, 1) << e.what();
        EXPECT_LE(e.place().line, lines + 1) << e.what();
    } catch (const std::exception& e) {
        ADD_FAILURE() << "not an Error: " << e.what() << " from\n" << text;
    }
    return false;
}

TEST(MangledScenes, EveryTruncationReadsOrIsRefused) {
    int read = 0, refused = 0;
    for (const auto& file : yaml_files()) {
        const std::string text = contents(file);
        for (std::size_t n = 0; n < text.size(); n += 7) ++(survives(text.substr(0, n)) ? read : refused);
    }
    EXPECT_GT(read, 50);  // cut between two bodies a scene is still one
    EXPECT_GT(refused, 50);
}

TEST(MangledScenes, EveryReplacedByteReadsOrIsRefused) {
    // A small generator with a fixed seed: the same bytes every time.
    unsigned state = 12345;
    const auto next = [&] { return (state = state * 1664525u + 1013904223u) >> 8; };
    const std::string bytes = std::string("{}[]:,-#&*!|>'\"%@`\n\t ?~^=\\0e.") + '\x80' + '\xff' + '\x01';
    for (const auto& file : yaml_files()) {
        const std::string text = contents(file);
        if (text.empty()) continue;
        for (int trial = 0; trial < 60; ++trial) {
            std::string mangled = text;
            for (int k = 0; k < 1 + trial % 3; ++k) mangled[next() % mangled.size()] = bytes[next() % bytes.size()];
            survives(mangled);
        }
    }
}

}  // namespace
}  // namespace stickslip
