// The mechanisms, one line each.
#include "mechanisms/benchmarks.hpp"
#include "mechanisms/mechanisms.hpp"

namespace stickslip {

namespace {

template <class Parameters>
MechanismEntry entry(const char* paper, const char* summary) {
    return {Parameters::name, paper, summary, list_fields<Parameters>, build_mechanism<Parameters>};
}

}  // namespace

const std::vector<MechanismEntry>& mechanisms() {
    static const std::vector<MechanismEntry> table{
        entry<BlockStickSlip>("Potra et al. 2006, 10.2; Gavrea et al. 2008, 9.2",
                              "block on a table under a periodic push"),
        entry<BouncingBall>("Lacoursiere & Linde 2011, 17.2", "ball dropped on the floor"),
        entry<ImpactOscillator>("Janin & Lamarque 2001; Haddouni 2015, 2.1.1.2", "driven oscillator before a stop"),
        entry<ClosingWalls>("Potra et al. 2006, 7.1",
                            "ball between walls that close on it, whose impacts accumulate with growing speed"),
        entry<Pendulum>("Lacoursiere & Linde 2011, 17.1", "point mass on a rod, Cartesian coordinates"),
        entry<DoublePendulumWall>("Potra et al. 2006, 10.1",
                                  "double pendulum that strikes a wall, Cartesian coordinates"),
        entry<TwoCarts>("Potra et al. 2006, 10.3", "two carts with friction, spring, stiff damper and a stopper"),
        entry<KanePendulum>("Kane 1984",
                            "double pendulum that strikes a rough floor, where impact laws may gain energy"),
        entry<PainleveRod>("Painleve 1895", "rod sliding on its tip where friction admits no contact force, or two"),
        entry<FourBar>("Haddouni 2015, 3.1.1", "closed loop of three bars driven by a constant torque, angles"),
        entry<ThreeBallChain>("Haddouni 2015, 4.3.1", "three balls dropped on the floor, whose impacts accumulate"),
        entry<SliderCrankClearance>("Flores, Leine & Glocker 2010; Haddouni 2015, 4.3.2",
                                    "slider-crank whose slider has play in its guide, angles"),
        entry<HarmonicConstraint>("Lacoursiere & Linde 2011, 9", "oscillator as a regularised constraint"),
        entry<JointFlipflop>("Gavrea et al. 2008, 9.1", "joint with an inconsistent initial velocity"),
        entry<FreeBody>("Euler 1758", "body without torque that turns over about its middle axis, quaternion"),
        entry<HeavyTop>("Lagrange 1788", "symmetric top under gravity, quaternion"),
        entry<RollingDisc>("Routh 1884", "thin disc that rolls without slip, nonholonomic, quaternion"),
        entry<SliderCrank>("Haddouni 2015, 3.1.2", "slider-crank of rigid bars, angles"),
        entry<FlexibleSliderCrank>("Simeon 1996; Haddouni 2015, 3.1.3",
                                   "driven slider-crank with an elastic rod, stiff"),
        entry<AndrewsSqueezer>("Schiehlen 1990; Hairer & Wanner 1996, VII.7",
                               "seven bodies in three closed loops, driven by a torque, angles"),
        entry<ParabolaPlane>("Haddouni 2015, 4.3.3.4", "point that slides down a parabola onto a plane, C1 edge"),
        entry<PlaneParabola>("Haddouni 2015, 4.3.3.4", "point that slides from a plane down a parabola, C1 edge"),
        entry<NFourBar>("Gonzalez et al. 2006, A02",
                        "row of four-bar linkages that pass singular positions, Cartesian coordinates"),
        entry<Bricard>("Gonzalez et al. 2006, A04", "ring of six hinges with one redundant row, quaternions"),
        entry<FlyballGovernor>("Gonzalez et al. 2006, A05", "governor with stiff spring-dampers, angles"),
    };
    return table;
}

Mechanism make_mechanism(const std::string& name, const OptionValues& values, Place place) {
    std::vector<std::string> names;
    for (const MechanismEntry& entry : mechanisms()) {
        if (name == entry.name) return entry.make(values);
        names.emplace_back(entry.name);
    }
    throw unknown_name("mechanism", name, names, std::move(place));
}

}  // namespace stickslip
