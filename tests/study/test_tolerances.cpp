// Studies over tolerances, and performance profiles.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "stickslip/load.hpp"
#include "stickslip/study.hpp"
#include "support/xml.hpp"

namespace stickslip {
namespace {

Study study(const std::string& model, const std::string& tols, OptionValues overrides = {}) {
    Study study;
    study.model = model;
    study.overrides = std::move(overrides);
    study.setting = "scheme.tol";
    study.values = parse_steps(tols);
    return study;
}

std::string complaint(const std::function<void()>& act) {
    try {
        act();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

std::vector<std::vector<std::string>> cells(const std::string& csv) {
    std::vector<std::vector<std::string>> rows;
    std::istringstream in(csv);
    for (std::string line; std::getline(in, line);) {
        rows.emplace_back();
        std::istringstream words(line + ",");
        for (std::string word; std::getline(words, word, ',');) rows.back().push_back(word);
    }
    return rows;
}

TEST(Tolerances, AreDecadesOrWhatIsSaid) {
    EXPECT_EQ(parse_steps("1e-2..1e-10").size(), 9u);
    const std::vector<double> every_second = parse_steps("1e-2../100..1e-10");
    ASSERT_EQ(every_second.size(), 5u);
    EXPECT_NEAR(every_second[1], 1e-4, 1e-19);
    EXPECT_EQ(every_second.back(), 1e-10);
}

// The rod of the pendulum is 1 m long, its row (x^2 + y^2 - 1)/2 and the speed of that x u + y v: the largest of them over the
// ends of all steps, by hand.
TEST(Tolerances, TheTableHoldsWhatTheRunsDid) {
    Study s = study("mechanism:pendulum", "1e-3,1e-4,1e-5", {{"run.end", "2", {}}});
    s.at = {1, 2};  // in two pieces
    const Convergence table = converge(s);
    EXPECT_TRUE(table.finished());
    for (const StudyRow& row : table.rows) {
        Simulation run(
            load_model("mechanism:pendulum", {{"run.end", "1", {}}, {"scheme.tol", std::to_string(row.value), {}}}));
        double g = 0, dg = 0;
        const auto advance = [&](Simulation& simulation) {
            while (simulation.advance()) {
                const VecX &q = simulation.state().q, &v = simulation.state().v;
                g = std::max(g, std::abs(q.squaredNorm() - 1) / 2);
                dg = std::max(dg, std::abs(q.dot(v)));
            }
        };
        advance(run);
        Simulation rest(
            load_model("mechanism:pendulum", {{"run.end", "2", {}}, {"scheme.tol", std::to_string(row.value), {}}}));
        rest.restore(run.snapshot());
        advance(rest);
        ASSERT_EQ(row.drift_g.size(), 1u);
        EXPECT_NEAR(row.drift_g[0], g, 1e-13);
        EXPECT_NEAR(row.drift_dg[0], dg, 1e-13);
        EXPECT_EQ(row.drift_g_max, row.drift_g[0]);
        EXPECT_EQ(row.drift_dg_max, row.drift_dg[0]);
        EXPECT_GT(row.drift_g_max, 0);
        EXPECT_GE(row.drift_g_max, row.joint_max);
        EXPECT_NEAR(row.step_mean * static_cast<double>(row.steps), 2, 1e-9);
        EXPECT_GT(row.wall_s, 0);
    }
    EXPECT_LT(table.rows[2].q, table.rows[0].q);
    EXPECT_GT(table.rows[2].steps, 3 * table.rows[0].steps);
    EXPECT_GT(table.order, 0.2);

    const std::string text = study_text(table);
    for (const char* word : {"tol", "h mean", "accepted", "rejected", "max|g|", "max|dg/dt|", "|dq|", "power of tol"})
        EXPECT_NE(text.find(word), std::string::npos) << word << "\n" << text;
    EXPECT_EQ(testing::xml_fault(study_svg(table)), "");
    const auto json = nlohmann::json::parse(study_json(table));
    EXPECT_EQ(json["rows"][1]["tol"], table.rows[1].value);
    EXPECT_EQ(json["rows"][1]["drift_g"][0], table.rows[1].drift_g[0]);
    EXPECT_EQ(json["rows"][1]["drift_dg"][0], table.rows[1].drift_dg[0]);
    const auto csv = cells(study_csv(table));
    ASSERT_EQ(csv.size(), 1 + 3 * 2u);
    for (const auto& row : csv) EXPECT_EQ(row.size(), csv[0].size());
    const auto column = std::find(csv[0].begin(), csv[0].end(), "drift_dg rod") - csv[0].begin();
    ASSERT_LT(column, static_cast<long>(csv[0].size()));
    EXPECT_EQ(std::stod(csv[2][column]), table.rows[0].drift_dg[0]);
}

TEST(Tolerances, SchemesAreComparedByTheErrorTheyReach) {
    const Comparison table = compare(study("mechanism:pendulum", "1e-3,1e-4", {{"run.end", "1", {}}}),
                                     {"moreau-jean", "moreau-jean:theta=1:stabilisation=1"});
    EXPECT_TRUE(table.finished());
    const std::string text = study_text(table, Cost::steps);
    for (const char* word : {"accepted", "rejected", "max|dg/dt|", "steps to reach an error of q", "stabilisation=1"})
        EXPECT_NE(text.find(word), std::string::npos) << word << "\n" << text;
    for (const Cost cost : {Cost::solves, Cost::steps, Cost::wall})
        EXPECT_EQ(testing::xml_fault(study_svg(table, cost)), "");
    const auto csv = cells(study_csv(table));
    for (const auto& row : csv) EXPECT_EQ(row.size(), csv[0].size());
}

TEST(Tolerances, WrongInputIsNamed) {
    EXPECT_NE(complaint([] {
                  converge(study("mechanism:pendulum", "1e-3", {{"run.scheme", "euler", {}}}));
              }).find("moreau-jean"),
              std::string::npos);
    EXPECT_NE(complaint([] {
                  converge(study("mechanism:pendulum", "1e-3", {{"scheme.tol", "1", {}}}));
              }).find("--tols"),
              std::string::npos);
    EXPECT_NE(complaint([] { compare(study("mechanism:pendulum", "1e-3"), {"moreau-jean:tol=1"}); }).find("--tols"),
              std::string::npos);
    EXPECT_NE(complaint([] {
                  compare(study("mechanism:pendulum", "1e-3"), {"moreau-jean", "euler"});
              }).find("euler"),
              std::string::npos);
    EXPECT_THROW(converge(study("mechanism:pendulum", "1e-3", {{"solver.tlo", "1", {}}})), Error);
}

TEST(Reference, NoneMeansRunsWithoutErrors) {
    Study s = study("mechanism:pendulum", "1e-3,1e-4", {{"run.end", "1", {}}});
    s.reference = "none";
    const Convergence table = converge(s);
    EXPECT_TRUE(table.finished());
    for (const StudyRow& row : table.rows) {
        EXPECT_TRUE(std::isnan(row.q));
        EXPECT_GT(row.steps, 0);
    }
    EXPECT_EQ(testing::xml_fault(study_svg(table)), "");
    EXPECT_NE(study_text(table).find("none"), std::string::npos);
}

// Two schemes, four problems with costs chosen by hand:   a  10  30  -  -      b  20  10  5  -
// so that r_a = 1, 3, inf, inf and r_b = 2, 1, 1, inf.
std::vector<Comparison> four_problems() {
    std::vector<Comparison> models;
    const long a[] = {10, 30, 0, 0}, b[] = {20, 10, 5, 0};
    for (std::size_t p = 0; p < 4; ++p) {
        Comparison& model = models.emplace_back();
        for (const long* costs : {a, b}) {
            Convergence& scheme = model.schemes.emplace_back();
            scheme.model = "problem " + std::to_string(p);
            scheme.label = costs == a ? "a" : "b";
            scheme.setting = "scheme.tol";
            StudyRow& row = scheme.rows.emplace_back();
            row.value = 1e-4;
            row.finished = costs[p] > 0;
            if (!row.finished) row.reason = "it broke";
            row.solves = costs[p];
            row.steps = 100 - costs[p];
            row.q = costs == a ? 1e-3 : 1e-5;
        }
    }
    return models;
}

TEST(Profile, SharesAreThoseCountedByHand) {
    const std::vector<Comparison> models = four_problems();
    const PerformanceProfile profile = performance_profile(models, Cost::solves, infinity);
    ASSERT_EQ(profile.schemes, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(profile.ratios[0], (std::vector<double>{1, 3, infinity, infinity}));
    EXPECT_EQ(profile.ratios[1], (std::vector<double>{2, 1, 1, infinity}));
    const double taus[] = {0.99, 1, 1.99, 2, 2.99, 3, 1e300, infinity};
    const double rho_a[] = {0, 0.25, 0.25, 0.25, 0.25, 0.5, 0.5, 0.5},
                 rho_b[] = {0, 0.5, 0.5, 0.75, 0.75, 0.75, 0.75, 0.75};
    for (std::size_t i = 0; i < 8; ++i) {
        EXPECT_EQ(profile.rho(0, taus[i]), rho_a[i]) << taus[i];
        EXPECT_EQ(profile.rho(1, taus[i]), rho_b[i]) << taus[i];
    }
    EXPECT_FALSE(profile.solved());  // the last one by nobody
    EXPECT_NE(study_text(profile).find("it broke"), std::string::npos);
    EXPECT_EQ(testing::xml_fault(study_svg(profile)), "");
    const auto json = nlohmann::json::parse(study_json(profile, models));
    EXPECT_EQ(json["schemes"][0]["rho"]["1"], 0.25);
    EXPECT_EQ(json["schemes"][1]["rho"]["2"], 0.75);
    EXPECT_EQ(json["schemes"][1]["rho"]["inf"], 0.75);
    EXPECT_TRUE(json["schemes"][0]["ratios"][2].is_null());
    EXPECT_EQ(json["models"].size(), 4u);
    const auto csv = cells(study_csv(profile));
    ASSERT_EQ(csv.size(), 1 + 8u);
    EXPECT_EQ(csv[2][7], "3");
    // Another cost, another order: 90 and 70 steps are the dearer ones now.
    const PerformanceProfile steps = performance_profile(models, Cost::steps, infinity);
    EXPECT_EQ(steps.ratios[0][0], 90.0 / 80);
    EXPECT_EQ(steps.ratios[1][0], 1);
}

TEST(Profile, OnlyRunsThatAreExactEnoughAreSolved) {
    const PerformanceProfile profile = performance_profile(four_problems(), Cost::solves, 1e-4);
    EXPECT_EQ(profile.rho(0, infinity), 0);
    EXPECT_EQ(profile.ratios[1], (std::vector<double>{1, 1, 1, infinity}));
    EXPECT_NE(profile.reasons[0][0].find("1.00e-03"), std::string::npos) << profile.reasons[0][0];
    std::vector<Comparison> unknown = four_problems();
    for (Comparison& model : unknown) model.schemes[1].rows[0].q = std::nan("");
    EXPECT_EQ(performance_profile(unknown, Cost::solves, 1e-4).rho(1, infinity), 0);
    EXPECT_EQ(performance_profile(unknown, Cost::solves, infinity).rho(1, infinity), 0.75);
    EXPECT_EQ(testing::xml_fault(study_svg(performance_profile(unknown, Cost::solves, 1e-9))), "");
}

TEST(Profile, NeedsTheSameSchemesEverywhere) {
    EXPECT_THROW(performance_profile({}, Cost::solves, infinity), Error);
    std::vector<Comparison> models = four_problems();
    models[2].schemes[1].label = "c";
    EXPECT_THROW(performance_profile(models, Cost::solves, infinity), Error);
    models[2].schemes.pop_back();
    EXPECT_THROW(performance_profile(models, Cost::solves, infinity), Error);
}

}  // namespace
}  // namespace stickslip
