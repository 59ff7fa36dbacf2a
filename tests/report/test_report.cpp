// The page of every model, and of runs that ended badly: written, well-formed, honest.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "stickslip/load.hpp"
#include "stickslip/report.hpp"
#include "support/models.hpp"
#include "support/xml.hpp"

namespace stickslip {
namespace {

namespace fs = std::filesystem;

class Report : public ::testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "stickslip-report-XXXXXX").string();
        folder_ = mkdtemp(pattern.data());
    }
    void TearDown() override { fs::remove_all(folder_); }

    // Runs a model into the folder and returns the page.
    std::string page_of(Model model, const ReportOptions& options = {}) {
        Simulation simulation(std::move(model));
        const auto recorder = make_hdf5_recorder((folder_ / "run.h5").string());
        simulation.add(*recorder);
        simulation.run();
        return written(options);
    }
    std::string written(const ReportOptions& options = {}) {
        const std::string file = write_report(folder_.string(), "", options);
        EXPECT_EQ(file, (folder_ / "report.html").string());
        std::ifstream in(file);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    std::string scene(const std::string& text) {
        const std::string file = (folder_ / "scene.yaml").string();
        std::ofstream(file) << text;
        return file;
    }
    fs::path folder_;
};

// The first attribute of a picture that holds a number that is none. (std::regex would need a stack as deep as a path is long.)
std::string broken_number(const std::string& html) {
    for (const char* name : {" d=\"", " x=\"", " y=\"", " width=\"", " height=\"", " points=\""}) {
        for (auto at = html.find(name); at != std::string::npos; at = html.find(name, at + 1)) {
            const auto from = at + std::string(name).size();
            const std::string value = html.substr(from, html.find('"', from) - from);
            if (value.find("nan") != std::string::npos || value.find("inf") != std::string::npos) return name + value;
        }
    }
    return "";
}

void expect_sound(const std::string& html, const std::string& what) {
    EXPECT_EQ(testing::xml_fault(html), "") << what;
    EXPECT_EQ(html.find("<script"), std::string::npos) << what;
    EXPECT_EQ(html.find("src="), std::string::npos) << what;
    EXPECT_EQ(html.find("href"), std::string::npos) << what;
    EXPECT_EQ(html.find("url("), std::string::npos) << what;
    // numbers of pictures; words may hold what they like
    EXPECT_EQ(broken_number(html), "") << what;
    EXPECT_LT(html.size(), 2000000u) << what;
}

TEST_F(Report, EveryModelHasAPage) {
    for (const std::string& name : testing::every_model()) {
        Model model = load_model(name, {testing::set("run.end", "0.3")});
        const std::string html = page_of(std::move(model));
        expect_sound(html, name);
        EXPECT_TRUE(html.find("Trusted.") != std::string::npos || html.find("Doubtful:") != std::string::npos) << name;
        for (const char* part :
             {"steps within the tolerance", "Energy of the state", "imbalance", "Residual of the steps", "tolerance",
              "Where the time went", "Trajectories", "Contacts"})
            EXPECT_NE(html.find(part), std::string::npos) << part << " of " << name;
        EXPECT_TRUE(name.starts_with("mechanism:") ||
                    std::regex_search(html, std::regex(">(Side views|Views (from above|along .))<")))
            << name;
    }
}

TEST_F(Report, ContactsAreNamedAndEventsListed) {
    const std::string html = page_of(load_model(std::string(STICKSLIP_SCENES) + "/falling-box.yaml"));
    EXPECT_NE(html.find("floor/box:f0/v1"), std::string::npos);
    EXPECT_NE(html.find("<td>take-off</td>"), std::string::npos);
    EXPECT_NE(html.find("bodies overlap by up to"), std::string::npos);  // the warning of this step size
    EXPECT_NE(html.find("box.z"), std::string::npos);
}

TEST_F(Report, RunsThatDidNotEndWellSaySo) {
    const std::string box = std::string(STICKSLIP_SCENES) + "/falling-box.yaml";
    const std::string refused =
        page_of(load_model(box, {testing::set("solver.tol", "1e-30"), testing::set("run.policy", "certify")}));
    expect_sound(refused, "refused");
    EXPECT_NE(refused.find("Refused."), std::string::npos);
    EXPECT_NE(refused.find("could not be certified"), std::string::npos);
    EXPECT_EQ(refused.find("Trusted."), std::string::npos);

    const std::string budget =
        page_of(load_model(box, {testing::set("solver.tol", "1e-30"), testing::set("run.policy", "budget"),
                                 testing::set("run.end", "0.7")}));
    expect_sound(budget, "budget");
    EXPECT_NE(budget.find("Doubtful:"), std::string::npos);
    EXPECT_NE(budget.find("Steps that were not certified"), std::string::npos);
    EXPECT_NE(budget.find("<td>best point</td>"), std::string::npos);
    EXPECT_EQ(refused.find("Steps that were not certified"), std::string::npos);

    // Killed: rows, but no end.
    {
        Simulation simulation(load_model(box));
        const auto recorder = make_hdf5_recorder((folder_ / "run.h5").string(), 0);
        simulation.add(*recorder);
        for (int i = 0; i < 700; ++i) ASSERT_TRUE(simulation.advance());
        const std::string running = written();
        expect_sound(running, "running");
        EXPECT_NE(running.find("Not ended."), std::string::npos);
        EXPECT_NE(running.find("floor/box"), std::string::npos);
    }
    expect_sound(written(), "not ended by itself");

    // Nothing but the initial state.
    {
        Simulation simulation(load_model(box));
        const auto recorder = make_hdf5_recorder((folder_ / "run.h5").string());
        recorder->begin(simulation.model(), simulation.state(), simulation.step());
        recorder->end({});
        const std::string empty = written();
        expect_sound(empty, "no steps");
        EXPECT_NE(empty.find("No step was taken."), std::string::npos);
    }
    // And not even that.
    expect_sound(report_html(RecordContents{}), "nothing");
    EXPECT_THROW(write_report((folder_ / "missing").string()), Error);
    EXPECT_THROW(write_report(folder_.string(), (folder_ / "no/such/folder.html").string()), Error);
}

TEST_F(Report, HostileNamesAndNumbersStayText) {
    const std::string file = scene(R"(stickslip: 1
bodies:
  floor: {fixed: true, shapes: [{half-space: {normal: [0, 0, 1], offset: 0}}]}
  ball: {pose: [0, 0, 0.3], mass: 1, shapes: [{sphere: 0.1}]}
run: {step: 1e-3, end: 0.3}
# </pre></details><script>alert(1)</script> ]]> -->
)");
    const std::string html = page_of(load_model(file));
    expect_sound(html, "hostile text");
    EXPECT_NE(html.find("&lt;script&gt;alert(1)"), std::string::npos);

    // Scenes allow only letters, digits, - and _ in names; systems made by programs may call themselves anything.
    RecordContents r = read_record(folder_.string());
    const std::string evil = "</text></svg><script>alert('2 & \"3\"')</script>\n";
    for (std::string& name : r.body_names) name = evil + name;
    for (std::string& name : r.coordinate_names) name = evil + name;
    ASSERT_FALSE(r.contact_names.empty());
    for (ContactName& contact : r.contact_names) contact.name = evil;
    for (std::string* text : {&r.model, &r.scheme, &r.solver, &r.policy, &r.scheme_options, &r.version, &r.hash})
        *text = evil;
    r.summary.end = RunEnd::refused;
    r.summary.reason = r.summary.cone = evil;
    r.summary.warnings = {evil};
    const std::string named = report_html(r);
    expect_sound(named, "hostile names");
    EXPECT_NE(named.find("&lt;script&gt;alert(&#39;2"), std::string::npos);

    for (double& x : r.residual) x = infinity;
    r.worst.setConstant(std::nan(""));
    r.q.setConstant(1e308);
    r.v.setConstant(-infinity);
    r.energy.setConstant(std::nan(""));
    r.body_pose.setConstant(infinity);
    r.body_velocity.setConstant(std::nan(""));
    for (Event& e : r.events) e.impulse = std::nan("");
    r.model = "\xff\x01";
    r.body_names.clear();  // names that do not fit the matrices
    r.coordinate_names.resize(40, "<b>");
    expect_sound(report_html(r), "numbers that are none");
}

TEST_F(Report, ChosenTrajectoriesAreDrawnAndWrongNamesAnswered) {
    const std::string chain = std::string(STICKSLIP_SCENES) + "/chain-10.yaml";
    const std::string html = page_of(load_model(chain, {testing::set("run.end", "0.1")}), {{"link-02.z", "link-07"}});
    for (const char* line : {">link-02.z<", ">link-07.x<", ">link-07.z<", ">link-07 turned<"})
        EXPECT_NE(html.find(line), std::string::npos) << line;
    EXPECT_EQ(html.find(">link-10.z<"), std::string::npos);
    try {
        write_report(folder_.string(), "", {{"link-2.z"}});
        FAIL() << "no such coordinate";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("link-02.z"), std::string::npos) << error.what();
    }
}

// Never more than eight lines in a picture, and the page says what it leaves out.
TEST_F(Report, ManyBodiesAndContactsAreCutAndCounted) {
    const std::string html =
        page_of(load_model(std::string(STICKSLIP_SCENES) + "/stack-20.yaml", {testing::set("run.end", "0.5")}));
    EXPECT_NE(html.find("30 of 80 contacts are shown, 50 are left out"), std::string::npos);
    EXPECT_NE(html.find("Nothing moves by more than rounding"), std::string::npos);
    // asked for, what stands still is drawn all the same
    EXPECT_NE(written({{"cube-20.z"}}).find(">cube-20.z<"), std::string::npos);
    const std::string wall = page_of(load_model(std::string(STICKSLIP_SCENES) + "/brick-wall.yaml"));
    EXPECT_NE(wall.find("coordinates that move less are not drawn"), std::string::npos);
    EXPECT_NE(wall.find("class=\"line s7"), std::string::npos);
    EXPECT_EQ(wall.find("class=\"line s8"), std::string::npos);
}

// The pictures of the strip, one string each.
std::vector<std::string> views_of(const std::string& html) {
    std::vector<std::string> views;
    for (auto at = html.find("<svg x="); at != std::string::npos; at = html.find("<svg x=", at + 1))
        views.push_back(html.substr(at, html.find("</text>", at) - at));  // with the title below it
    return views;
}

double time_of(const std::string& view) { return std::stod(view.substr(view.find("t = ") + 4)); }

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
}

// Edits are events but no contacts, and what they take away is gone from the pictures.
TEST_F(Report, ARopeThatIsCutIsNeitherAContactNorDrawnAnyMore) {
    const std::string html = page_of(load_model(std::string(STICKSLIP_SCENES) + "/crane.yaml"));
    for (const char* name : {"rope", "slew"}) {
        EXPECT_NE(html.find(std::string("<td>") + name + "</td>"), std::string::npos) << "event of " << name;
        EXPECT_EQ(html.find(std::string(">") + name + "</text>"), std::string::npos) << "row of " << name;
    }
    EXPECT_NE(html.find(">rope upper limit</text>"), std::string::npos);
    const std::vector<std::string> views = views_of(html);
    ASSERT_GE(views.size(), 4u);
    for (const std::string& view : views)  // the edge of the floor, and the rope
        EXPECT_EQ(count(view, "class=\"line frame\""), time_of(view) < 0.45 ? 2u : 1u) << time_of(view);
}

TEST_F(Report, BodiesAreDrawnWhileTheyAreThereAndJointsFromWhereTheyWereAttached) {
    const std::string html = page_of(load_model(scene(R"(stickslip: 1
gravity: [0, 0, -1]
bodies:
  a: {pose: [0, 0, 2], mass: 1, velocity: [1, 0, 0], shapes: [{box: [0.2, 0.2, 0.2]}]}
  b: {pose: [0, 0, 1], mass: 1, present: false, shapes: [{sphere: 0.1}]}
actions:
  - {at: 0.25, add: b}
  - {at: 0.5, attach: {string: {distance: {a: ground, at_a: [0, 0, 3], b: a, at_b: [0, 0, 0]}}}}
  - {at: 0.75, remove: b}
run: {step: 1e-2, end: 1}
)")));
    const std::vector<std::string> views = views_of(html);
    ASSERT_GE(views.size(), 6u);
    int with = 0;
    for (const std::string& view : views) {
        const double t = time_of(view);
        const bool ball = t >= 0.25 && t < 0.75, string = t >= 0.5;
        EXPECT_EQ(count(view, "<circle"), ball ? 1u : 0u) << t;
        EXPECT_EQ(count(view, "class=\"line frame\""), string ? 1u : 0u) << t;
        EXPECT_EQ(count(view, "class=\"s0 f0 see\""), 1u) << t;
        with += ball && string ? 1 : 0;
    }
    EXPECT_GT(with, 0);
}

// What rounding left of a zero is a zero on the page.
TEST_F(Report, NoiseOfTheLastDigitsIsNotShownAsMotionWorkOrSpeed) {
    const std::string wedge = page_of(load_model(std::string(STICKSLIP_SCENES) + "/wedge.yaml"));
    EXPECT_NE(wedge.find("Nothing moves"), std::string::npos);
    EXPECT_NE(wedge.find("No work is done"), std::string::npos);
    EXPECT_EQ(wedge.find("Velocities"), std::string::npos);
    const std::string crane = page_of(load_model(std::string(STICKSLIP_SCENES) + "/crane.yaml"));
    EXPECT_FALSE(std::regex_search(crane, std::regex("<td class=\"number\">[-0-9.]+e-(1[4-9]|[2-9][0-9])</td>")));
    EXPECT_NE(crane.find("<td class=\"number\">-4.13</td>"), std::string::npos);  // of the crate, falling 0.87 m
}

// Velocities are those that converge, at their own times; v is drawn behind them only where one sees that it is elsewhere.
TEST_F(Report, VelocitiesAreTheWeightedOnesAndSwingingOnesStandBehind) {
    const std::string html = page_of(load_model("mechanism:bouncing-ball"));
    EXPECT_NE(html.find("v_weighted at t_weighted"), std::string::npos);
    EXPECT_EQ(html.find("Pale:"), std::string::npos) << "impacts alone do not part the two";
    EXPECT_NE(html.find("of v_weighted"), std::string::npos);

    RecordContents r = read_record(folder_.string());
    const RecordContents sound = r;
    for (Eigen::Index k = 0; k < r.v.cols(); ++k) r.v(0, k) = k % 2 == 0 ? 10 : -10;
    const std::string swinging = report_html(r);
    expect_sound(swinging, "swinging");
    EXPECT_NE(swinging.find("Pale:"), std::string::npos);
    EXPECT_NE(swinging.find(">z: v<"), std::string::npos);
    r = sound;
    for (Eigen::Index k = 500; k < 510; ++k) r.v(0, k) += k % 2 == 0 ? 1e-3 : -1e-3;  // a fiftieth of a pixel
    EXPECT_EQ(report_html(r).find("Pale:"), std::string::npos);
    r.v(0, 505) += 1;
    EXPECT_NE(report_html(r).find("Pale:"), std::string::npos);

    // The line is v_weighted and not v: with v at zero it stays where it was.
    const auto lines = [](const std::string& page) {
        std::vector<std::string> paths;
        const std::string mark = "class=\"line s0\" d=\"";
        for (auto at = page.find(mark); at != std::string::npos; at = page.find(mark, at + 1))
            paths.push_back(page.substr(at, page.find('"', at + mark.size()) - at));
        return paths;
    };
    r = sound;
    r.v *= 0.999;
    EXPECT_GE(lines(html).size(), 2u);
    EXPECT_EQ(lines(html), lines(report_html(r)));

    // Records without the times of v_weighted show v, as they did.
    r = sound;
    r.t_weighted.clear();
    const std::string old = report_html(r);
    expect_sound(old, "without t_weighted");
    EXPECT_EQ(old.find("v_weighted at"), std::string::npos);
    EXPECT_NE(old.find("Velocities"), std::string::npos);

    // Implicit Euler ends its steps at the velocity that converges: nothing to explain.
    const std::string euler = page_of(load_model("mechanism:bouncing-ball", {testing::set("run.scheme", "euler")}));
    EXPECT_EQ(euler.find("v_weighted at"), std::string::npos);
    EXPECT_NE(euler.find("Velocities"), std::string::npos);
}

// Bodies in space: their coordinates in q stand elsewhere than their velocities in v.
TEST_F(Report, VelocitiesOfBodiesInSpaceAreTheirOwn) {
    page_of(load_model(std::string(STICKSLIP_SCENES) + "/chain-10.yaml", {testing::set("run.end", "0.2")}));
    RecordContents r = read_record(folder_.string());
    const auto body = std::find(r.body_names.begin(), r.body_names.end(), "link-07") - r.body_names.begin();
    const ReportOptions wanted{{"link-07.x", "link-07.z"}};
    EXPECT_EQ(report_html(r, wanted).find("Pale:"), std::string::npos);
    // With v as the bodies move, and v_weighted = v, the page is the same whichever row of v it takes: so compare with a body's.
    for (const Eigen::Index axis : {0, 2}) {
        const std::string name = std::string("link-07.") + "xyz"[axis];
        const auto place = std::find(r.coordinate_names.begin(), r.coordinate_names.end(), name);
        const auto row = static_cast<Eigen::Index>(place - r.coordinate_names.begin());
        bool found = false;
        for (Eigen::Index j = 0; j < r.v.rows() && !found; ++j)
            if (j / 6 == row / 7 && j % 6 == row % 7) found = r.v.row(j) == r.body_velocity.row(6 * body + axis);
        EXPECT_TRUE(found) << name;
    }
    const Eigen::Index at =
        std::find(r.coordinate_names.begin(), r.coordinate_names.end(), "link-07.x") - r.coordinate_names.begin();
    r.v.row(at / 7 * 6).setConstant(50);
    EXPECT_NE(report_html(r, wanted).find(">link-07.x: v<"), std::string::npos);
}

// The page of an old run has the verdict that the run printed: reasons in whole, and remarks.
TEST_F(Report, TheWholeVerdictIsReadBack) {
    Simulation simulation(
        load_model(std::string(STICKSLIP_SCENES) + "/sliding-box.yaml", {testing::set("run.end", "0.1")}));
    const auto recorder = make_hdf5_recorder((folder_ / "run.h5").string());
    simulation.add(*recorder);
    const Verdict printed = simulation.run().verdict;
    ASSERT_EQ(printed.remarks.size(), 1u);
    const Verdict read = read_record(folder_.string()).summary.verdict;
    EXPECT_EQ(read.status, Trust::trusted);
    EXPECT_EQ(read.remarks, printed.remarks);
    EXPECT_NE(written().find("Remark: the forces of 4 contacts"), std::string::npos);

    const std::string doubtful = page_of(load_model("mechanism:kane-pendulum"));
    const Verdict doubts = read_record(folder_.string()).summary.verdict;
    EXPECT_EQ(doubts.status, Trust::doubtful);
    ASSERT_EQ(doubts.grounds.size(), 1u);
    EXPECT_EQ(doubts.grounds[0].kind, "impact-energy");
    EXPECT_GT(doubts.grounds[0].value, doubts.grounds[0].limit);
    EXPECT_NE(doubtful.find("impacts made"), std::string::npos);
}

// Numbers that say something are told: those of the summary that are not zero.
TEST_F(Report, GainsBoundsAndUnlocatedEventsAreToldWhenThereAreAny) {
    const std::string html = page_of(load_model("mechanism:pendulum", {testing::set("run.end", "0.1")}));
    for (const char* words : {"impacts made energy", "energy bound", "events not located"})
        EXPECT_EQ(html.find(words), std::string::npos) << words;
    RecordContents r = read_record(folder_.string());
    r.summary.impact_gains.count = 3;
    r.summary.impact_gains.energy = 0.25;
    r.summary.energy_bound_violations = 1;
    r.summary.unlocated_events = 17;
    const std::string told = report_html(r);
    for (const char* words : {"0.25 J in 3 steps", "broken 1 time:", "events not located", ">17<"})
        EXPECT_NE(told.find(words), std::string::npos) << words;
}

TEST_F(Report, ChangesOfMethodStandWithTheirReasonAndAreNoContacts) {
    page_of(load_model("mechanism:pendulum", {testing::set("run.end", "0.1")}));
    RecordContents r = read_record(folder_.string());
    Event change;
    change.t = 0.05;
    change.kind = EventKind::method_switch;
    change.contact = no_contact;
    change.reason = SwitchReason::friction;
    r.events.push_back(change);
    r.summary.switches[static_cast<int>(SwitchReason::friction)] = 1;
    const std::string alone = report_html(r);
    expect_sound(alone, "a change of method");
    EXPECT_NE(alone.find("<td>method-switch (friction)</td>"), std::string::npos);
    EXPECT_NE(alone.find("No two bodies came near each other"), std::string::npos);
    EXPECT_EQ(alone.find("ffffffff"), std::string::npos);
    EXPECT_NE(alone.find("1 friction"), std::string::npos);
    // An edge is an event of the contact that takes over.
    r.events.push_back({.t = 0.06,
                        .kind = EventKind::edge,
                        .contact = {.a = 3, .b = 4, .feature = {0, 5}},
                        .before = ContactMode::slip,
                        .after = ContactMode::slip});
    const std::string both = report_html(r);
    expect_sound(both, "an edge");
    EXPECT_NE(both.find("<td>edge</td>"), std::string::npos);
    EXPECT_EQ(both.find("No two bodies came near each other"), std::string::npos);
}

// A slope of 25 degrees in the picture is a slope of 25 degrees, and the box lies on it.
TEST_F(Report, SideViewsShowShapesWhereTheyAre) {
    const std::string html = page_of(load_model(std::string(STICKSLIP_SCENES) + "/box-on-incline.yaml",
                                                {testing::set("angle", "20"), testing::set("run.end", "0.1")}));
    const std::regex edge("class=\"line frame\" d=\"M([-0-9.]+) ([-0-9.]+)L([-0-9.]+) ([-0-9.]+)\"");
    std::smatch m;
    ASSERT_TRUE(std::regex_search(html, m, edge));
    const double dx = std::stod(m[3]) - std::stod(m[1]), dy = std::stod(m[4]) - std::stod(m[2]);
    EXPECT_NEAR(std::abs(dy / dx), std::tan(20 * 3.14159265358979 / 180), 2e-3);  // --set is applied again
    // The lowest corners of the box lie on the line, to the tenth of a pixel that is written.
    const std::regex box("class=\"s0 f0 see\" d=\"M([^z]*)z\"");
    ASSERT_TRUE(std::regex_search(html, m, box));
    std::string corners = m[1];
    std::smatch edge_match;
    std::regex_search(html, edge_match, edge);
    const double x0 = std::stod(edge_match[1]), y0 = std::stod(edge_match[2]), length = std::hypot(dx, dy);
    int touching = 0;
    const std::regex pair("([-0-9.]+) ([-0-9.]+)");
    for (std::sregex_iterator i(corners.begin(), corners.end(), pair), end; i != end; ++i) {
        const double away = ((std::stod((*i)[1]) - x0) * dy - (std::stod((*i)[2]) - y0) * dx) / length;
        touching += std::abs(away) < 0.2 ? 1 : 0;
    }
    EXPECT_EQ(touching, 2);
}

}  // namespace
}  // namespace stickslip
