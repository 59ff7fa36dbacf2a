// Moreau-Jean time-stepping [Jean 1999; Haddouni (2.20)-(2.25)]: theta rule for the forces, contact laws with restitution on
// velocities, 0 <= N v+ + e N v _|_ p_N >= 0, no event location. Formulas: moreau_jean.cpp.
#pragma once

#include "base/fields.hpp"
#include "math/node_inverse.hpp"
#include "schemes/free_turns.hpp"
#include "schemes/halved_steps.hpp"
#include "schemes/parts/project.hpp"
#include "schemes/parts/push_out.hpp"
#include "stickslip/scheme.hpp"

namespace stickslip {

struct MoreauJeanOptions {
    double step = 1e-3;
    double tol = 0;
    FromScene smallest_step{&Tolerances::controlled_step, {}};
    double longest_step = infinity;
    double control_order = 1;
    double theta = 0.5;
    double stabilisation = 1;
    FromScene joint_tol{&Tolerances::joint_error, {}};
    double contact_stabilisation = 0;
    Choice projection = projections();
    Choice overlap = overlaps();
    FromScene activation_gap{&Tolerances::closed_gap, {}};
    FromScene newton_tol{&Tolerances::linearisation_speed, {}};
    int newton_max = 20;

    template <class F>
    void fields(F&& f) {
        f("step", step, "s", "step size; with tol the first one");
        f("tol", tol, "m, rad", "error of q allowed per step, by halved steps; 0: fixed steps");
        // If smaller, an impact costs more steps than its time is worth. If larger, tol is missed by more there.
        f("smallest_step", smallest_step, "s", "with tol: taken whatever its error");
        f("longest_step", longest_step, "s", "with tol: no step is longer");
        f("control_order", control_order, "-", "with tol: p of h_opt = 0.9 h (tol/error)^(1/p)");
        f("theta", theta, "-", "weight of the end velocity; 1/2 keeps energy, 1 damps");
        f("stabilisation", stabilisation, "-", "share of the position error of joints taken out per step, 0 to 1");
        f("joint_tol", joint_tol, "m",
          "without tol: steps that leave joints open by more are taken again, in up to 32 parts; angles by lengths "
          "of bodies");
        f("contact_stabilisation", contact_stabilisation, "-",
          "with overlap: leave, share of the overlap that velocities take out per step, 0 to 1; not faster than weight "
          "acts in a step");
        f("projection", projection, "-", projection_help);
        f("overlap", overlap, "-", overlap_help);
        // If smaller than the rounding of gaps, a resting body falls freely every other step. If larger, bodies stop
        // visibly above each other.
        f("activation_gap", activation_gap, "m", "a contact is active when its gap after half a step is at most this");
        // If smaller, mildly nonlinear forces cost more solves without a visible change. If larger, stiff ones gain energy.
        f("newton_tol", newton_tol, "m/s", "forces are linearised again while this change of velocity is missing");
        f("newton_max", newton_max, "-", "most linearisations per step; 1 is the linearly implicit scheme");
    }
};

// What the last steps tell of the way of joined bodies. Remembered.
struct JointPath {
    double t = -infinity;  // [s] where these steps ended,
    int known = 0;         // how many of them, up to two, had neither impact nor jump,
    double h = 0;          // [s] and the length of the last but one;
    RowVec rate;           // nv: its (v+ - v)/h
    RowVec speed;          // per bilateral row: G v where the last one began

    template <class F>
    void fields(F&& f) {
        f(t);
        f(known);
        f(h);
        f(rate);
        f(speed);
    }
};

class MoreauJean final : public Scheme {
public:
    struct Work final : SchemeWork {
        RowVec arrival;          // per contact row: the speeds that rebound, H v but for rests at limits
        NodeInverse inverse;     // of the mass,
        VecX gain;               // nv [N s]: and the impulses of forces
        std::vector<int> bearers, bears;  // contacts that bore a node in the last step; per contact: it did
        ContactRows limits;      // joint limits at the start of the step
        VecX missing;            // nv [N]: forces at the end found that their linearisation leaves out
        VecX q_ahead, move;      // about the middle of the move of the step; it,
        BilateralRows ahead;     // and the bilateral rows there;
        RowVec start_speed;      // per bilateral row: G v at q,
        RowVec carried;          // and the part of it that rigid rows ask for besides
        bool hits = false;       // a contact is hit in this step,
        bool opened = false;     // which was solved again, since it opened joints,
        bool wedged = false;     // or since contacts and joints made energy in it
        VecX q_end;              // where the move leads,
        bool settled = false;    // and, where this was looked at,
        double joint_error = 0;  // [m] by how much joints are open there
        VecX mean, v_end;        // nv: velocities that are foretold for the middle and the end of the step
        Forces end_forces;       // and the forces there
        VecX made_up;            // nv [N s]: impulse that keeps the energy where the mass varies
        JointPath path;
        double joint_step = infinity;  // [s] remembered: the step that fast joints allow, by the last one,
        double whole_end = -infinity;  // [s] and the end of the step that is being taken in parts for their sake
        FreeTurns free_turns;
        PushOut push_out;
        HalvedWork halved;
        void remembered(FieldVisitor& visit) override {
            visit(halved.next_step);
            visit(joint_step);
            visit(whole_end);
            path.fields(visit);
        }
        void edited() override { path.known = 0; }
        void shorten(double h) override { joint_step = h; }
    };
    explicit MoreauJean(const MoreauJeanOptions& options) : options_(options) {}
    std::unique_ptr<SchemeWork> make_work(const System& /*system*/) const override { return std::make_unique<Work>(); }
    double longest_step() const override { return options_.tol == 0 ? options_.step : options_.longest_step; }
    StepReport step(const System& system, Solver& solver, State& x, double t_limit, Step& s) const override;
    // The same for a scheme that contains this one.
    StepReport step(const System& system, Solver& solver, State& x, double t_limit, Step& s, Work& w) const;

private:
    double joint_limit(const Step& s) const;
    double part_of_step(double t, double t_limit, Work& w) const;
    void hold_joints(const System& system, Solver& solver, State& x, Step& s, Work& w, StepReport& report) const;
    StepReport step_of(double h, const System& system, Solver& solver, State& x, double t_limit, Step& s,
                       Work& w) const;

    MoreauJeanOptions options_;
};

}  // namespace stickslip
