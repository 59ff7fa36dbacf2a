#include "solvers/interior_point.hpp"

#include <algorithm>
#include <cmath>

#include "problems/certificate.hpp"
#include "solvers/nsgs.hpp"

namespace stickslip {

namespace {

// Share of Newton's shift; factor by which the target is raised after a short step, and how much of the infeasibility that
// step may remove (none: it only returns to the central path). Tried in this order: what jams one of them is rarely hard
// for the next. Each gets max_steps.
constexpr InteriorPointSolver::Tactic tactics[] = {{0.9, 10, 0}, {0.9, 3, 0.3}, {1, 3, 1}, {0.5, 3, 0}};

constexpr double first_impulse = 0.1;   // scaled; far from the border, and of the order of a resting load
constexpr double softness = 1e-2;       // scaled compliance of the guess; 1e-4 to 1e-1 do as well
constexpr double proximal = 1e-8;       // of free rows, scaled: redundant joints need it, the next steps undo it
constexpr double short_step = 0.1;      // below it the next target is raised
constexpr int max_short_steps = 25;     // in a row: jammed
constexpr int patience = 25;            // steps without progress: jammed too
constexpr double progress_share = 0.5;  // of the error
constexpr double least_target = 1e-24;  // scaled: rounding decides what is left

// Near the end the frozen part of the shift, 1 - turning, is this times sqrt(tau): with a constant turning the infeasibility
// shrinks by less than a digit per step, and tau meets rounding long before it. 1 to 10 do alike.
constexpr double frozen_at_end = 10;
// For the same reason the target stays above this turning of the infeasibility. Of 74 small FCLIB problems 63 reach 1e-9;
// with 0.01 it is 59, with 1 it is 60, with 0 it is 52. Single hard problems end or jam by luck within this range.
constexpr double keep_behind = 0.1;

// Multiplications of one factorisation from which the compressed form of a stored problem is tried first.
constexpr double large_work = 2e7;

constexpr int least_steps = 40;  // what is allowed fewer is not begun

bool is_polygon(int dim, double mu, int facets) { return dim == 3 && mu > 0 && facets > 2; }

constexpr const char* refuses_polygons = "interior-point takes disc cones only; lemke and auto take polygons";

}  // namespace

InteriorPointSolver::InteriorPointSolver(InteriorPointOptions options_) : options(options_) {
    if (!(options.tol > 0)) throw Error("tol of interior-point must be positive");
    if (options.max_steps < 1) throw Error("max_steps of interior-point must be positive");
}

void InteriorPointSolver::set_up(const RowSpace& space, const std::vector<double>& friction,
                                 const std::vector<int>& facets, const double* lower, const double* upper) {
    const int nc = space.contacts();
    cones_.resize(static_cast<std::size_t>(nc));
    lines_.resize(static_cast<std::size_t>(space.joints));
    shift_.joint.assign(static_cast<std::size_t>(space.joints), 0.0);
    shift_.contact.assign(static_cast<std::size_t>(nc * StepSystem::block), 0.0);
    shift_.inverse.assign(static_cast<std::size_t>(nc * StepSystem::block), 0.0);
    shift_.active.assign(static_cast<std::size_t>(nc), 0);
    pairs_ = nc;
    unit_ = 0;
    for (int i = 0; i < nc; ++i) {
        Cone& cone = cones_[i];
        const int dim = space.row[i + 1] - space.row[i];
        const double mu = friction[i], root = 1 / std::sqrt(space.diagonal[space.joints + i]);
        cone.row = space.row[i];
        cone.size = dim == 1 || mu <= 0 ? 1 : dim == 2 || facets[i] == 2 ? 2 : 3;
        cone.scale[0] = cone.size == 1 ? root : root / mu;
        cone.scale[1] = cone.scale[2] = root;
        shift_.active[i] = cone.size;
        for (int k = 0; k < cone.size; ++k) unit_ = std::max(unit_, cone.scale[k] * std::abs(space.q[cone.row + k]));
    }
    for (int j = 0; j < space.joints; ++j) {
        Line& line = lines_[j];
        line.fixed = lower[j] == upper[j];
        line.scale = 1 / std::sqrt(space.diagonal[j]);
        line.lower.there = !line.fixed && lower[j] > -infinity;
        line.upper.there = !line.fixed && upper[j] < infinity;
        pairs_ += line.lower.there + line.upper.there;
        unit_ = std::max(unit_, line.scale * std::abs(space.q[j]));
    }
    if (!(unit_ > 0)) unit_ = 1;
    for (int j = 0; j < space.joints; ++j) {
        Line& line = lines_[j];
        const double low = lower[j] / (line.scale * unit_), high = upper[j] / (line.scale * unit_);
        line.z = line.fixed ? low : 0;
        if (line.lower.there || line.upper.there) {
            const double margin = std::min(first_impulse, 0.25 * (high - low));
            line.z = std::clamp(0.0, low + margin, high - margin);
            line.lower.slack = line.z - low;
            line.upper.slack = high - line.z;
        }
        line.lower.force = line.upper.force = first_impulse;
    }
}

void InteriorPointSolver::forget(const RowSpace& space) {
    steps_ = 0;
    best_error_ = infinity;
    best_.setZero(space.rows());
    best_modes_.assign(static_cast<std::size_t>(space.contacts()), ContactMode::open);
}

void InteriorPointSolver::impulses(RowVec& x) const {
    x.setZero();
    for (std::size_t j = 0; j < lines_.size(); ++j)
        x[static_cast<Eigen::Index>(j)] = unit_ * lines_[j].scale * lines_[j].z;
    for (const Cone& cone : cones_)
        for (int k = 0; k < cone.size; ++k) x[cone.row + k] = unit_ * cone.scale[k] * cone.z[k];
}

void InteriorPointSolver::measure(RowSpace& space) {
    x_.resize(space.rows());
    impulses(x_);
    space.image(x_, y_);
    y_ += space.q;
    for (std::size_t j = 0; j < lines_.size(); ++j)
        lines_[j].y = lines_[j].scale * y_[static_cast<Eigen::Index>(j)] / unit_;
    for (Cone& cone : cones_) {
        Vec3 y = Vec3::Zero();
        for (int k = 0; k < cone.size; ++k) y[k] = cone.scale[k] * y_[cone.row + k] / unit_;
        cone.offset = y;
    }
}

void InteriorPointSolver::start(RowSpace& space) {
    // How large impulses will be: those that stop everything, softly.
    for (Cone& cone : cones_) cone.z = Vec3(first_impulse, 0, 0);
    for (std::size_t i = 0; i < cones_.size(); ++i) {
        const Cone& cone = cones_[i];
        for (int k = 0; k < cone.size * cone.size; ++k)
            shift_.contact[i * StepSystem::block + k] = shift_.inverse[i * StepSystem::block + k] = 0;
        for (int k = 0; k < cone.size; ++k) {
            shift_.contact[i * StepSystem::block + k * (cone.size + 1)] = softness / (cone.scale[k] * cone.scale[k]);
            shift_.inverse[i * StepSystem::block + k * (cone.size + 1)] = cone.scale[k] * cone.scale[k] / softness;
        }
    }
    for (std::size_t j = 0; j < lines_.size(); ++j)
        shift_.joint[j] = lines_[j].fixed ? infinity : softness / (lines_[j].scale * lines_[j].scale);
    b_ = -space.q;
    if (space.factor(shift_)) {
        space.solve(shift_, b_, dx_);
        for (Cone& cone : cones_) {
            double size = 0;
            for (int k = 0; k < cone.size; ++k)
                size = std::max(size, std::abs(dx_[cone.row + k]) / (unit_ * cone.scale[k]));
            if (std::isfinite(size)) cone.z[0] = std::max(first_impulse, size);
        }
    }
    measure(space);
    for (Cone& cone : cones_) {
        const double slip = std::hypot(cone.offset[1], cone.offset[2]);
        cone.t = cone.offset;
        cone.t[0] = std::max(cone.offset[0] + slip, slip + first_impulse);
    }
    last_step_ = 1;
    short_steps_ = 0;
}

double InteriorPointSolver::complementarity() const {
    double sum = 0;
    for (const Cone& cone : cones_) sum += cone.z.dot(cone.t);
    for (const Line& line : lines_) {
        if (line.lower.there) sum += line.lower.slack * line.lower.force;
        if (line.upper.there) sum += line.upper.slack * line.upper.force;
    }
    return pairs_ > 0 ? sum / pairs_ : 0;
}

double InteriorPointSolver::reach() const {
    double a = infinity;
    for (const Cone& cone : cones_) a = std::min({a, lorentz::reach(cone.z, cone.dz), lorentz::reach(cone.t, cone.dt)});
    for (const Line& line : lines_) {
        for (const Bound* bound : {&line.lower, &line.upper}) {
            if (!bound->there) continue;
            if (bound->dslack < 0) a = std::min(a, -bound->slack / bound->dslack);
            if (bound->dforce < 0) a = std::min(a, -bound->force / bound->dforce);
        }
    }
    return a;
}

// The step towards products of `target`, with the factors at hand; corrected by the products of the step before.
bool InteriorPointSolver::linear_step(RowSpace& space, double turning, double target, bool corrected, double feasible) {
    b_.setZero(space.rows());
    const auto pay = [&](const Bound& bound) {
        return (target - bound.slack * bound.force - (corrected ? bound.dslack * bound.dforce : 0.0)) / bound.slack;
    };
    for (std::size_t j = 0; j < lines_.size(); ++j) {
        Line& line = lines_[j];
        if (line.fixed) continue;
        double missing = line.y, b = 0;
        if (line.lower.there) missing -= line.lower.force, b += pay(line.lower);
        if (line.upper.there) missing += line.upper.force, b -= pay(line.upper);
        b -= feasible * missing;
        b_[static_cast<Eigen::Index>(j)] = unit_ * b / line.scale;
    }
    for (Cone& cone : cones_) {
        // G (middle^-1 o (target e - middle o middle - correction)). Its first two parts are target z^-1 and t: multiplied
        // out, a slipping contact would lose half of the digits in them.
        cone.wanted = target / lorentz::determinant(cone.z) * Vec3(cone.z[0], -cone.z[1], -cone.z[2]) - cone.t;
        if (corrected)
            cone.wanted -= cone.nt.G * lorentz::divide(cone.nt.middle, lorentz::product(cone.nt.G * cone.dz,
                                                                                        cone.nt.G_inverse * cone.dt));
        Vec3 b = cone.wanted - feasible * cone.offset;
        b[0] -= turning * cone.d.dot(cone.wanted);
        for (int k = 0; k < cone.size; ++k) b_[cone.row + k] = unit_ * b[k] / cone.scale[k];
    }
    space.solve(shift_, b_, dx_);
    if (!dx_.allFinite()) return false;
    for (std::size_t j = 0; j < lines_.size(); ++j) {
        Line& line = lines_[j];
        line.dz = dx_[static_cast<Eigen::Index>(j)] / (unit_ * line.scale);
        for (Bound* bound : {&line.lower, &line.upper}) {
            if (!bound->there) continue;
            const double paid = pay(*bound);
            bound->dslack = bound == &line.lower ? line.dz : -line.dz;
            bound->dforce = paid - bound->force / bound->slack * bound->dslack;
        }
    }
    // C dt = W dz + offset. It is wanted - theta dz too, but theta of a slipping contact multiplies the rounding of dz by
    // up to 1e12, and what is lost in the law of the contact the next step sees and mends.
    space.image(dx_, y_);
    for (Cone& cone : cones_) {
        cone.dz.setZero();
        cone.dt = feasible * cone.offset;
        for (int k = 0; k < cone.size; ++k) {
            cone.dz[k] = dx_[cone.row + k] / (unit_ * cone.scale[k]);
            cone.dt[k] += cone.scale[k] * y_[cone.row + k] / unit_;
        }
        cone.dt[0] += turning * cone.d.dot(cone.dt);
    }
    return true;
}

bool InteriorPointSolver::advance(RowSpace& space, const Tactic& tactic) {
    const double mean = complementarity();
    if (!(mean >= (pairs_ > 0 ? least_target : 0))) return false;
    const double turning = std::max(tactic.turning, 1 - frozen_at_end * std::sqrt(mean));
    double infeasible = 0;
    for (std::size_t i = 0; i < cones_.size(); ++i) {
        Cone& cone = cones_[i];
        const double slip = std::hypot(cone.t[1], cone.t[2]);
        cone.d = slip > 0 ? Vec3(0, cone.t[1] / slip, cone.t[2] / slip) : Vec3::Zero();
        cone.offset[0] += slip;
        cone.offset -= cone.t;
        infeasible = std::max(infeasible, cone.offset.norm());
        lorentz::scale(cone.z, cone.t, cone.nt);
        // C theta and theta^-1 C^-1, C^-1 = I + turning e_0 d'
        Mat3 T = cone.nt.theta, B = cone.nt.theta_inverse;
        T.row(0) -= turning * (cone.d.transpose() * T).eval();
        B += turning * (B.col(0) * cone.d.transpose()).eval();
        for (int l = 0; l < cone.size; ++l) {
            for (int k = 0; k < cone.size; ++k) {
                const std::size_t at = i * StepSystem::block + static_cast<std::size_t>(k + l * cone.size);
                shift_.contact[at] = T(k, l) / (cone.scale[k] * cone.scale[l]);
                shift_.inverse[at] = B(k, l) * (cone.scale[k] * cone.scale[l]);
            }
        }
    }
    for (std::size_t j = 0; j < lines_.size(); ++j) {
        const Line& line = lines_[j];
        double theta = proximal;
        for (const Bound* bound : {&line.lower, &line.upper})
            if (bound->there) theta += bound->force / bound->slack;
        shift_.joint[j] = line.fixed ? infinity : theta / (line.scale * line.scale);
    }
    if (!space.factor(shift_) || !linear_step(space, turning, 0, false, 1)) return false;
    ++steps_;

    double a = std::min(1.0, reach()), target = 0;
    bool corrected = true;
    if (pairs_ > 0) {
        double ahead = 0;
        for (const Cone& cone : cones_) ahead += (cone.z + a * cone.dz).dot(cone.t + a * cone.dt);
        for (const Line& line : lines_)
            for (const Bound* bound : {&line.lower, &line.upper})
                if (bound->there) ahead += (bound->slack + a * bound->dslack) * (bound->force + a * bound->dforce);
        double sigma = std::clamp(std::pow(std::max(ahead / (pairs_ * mean), 0.0), 3), 1e-4, 0.9);
        if (a < short_step) sigma = std::max(sigma, 0.5);
        target = std::max(sigma * mean, std::min(keep_behind * infeasible, mean));
        if (last_step_ < short_step) {
            target = tactic.raise * mean;
            corrected = false;
        }
        if (!linear_step(space, turning, target, corrected, corrected ? 1 : tactic.feasible)) return false;
    }
    const double a_most = (0.9 + 0.09 * a) * reach();
    a = std::min(1.0, a_most);
    last_step_ = a;
    short_steps_ = a < short_step ? short_steps_ + 1 : 0;
    for (Cone& cone : cones_) {
        cone.z += a * cone.dz;
        cone.t += a * cone.dt;
    }
    for (Line& line : lines_) {
        if (line.fixed) continue;
        line.z += a * line.dz;
        for (Bound* bound : {&line.lower, &line.upper}) {
            if (!bound->there) continue;
            bound->slack += a * bound->dslack;
            bound->force += a * bound->dforce;
        }
    }
    return short_steps_ < max_short_steps;
}

template <class Judge, class Ended>
void InteriorPointSolver::run(RowSpace& space, std::span<const Tactic> tactics, Judge&& judge, Ended&& ended) {
    const int before = steps_;
    first_lines_.assign(lines_.begin(), lines_.end());
    // A start costs a factorisation too.
    const double most = 1e9 * options.max_work / std::max(space.work(), 1.0);
    if (most < least_steps) return;
    for (const Tactic& tactic : tactics) {
        lines_.assign(first_lines_.begin(), first_lines_.end());
        start(space);
        double least = infinity;  // error of this way, and the step that reached it
        int progress = 0;
        for (int k = 0; k < options.max_steps && k - progress < patience; ++k) {
            if (k > 0) measure(space);
            const double error = judge(x_);
            if (error < best_error_) {
                best_error_ = error;
                best_ = x_;
                for (int i = 0; i < space.contacts(); ++i)
                    best_modes_[i] = mode_of(cones_[i], space.row[i + 1] - space.row[i]);
            }
            if (error < progress_share * least) {
                least = error;
                progress = k;
            }
            if (best_error_ <= options.tol) return;
            if (steps_ - before >= most) return;  // best_ is what there was time for
            if (std::isnan(error) || !advance(space, tactic)) break;
        }
        if (pairs_ == 0 || ended()) return;
    }
}

// Which of z and t is inside its cone: both on the border is slip.
ContactMode InteriorPointSolver::mode_of(const Cone& cone, int dim) const {
    const double z_T = std::hypot(cone.z[1], cone.z[2]), t_T = std::hypot(cone.t[1], cone.t[2]);
    if (cone.z[0] + z_T < cone.t[0] - t_T) return ContactMode::open;
    if (cone.size == 1) return dim == 1 ? ContactMode::stick : ContactMode::slip;
    return cone.t[0] + t_T < cone.z[0] - z_T ? ContactMode::stick : ContactMode::slip;
}

SolveReport InteriorPointSolver::solve(const StepProblem& problem, StepSolution& solution) {
    solution.size_to(problem);
    SolveReport report;
    report.solver = "interior-point";
    const BlockRows& H = problem.contacts.jacobian;
    for (int i = 0; i < problem.contacts.size(); ++i) {
        if (!is_polygon(H.dim(i), problem.contacts.friction[i], problem.contacts.facets[i])) continue;
        report.status = Status::not_converged;
        report.residual = residual(problem, solution, residual_work_);
        report.reason = refuses_polygons;
        return report;
    }
    if (options.polish && solution.warm && modes_.improve(problem, solution, options.tol, report.residual))
        return report;
    if (!step_rows_.prepare(problem)) {
        report.status = Status::diverged;
        report.residual = residual(problem, solution, residual_work_);
        report.reason = "the matrix A is singular";
        return report;
    }
    set_up(step_rows_, problem.contacts.friction, problem.contacts.facets, problem.lower.data(), problem.upper.data());
    trial_.size_to(problem);
    forget(step_rows_);
    const auto judge = [&](const RowVec& x) {
        step_rows_.velocities(x, trial_);
        return residual(problem, trial_, residual_work_).max();
    };
    // Where a way jams its modes are often right already.
    bool solved = false;
    const auto polished = [&] {
        if (!options.polish || !std::isfinite(best_error_)) return false;
        step_rows_.velocities(best_, trial_);
        for (int i = 0; i < problem.contacts.size(); ++i) trial_.modes[i] = mode_of(cones_[i], H.dim(i));
        return solved = modes_.improve(problem, trial_, options.tol, report.residual);
    };
    run(step_rows_, tactics, judge, polished);
    report.iterations = steps_;
    if (solved) {
        copy_solution(trial_, solution);
        solution.warm = true;
        return report;
    }
    step_rows_.velocities(best_, trial_);
    trial_.modes.assign(best_modes_.begin(), best_modes_.end());
    report.residual = residual(problem, trial_, residual_work_);
    if (options.polish && std::isfinite(report.residual.max()))
        modes_.improve(problem, trial_, options.tol, report.residual);
    copy_solution(trial_, solution);
    solution.warm = true;
    report.status = report.residual.max() <= options.tol ? Status::ok
                    : std::isnan(report.residual.max())  ? Status::diverged
                                                         : Status::not_converged;
    if (report.status != Status::ok)
        report.reason =
            "the interior point iteration jammed; friction may wedge here, or contacts contradict each other";
    return report;
}

SolveReport InteriorPointSolver::solve_local(const DelassusProblem& problem, DelassusSolution& solution) {
    solution.size_to(problem);
    SolveReport report;
    report.solver = "interior-point";
    for (int i = 0; i < problem.contacts(); ++i) {
        if (!is_polygon(problem.W.nodes.dof(i), problem.friction[i], problem.facets[i])) continue;
        report.status = Status::not_converged;
        report.residual.contacts = relative_error(problem, solution.p);
        report.reason = refuses_polygons;
        return report;
    }
    // Points inside the cones may satisfy the natural map and still miss a law by the root of 1 + mu^2.
    const auto judge = [&](const RowVec& x) {
        const double error = relative_error(problem, x);
        return error <= options.tol ? certify(problem, x, options.tol).residual.contacts : error;
    };
    const auto jammed = [] { return false; };  // on to the next way
    delassus_.prepare(problem, false);
    const double plain = delassus_.work();
    forget(delassus_);
    if (plain > large_work) {
        delassus_.prepare(problem, true);
        set_up(delassus_, problem.friction, problem.facets, nullptr, nullptr);
        if (delassus_.work() < 0.5 * plain) run(delassus_, std::span(tactics).first(1), judge, jammed);
        if (best_error_ > options.tol) delassus_.prepare(problem, false);
    }
    if (best_error_ > options.tol) {
        set_up(delassus_, problem.friction, problem.facets, nullptr, nullptr);
        run(delassus_, tactics, judge, jammed);
    }
    report.iterations = steps_;
    solution.p = best_.vec();
    solution.modes.assign(best_modes_.begin(), best_modes_.end());
    solution.warm = true;
    report.residual.contacts = judge(best_);
    report.status = report.residual.contacts <= options.tol ? Status::ok
                    : std::isnan(report.residual.contacts)  ? Status::diverged
                                                            : Status::not_converged;
    if (report.status != Status::ok)
        report.reason =
            "the interior point iteration jammed; friction may wedge here, or contacts contradict each other";
    return report;
}

}  // namespace stickslip
