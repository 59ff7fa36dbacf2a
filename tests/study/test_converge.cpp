// Studies of models whose order is known: the errors are those of the runs themselves, the order is the scheme's.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "stickslip/load.hpp"
#include "stickslip/study.hpp"
#include "support/xml.hpp"

namespace stickslip {
namespace {

const std::string data = STICKSLIP_TEST_DATA "/reference/";

Study study(const std::string& model, const std::string& scheme, const std::string& steps, OptionValues more = {}) {
    Study study;
    study.model = model;
    study.overrides = {{"run.scheme", scheme, {}}};
    for (OptionValue& value : more) study.overrides.push_back(std::move(value));
    study.values = parse_steps(steps);
    return study;
}

std::string complaint(const Study& study) {
    try {
        converge(study);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

RunSummary run(const Study& s, double h) {
    OptionValues values = s.overrides;
    values.push_back({"run.step", std::to_string(h), {}});
    return Simulation(load_model(s.model, values)).run();
}

TEST(Converge, EulerFallsWithTheStepAndMoreauJeanWithItsSquareInFreeMotion) {
    Study s = study("mechanism:harmonic-constraint", "moreau-jean", "0.02..0.0025", {{"run.end", "1.7", {}}});
    const Convergence table = converge(s);
    EXPECT_EQ(table.reference.kind, "exact");
    EXPECT_NEAR(table.order, 2, 0.05);
    EXPECT_NEAR(table.order_v, 2, 0.05);
    for (std::size_t i = 1; i < table.rows.size(); ++i) {
        EXPECT_NEAR(table.rows[i].ratio, 4, 0.2);
        EXPECT_NEAR(std::log2(table.rows[i].ratio), table.rows[i].order, 1e-12);
    }
    // The error is that of the run.
    const RunSummary alone = run(s, 0.01);
    EXPECT_NEAR(table.rows[1].q, std::abs(alone.q[0] - std::cos(2 * 3.14159265358979323846 * 1.7)), 1e-14);
    EXPECT_EQ(table.rows[1].steps, alone.steps);
    EXPECT_EQ(table.rows[1].solves, alone.solves);
    // The free fall of the first 0.4 s, which explicit Euler gets wrong by exactly g h t / 2.
    Study fall = study("mechanism:bouncing-ball", "euler", "0.02..0.0025", {{"run.end", "0.4", {}}});
    const Convergence first = converge(fall);
    EXPECT_NEAR(first.order, 1, 1e-3);
    for (const StudyRow& row : first.rows) EXPECT_NEAR(row.q, 9.81 * row.value * 0.4 / 2, 1e-12);
}

TEST(Converge, TimesAreReachedExactlyAndTheRowHoldsTheWorst) {
    Study s = study("mechanism:block-stick-slip", "moreau-jean", "0.01,0.005");
    s.at = {0.2, 2, 3.1};
    const Convergence table = converge(s);
    for (const StudyRow& row : table.rows) {
        ASSERT_EQ(row.at.size(), 3u);
        double worst = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            Study alone = s;
            alone.at = {s.at[k]};
            alone.values = {row.value};
            const StudyRow single = converge(alone).rows[0];
            EXPECT_NEAR(row.at[k].q, single.q, 1e-14) << k;
            worst = std::max(worst, row.at[k].q);
        }
        EXPECT_EQ(row.q, worst);
        EXPECT_NEAR(static_cast<double>(row.steps), 3.1 / row.value, 3);  // not the full 10 s
    }
}

TEST(Converge, FileExactAndSelfAgreeOnTheError) {
    Study s = study("mechanism:block-stick-slip", "euler", "2^-7..2^-10", {{"run.end", "2", {}}});
    const Convergence exact = converge(s);
    s.reference = data + "block-stick-slip.json";
    const Convergence file = converge(s);
    s.reference = "self";
    const Convergence self = converge(s);
    EXPECT_EQ(file.reference.compared, std::vector<std::string>{"x"});  // the file has no y
    EXPECT_LT(file.reference.error, 1e-15);
    EXPECT_GT(self.reference.error, 0);
    const double true_error = exact.rows.back().q / 16;  // of the self reference, first order
    EXPECT_LT(self.reference.error, 3 * true_error);
    EXPECT_GT(self.reference.error, true_error / 3);
    for (std::size_t i = 0; i < exact.rows.size(); ++i) {
        EXPECT_NEAR(file.rows[i].q, exact.rows[i].q, 1e-14);
        EXPECT_NEAR(self.rows[i].q, exact.rows[i].q, 3 * true_error);
        EXPECT_FALSE(std::isnan(exact.rows[i].v_weighted));
        EXPECT_FALSE(std::isnan(self.rows[i].v_weighted));
    }
    EXPECT_NEAR(exact.order, 1, 0.2);
}

// A quaternion and its negative are the same attitude: the reference has other signs than the run at some of these times.
TEST(Converge, AttitudesAreComparedUpToSign) {
    Study s = study("mechanism:free-body", "moreau-jean", "0.004,0.002,0.001");
    s.at = {1, 2, 3, 4};
    s.reference = data + "free-body.json";
    const Convergence table = converge(s);
    EXPECT_LT(table.rows.back().q, 1e-2);  // the other sign is 2 away
    EXPECT_TRUE(table.reference.warnings.empty());
    s.at = {1};
    EXPECT_NEAR(converge(s).order, 2, 0.05);
}

TEST(Converge, JointsAreReportedWithTheirNames) {
    const Convergence table = converge(study("mechanism:double-pendulum-wall", "moreau-jean", "0.01,0.005"));
    ASSERT_EQ(table.joint_names.size(), 2u);
    EXPECT_EQ(table.reference.kind, "self");
    for (const StudyRow& row : table.rows) {
        ASSERT_EQ(row.joints.size(), 2u);
        EXPECT_EQ(row.joint_max, std::max(std::abs(row.joints[0]), std::abs(row.joints[1])));
        EXPECT_GT(row.joint_max, 0);
        EXPECT_GE(row.impacts, 5);
        EXPECT_GE(row.events, row.impacts);
    }
}

TEST(Converge, CasesAreChosenByNameAndOtherParametersAreNoticed) {
    Study s =
        study("mechanism:two-carts", "moreau-jean", "0.004,0.002", {{"gamma", "10000", {}}, {"run.end", "2", {}}});
    s.reference = data + "two-carts.json";
    EXPECT_NE(complaint(s).find("delta_1e2, gamma_1e4"), std::string::npos) << complaint(s);
    s.reference_case = "gamma_1e5";
    EXPECT_NE(complaint(s).find("did you mean 'gamma_1e4'"), std::string::npos) << complaint(s);
    s.reference_case = "gamma_1e4";
    const Convergence table = converge(s);
    ASSERT_EQ(table.reference.warnings.size(), 5u);  // delta and the initial state
    EXPECT_NE(table.reference.warnings[0].find("delta"), std::string::npos) << table.reference.warnings[0];
    for (const char* set : {"delta=10", "x1_0=0.2", "x2_0=5.2", "v1_0=-3", "v2_0=-3"}) {
        const std::string text = set;
        s.overrides.push_back({text.substr(0, text.find('=')), text.substr(text.find('=') + 1), {}});
    }
    const Convergence same = converge(s);
    EXPECT_LE(same.reference.warnings.size(), 1u);
    EXPECT_LT(same.rows.back().q, 0.2 * table.rows.back().q);
}

TEST(Converge, RefusedRunsSayWhyAndTheOthersGoOn) {
    // Only the coarsest step ends where the force is no number.
    const std::string scene = ::testing::TempDir() + "one_bad_moment.yaml";
    std::ofstream(scene) << R"yaml(stickslip: 1
bodies: {a: {mass: 1, inertia: 1}}
joints: {s: {prismatic: {a: ground, b: a, at: [0, 0, 0], axis: [0, 0, 1]}}}
forces: {f: {load: {body: a, force: [0, 0, "sin(7*t)/(abs(t - 0.2311) < 1e-6 ? 0 : 1)"]}}}
run: {end: 0.6}
)yaml";
    const Convergence table = converge(study(scene, "moreau-jean", "0.2311,0.04,0.02", {}));
    EXPECT_FALSE(table.finished());
    EXPECT_FALSE(table.rows[0].finished);
    EXPECT_NE(table.rows[0].reason.find("is infinite at t = 0.2311 s"), std::string::npos) << table.rows[0].reason;
    EXPECT_TRUE(std::isnan(table.rows[0].q));
    EXPECT_TRUE(table.rows[1].finished && table.rows[2].finished);
    EXPECT_GT(table.rows[2].q, 0);
    EXPECT_TRUE(std::isnan(table.rows[1].order));  // nothing before it to compare with
    EXPECT_NE(study_text(table).find("is infinite at t = 0.2311 s"), std::string::npos);
    EXPECT_NE(study_json(table).find("\"finished\": false"), std::string::npos);
    EXPECT_EQ(testing::xml_fault(study_svg(table)), "");
}

TEST(Converge, RefusedReferenceLeavesRunsWithoutErrors) {
    Study s = study(STICKSLIP_SCENES "/falling-box.yaml", "moreau-jean", "0.01",
                    {{"solver.tol", "1e-30", {}}, {"run.policy", "certify", {}}});
    const Convergence table = converge(s);
    EXPECT_FALSE(table.reference.known);
    EXPECT_FALSE(table.finished());
    EXPECT_NE(study_text(table).find("the reference run"), std::string::npos) << study_text(table);
    EXPECT_EQ(testing::xml_fault(study_svg(table)), "");
}

TEST(Converge, BadInputIsNamed) {
    EXPECT_NE(complaint(study("mechanism:heavy-top", "euler", "0.1,20")).find("longer"), std::string::npos);
    Study s = study("mechanism:heavy-top", "euler", "0.01");
    s.reference = "exact";
    EXPECT_NE(complaint(s).find("no closed form"), std::string::npos) << complaint(s);
    s.reference = "nowhere.json";
    EXPECT_NE(complaint(s).find("nowhere.json"), std::string::npos) << complaint(s);
    s.reference = "";
    s.reference_case = "A";
    EXPECT_NE(complaint(s).find("--case"), std::string::npos);
    s = study("mechanism:heavy-top", "euler", "0.01", {{"run.step", "1", {}}});
    EXPECT_NE(complaint(s).find("--steps"), std::string::npos);
    s = study("mechanism:heavy-top", "eulr", "0.01");
    EXPECT_NE(complaint(s).find("euler"), std::string::npos) << complaint(s);
    s = study("mechanism:heavy-top", "euler", "0.01");
    s.reference = data + "heavy-top.json";
    s.at = {0.7};
    EXPECT_NE(complaint(s).find("0.5, 1, 2"), std::string::npos) << complaint(s);
    s.at = {7};
    s.overrides.push_back({"run.end", "5", {}});
    EXPECT_NE(complaint(s).find("behind the end"), std::string::npos) << complaint(s);
}

TEST(Converge, BrokenReferenceFilesPointAtTheirPlace) {
    const auto file = std::filesystem::temp_directory_path() / "stickslip-study-reference.json";
    Study s = study("mechanism:pendulum", "moreau-jean", "0.01", {{"run.end", "1", {}}});
    s.reference = file.string();
    for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
             {"", "expected a map"},
             {"[1]", "expected a map"},
             {"{\"reference\": {}}", "states"},
             {"{\"reference\": {\"states\": []}}", "states"},
             {"{\"reference\": {\"states\": [{\"q\": [1, 2]}]}}", "time 't'"},
             {"{\"reference\": {\"states\": [{\"t\": \"soon\"}]}}", "number"},
             {"{\"reference\": {\"states\": [\n {\"t\": 1, \"q\": [1]}]}}", ":2:"},
             {"{\"reference\": {\"states\": [{\"t\": 1, \"q\": [1, \"a\"]}]}}", "number"},
             {"{\"reference\": {\"states\": [{\"t\": 1, \"z\": 3}]}}", "x, y"},
             {"{\"reference\": {\"states\": [{\"t\": 1, \"q\": [1, .nan]}]}}", "number"},
             {"{\"reference\": ", "stickslip-study-reference.json"}}) {
        std::ofstream(file) << text;
        EXPECT_NE(complaint(s).find(expected), std::string::npos) << text << "\n" << complaint(s);
    }
    // Named coordinates with velocities by name.
    std::ofstream(file) << "{\"states\": [{\"t\": 1, \"x\": -0.9862917511318753, \"y\": -0.16501085312554117, "
                           "\"v_y\": 1.7746436411126556}]}";
    const Convergence table = converge(s);
    EXPECT_TRUE(std::isnan(table.reference.error));
    s.reference = "exact";
    const Convergence exact = converge(s);
    EXPECT_NEAR(table.rows[0].q, exact.rows[0].q, 1e-13);
    EXPECT_LE(table.rows[0].v, exact.rows[0].v);  // one of its two entries
    EXPECT_GT(table.rows[0].v, 0);
    std::filesystem::remove(file);
}

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> list;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) list.push_back(line);
    return list;
}

TEST(Converge, TablesAndPicturesAreWellFormed) {
    Study s = study("mechanism:pendulum", "moreau-jean", "0.02..0.005", {{"run.end", "2", {}}});
    s.at = {1, 2};
    const Convergence table = converge(s);
    const std::vector<std::string> csv = lines(study_csv(table));
    ASSERT_EQ(csv.size(), 1 + 3 * 2u);
    for (const std::string& line : csv)
        EXPECT_EQ(std::count(line.begin(), line.end(), ','), std::count(csv[0].begin(), csv[0].end(), ','));
    EXPECT_NE(csv[0].find("joint rod"), std::string::npos);
    EXPECT_EQ(testing::xml_fault(study_svg(table)), "");
    const auto json = nlohmann::json::parse(study_json(table));
    EXPECT_EQ(json["rows"].size(), 3u);
    EXPECT_EQ(json["rows"][0]["at"].size(), 2u);
    EXPECT_DOUBLE_EQ(json["rows"][2]["error"]["q"], table.rows[2].q);
    EXPECT_TRUE(json["rows"][0]["order"]["q"].is_null());
}

TEST(Compare, SchemesShareOneReferenceAndTheirCostsAreCounted) {
    Study s = study("mechanism:heavy-top", "euler", "0.001,0.0005");
    s.overrides.clear();
    s.overrides.push_back({"run.end", "0.5", {}});
    const Comparison table = compare(s, {"euler", "moreau-jean", "moreau-jean:theta=1"});
    ASSERT_EQ(table.schemes.size(), 3u);
    EXPECT_TRUE(table.finished());
    EXPECT_EQ(table.schemes[0].reference.kind, "self");
    EXPECT_NE(table.schemes[0].reference.origin.find("moreau-jean at"), std::string::npos);  // the best of them
    EXPECT_NEAR(table.schemes[1].order, 2, 0.1);
    EXPECT_NEAR(table.schemes[2].order, 1, 0.3);
    EXPECT_EQ(table.schemes[2].label, "moreau-jean:theta=1");
    for (const Convergence& scheme : table.schemes) EXPECT_EQ(scheme.rows[1].steps, 1000);
    EXPECT_EQ(lines(study_csv(table)).size(), 1 + 3 * 2u);
    for (const Cost cost : {Cost::solves, Cost::steps, Cost::wall}) {
        EXPECT_EQ(testing::xml_fault(study_svg(table, cost)), "");
        EXPECT_NE(study_text(table, cost).find("moreau-jean:theta=1"), std::string::npos);
    }
    EXPECT_EQ(nlohmann::json::parse(study_json(table))["schemes"].size(), 3u);
}

// The first decade below linear-implicit-euler's errors lies above all errors of moreau-jean: reached at once, not never.
TEST(Compare, ErrorsReachedByTheCoarsestStepAreToldFromThoseNeverReached) {
    Study s = study("mechanism:heavy-top", "linear-implicit-euler", "0.002,0.001");
    s.overrides.clear();
    s.overrides.push_back({"run.end", "0.5", {}});
    const Comparison table = compare(s, {"linear-implicit-euler", "moreau-jean"});
    const double decade = std::pow(10, std::floor(std::log10(table.schemes[0].rows[0].q)));
    ASSERT_GT(decade, table.schemes[1].rows[0].q);
    const std::string text = study_text(table, Cost::steps);
    EXPECT_NE(text.find("  2.02  <=250 "), std::string::npos) << text;  // the order and the steps of its coarsest row
    EXPECT_NE(text.find("  0.91      -  "), std::string::npos) << text;  // what it does not reach
}

TEST(Compare, WrongSchemesAreNamed) {
    Study s = study("mechanism:heavy-top", "euler", "0.01");
    EXPECT_THROW(compare(s, {}), Error);
    EXPECT_THROW(compare(s, {"euler", "euler"}), Error);
    EXPECT_THROW(compare(s, {"euler", "moreau-jaen"}), Error);
    EXPECT_THROW(compare(s, {"euler:theta"}), Error);
    EXPECT_THROW(compare(s, {"moreau-jean:theta=2"}), Error);
    EXPECT_THROW(compare(s, {"moreau-jean:thetta=1"}), Error);
}

// [Anitescu-Potra, Thm 5.1; Gavrea et al., 8.2]: speeds stay bounded and overlap vanishes as the step does.
TEST(Converge, TellsTheLargestSpeedAndTheSmallestGap) {
    const Convergence table =
        converge(study("mechanism:bouncing-ball", "moreau-jean", "2^-6..2^-9", {{"run.end", "1.5", {}}}));
    for (const StudyRow& row : table.rows) {
        const Study alone = study("mechanism:bouncing-ball", "moreau-jean", "2^-6", {{"run.end", "1.5", {}}});
        OptionValues values = alone.overrides;
        values.push_back({"run.step", "1/" + std::to_string(std::lround(1 / row.value)), {}});
        Simulation simulation(load_model(alone.model, values));
        double speed = 0, gap = 1;
        while (simulation.advance()) {
            speed = std::max(speed, std::abs(simulation.state().v[0]));
            gap = std::min(gap, simulation.state().q[0]);
        }
        EXPECT_EQ(row.speed_max, speed);
        EXPECT_EQ(row.gap_min, gap);
        EXPECT_LT(row.speed_max, std::sqrt(2 * 9.81) + 9.81 * row.value);  // of the fall from 1 m
        EXPECT_GT(row.gap_min, -5 * row.value);
    }
    const auto json = nlohmann::json::parse(study_json(table));
    EXPECT_EQ(json["rows"][1]["speed_max"], table.rows[1].speed_max);
    EXPECT_EQ(json["rows"][1]["gap_min"], table.rows[1].gap_min);
    EXPECT_NE(study_text(table).find("max|v|     min phi"), std::string::npos) << study_text(table);
    EXPECT_NE(study_csv(table).find(",speed_max,gap_min"), std::string::npos);
    // Where nothing can touch there is no gap to tell.
    const Convergence swing = converge(study("mechanism:pendulum", "moreau-jean", "2^-6,2^-7", {{"run.end", "1", {}}}));
    EXPECT_TRUE(std::isnan(swing.rows[0].gap_min));
    EXPECT_EQ(study_text(swing).find("min phi"), std::string::npos);
}

}  // namespace
}  // namespace stickslip
