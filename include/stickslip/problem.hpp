// The step problem: the one place where all schemes, impact laws and solvers meet. Find v+, lambda, p with
//
//   A v+  - G' lambda - H' p = r
//   w     = G v+ + T lambda - b           lambda in [lower, upper]:  w = 0 inside, w >= 0 at lower, <= 0 at upper
//   u     = H v+ + S p + c                contact velocity, 1 to 3 components (normal first) per contact
//   0 <= u_N  _|_  p_N >= 0
//   p_T maximises -u_T.p_T over mu p_N times the section of the contact's own cone (disc or polygon)
//
// A > 0 (its symmetric part), T >= 0, S >= 0 diagonal. It knows nothing of bodies, shapes or time: it can be
// saved, loaded and solved alone. What schemes need of the rows but solvers do not (gap, restitution, ids,
// frames) travels in the same arrays, so that contacts can be dropped or matched in one place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stickslip/blocks.hpp"
#include "stickslip/types.hpp"

namespace stickslip {

// What a bilateral row means; a scheme fills b, T, lower, upper from it.
//   holonomic   g(q) = 0                           velocity  G v = target (motor, rolling)
//   compliant   spring and damper: value, stiffness, damping      friction  G v = 0 within force bounds (brake)
enum class RowKind : std::uint8_t { holonomic, velocity, compliant, friction };

// Bilateral rows G, grouped by the joint, spring or motor they come from. Per-row arrays have jacobian.rows()
// entries, filled by System::rows.
struct BilateralRows {
    BlockRows jacobian;               // G
    std::vector<std::uint32_t> id;    // per group: joint number, stable under edits
    std::vector<RowKind> kind;        // per row, as everything below
    std::vector<double> value;        // g(q) [m] or [rad]; spring: elongation phi
    std::vector<double> target;       // w(t) [m/s] or [rad/s], velocity rows
    // Velocity rows that hold a position, position motors: target = goal_rate + servo (goal - value). Schemes that take long steps
    // impose what that law does in the step instead (fill_bilateral), so that no time constant is too short for them.
    std::vector<double> servo;      // [1/s] one over the time constant; 0: the target is a speed
    std::vector<double> goal;       // [m] or [rad]
    std::vector<double> goal_rate;  // [m/s] or [rad/s]
    std::vector<double> stiffness;    // [N/m], compliant rows
    std::vector<double> damping;      // [N s/m], compliant rows
    std::vector<double> force_lower;  // [N] bounds as forces; -infinity and infinity for rigid rows
    std::vector<double> force_upper;
    std::vector<char> impulsive;  // bounds are impulses [N s] and survive in an impact (h = 0)
    std::vector<double> bias;     // dG/dt v [m/s^2], only after System::bias

    int size() const { return jacobian.rows(); }
    void clear();
    // Makes room for so many rows with neutral entries, of which groups are opened next: all of them, no more and no fewer. Growing by
    // groups alone is right too, and dearer.
    void begin_rows(int rows);
    // Opens a group of `dim` rows with neutral entries; returns the index of its first row.
    int begin_group(std::uint32_t joint, int dim, RowKind row_kind);
    // Position motors act as if their time constants were at least this long [s].
    void slow_servos(double shortest);
};

using JointRows = BilateralRows;  // its name in version 0.1

// Contact rows H = [N; D], one group per contact, sorted by id. Per-contact arrays have size() entries.
struct ContactRows {
    BlockRows jacobian;  // H; dim 1 (no friction), 2 (plane) or 3 (space)
    std::vector<ContactId> id;
    std::vector<double> gap;                     // phi [m]
    std::vector<double> friction;                // mu
    std::vector<double> restitution;             // e
    std::vector<double> tangential_restitution;  // e_T, of Newton's law alone; not kept in problem files
    std::vector<int> facets;            // cone: 0 disc, 2k >= 2 the regular inscribed polygon, first corner on t1
    std::vector<Vec3> position;         // [m] in W
    std::vector<Vec3> normal, tangent;  // frame: n and t1 in W; t2 = n x t1
    std::vector<double> bias;           // dH/dt v [m/s^2] per row, only after System::bias

    int size() const { return jacobian.groups(); }
    void clear();
    // Opens a contact of `dim` rows; the caller adds its Jacobian blocks.
    void begin_contact(ContactId contact, int dim, double phi, double mu, double e, int cone_facets,
                       double e_tangential = 0);
    void keep(const std::vector<char>& wanted);
};

struct StepProblem {
    BlockMatrix A;
    VecX r;  // [N s]
    BilateralRows joints;
    RowVec T;             // compliance of each bilateral row [velocity / impulse]
    RowVec b;             // [m/s]
    RowVec lower, upper;  // bounds of lambda [N s]
    ContactRows contacts;
    RowVec S;  // compliance of each contact row
    RowVec c;  // [m/s]
    double gained = 0;  // [m/s] what the forces of the step give the median body, g h under weight alone; 0: unknown. Nothing is
                        // solved with it: residuals are judged in proportion to it, among others

    const Nodes& nodes() const { return A.nodes; }
    // Sizes r, T, b, lower, upper, S, c to the rows and sets them neutral (0; bounds infinite).
    void size_to_rows();
};

struct StepSolution {
    VecX v;                          // nv
    RowVec lambda;                   // [N s] one per bilateral row
    RowVec p;                        // [N s] one per contact row
    std::vector<ContactMode> modes;  // per contact: open, stick, slip
    bool warm = false;               // v, lambda, p, modes hold a guess that fits the rows

    void size_to(const StepProblem& problem);  // zero, cold, when sizes changed; keeps capacity
};

// The same contact problem with everything but the contacts eliminated, as stored collections hold it (FCLIB's "local"
// form): u = W p + q. One node of W per contact, with its 1 to 3 rows, normal first; couplings where contacts share a
// body. W may be unsymmetric (gyroscopic terms) and rank deficient.
struct DelassusProblem {
    BlockMatrix W;
    VecX q;
    std::vector<double> friction;
    std::vector<int> facets;

    int contacts() const { return W.nodes.size(); }
};

struct DelassusSolution {
    VecX p;
    std::vector<ContactMode> modes;
    bool warm = false;  // p and modes hold a guess

    void size_to(const DelassusProblem& problem);  // zero, cold, when sizes changed
};

// How far a solution is from solving its problem, in velocity units [m/s, rad/s]; the one measure by which
// steps are judged, solvers compared and tests assert. Per contact the scale-free natural map
//   (p - P_K(p - rho u~)) / rho,  rho = 3 / trace(W_ii),  u~ = u + mu |u_T| n   (De Saxce; polygon: its own gauge)
struct Residual {
    double dynamics = 0;  // max |A_nn^-1 (A v - G' lambda - H' p - r)| over nodes
    double joints = 0;    // max natural map of the bilateral rows, boxes included
    double contacts = 0;  // max over contacts of the natural map's 2-norm ("err_vel")
    double max() const;   // NaN if any is
};
Residual residual(const StepProblem& problem, const StepSolution& solution);  // allocates: not for every step

// The same for a Delassus problem, where units are unknown: the 2-norm over all contacts of the natural maps, divided by
// |q| (by 1 when q = 0). Stored problems are compared by it ("err_vel").
double relative_error(const DelassusProblem& problem, const ConstRef& p);

// What a solver that is used by itself stops at: [m/s] of step problems, relative to |q| of Delassus problems. Solvers of
// make_solver() take it for Delassus problems only.
inline constexpr double default_tolerance = 1e-9;
// A step is certified when its residual is at most this share of the speeds and loads of its islands (problems/speed_scale.hpp), unless `solver.tol` is given, which
// is absolute [m/s]. Islands of up to a hundred contacts are solved to rounding where that is cheap, and stiction does not depend on
// it, since solvers end with a direct solve for the modes they found: stacks, rocks, walls after a hit and jammed spheres come to rest
// and stay there for minutes with 1e-3 and 1e-4 alike (docs/solvers.md). With 1e-4 large heaps that move take three to ten times
// as long, for positions that differ by some 1e-6 m per step.
inline constexpr double default_share = 1e-3;

// Step problems as files (HDF5): what `stickslip solve` replays, bit for bit.
void save_problem(const std::string& file, const StepProblem& problem, const StepSolution* guess = nullptr);
void load_problem(const std::string& file, StepProblem& problem, StepSolution& guess);
void save_solution(const std::string& file, const StepProblem& problem, const StepSolution& solution);

}  // namespace stickslip
