// The contact problem at one instant: which closed contacts open, stick or slide from now on, and which drives and brakes
// hold. In accelerations, as a step problem over a span tau (Tolerances::instant_span), v+ = v + tau a:
//
//   A = M,  r = M v + tau (k + F v)
//   rigid rows, drives and brakes that hold   G v+ = G v + tau (dw/dt - dG/dt v)         within tau times their bounds
//   springs, drives and brakes that give      lambda = tau times their force
//   closed contacts                           u_N = N (v+ - v) + tau dN/dt v,  and u_T likewise where nothing slips
//   sliding contacts                          rows (n, d) with d along the slip, u_T = a large speed: friction is -mu p_N d
//
// so tau u is the relative acceleration, and its complementarity is that of the acceleration level [Glocker & Pfeiffer; Haddouni
// s.2.1.1.1], on the disc cone in space. Solved and certified like any other step problem, by the run's own solver.
#pragma once

#include "schemes/smooth/motion.hpp"

namespace stickslip {

// A closed contact, and how it slides.
struct Candidate {
    ContactId id;
    bool slides = false;
    Vec2 slip = Vec2::Zero();  // direction in (t1, t2), not zero when it slides
};

class InstantProblem {
public:
    // Fills s.problem at p, which is observed or solved. `bound`: per bilateral row, -1 or 1 pushes with its lower or upper
    // bound, 0 may hold.
    void fill(const System& system, const MotionPoint& p, const std::vector<Candidate>& candidates,
              const std::vector<signed char>& bound, Step& s);
    // Accelerations and forces of a solved motion as the solution of that problem, in s.solution.
    void enter(const Motion& motion, const MotionPoint& p, Step& s) const;
    // The modes that s.solution says, of the candidates given to fill().
    void read(const std::vector<Candidate>& candidates, const std::vector<signed char>& bound, const Step& s,
              Modes& modes) const;

private:
    void fill_joints(const MotionPoint& p, const std::vector<signed char>& bound, double tau, StepProblem& problem);
    void fill_contacts(const MotionPoint& p, const std::vector<Candidate>& candidates, const Tolerances& tolerances,
                       StepProblem& problem);

    BlockMatrix gyroscopic_;
    RowVec Gv_, Hv_;
};

// True for a bilateral row that gives way at bounds of its force.
bool gives_way(const BilateralRows& joints, int row);

}  // namespace stickslip
