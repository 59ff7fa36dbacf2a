#include "study/errors.hpp"

#include <cmath>

namespace stickslip::study {

namespace {

// Errors below this share of |q| are rounding, summed over the steps: they follow no power of the step.
constexpr double rounding = 1e-13;
// Errors less than this many times the reference's own are partly the reference's.
constexpr double reference_margin = 2;

}  // namespace

// A full turn about any axis takes a quaternion to its negative and leaves positions alone, in every system: so the systems
// need not say which of their coordinates are which.
std::vector<int> quaternions(const System& system, const VecX& q) {
    std::vector<int> found;
    if (system.nq() == system.nv()) return found;
    constexpr double turn = 2 * 3.14159265358979323846, near = 1e-9;
    for (int k = 0; k < system.nv(); ++k) {
        VecX turned = q;
        system.advance(turned, VecX(turn * VecX::Unit(system.nv(), k)));
        for (int i = 0; i + 4 <= system.nq(); ++i)
            if (std::abs(q.segment(i, 4).norm() - 1) < near && (turned + q).segment(i, 4).norm() < near) {
                if (found.empty() || found.back() < i) found.push_back(i);
                i += 3;
            }
    }
    return found;
}

Difference difference(const VecX& x, const VecX& reference) {
    Difference d;
    bool any = false;
    double squares = 0;
    for (Eigen::Index i = 0; i < std::min(x.size(), reference.size()); ++i) {
        if (std::isnan(reference[i])) continue;
        any = true;
        const double error = std::abs(x[i] - reference[i]);
        squares += error * error;
        d.largest = std::max(d.largest, error);
    }
    d.norm = any ? std::sqrt(squares) : nan;
    if (!any) d.largest = nan;
    return d;
}

Difference difference(const VecX& q, const VecX& reference, const std::vector<int>& quaternions) {
    VecX nearer = q;
    if (reference.size() < q.size()) return difference(q, reference);  // none
    for (const int i : quaternions)
        if (q.segment(i, 4).dot(reference.segment(i, 4)) < 0) nearer.segment(i, 4) = -q.segment(i, 4);
    return difference(nearer, reference);
}

double fitted_order(const std::vector<double>& x, const std::vector<double>& y) {
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (!(x[i] > 0) || !(y[i] > 0) || !std::isfinite(y[i])) continue;
        const double a = std::log(x[i]), b = std::log(y[i]);
        n += 1;
        sx += a;
        sy += b;
        sxx += a * a;
        sxy += a * b;
    }
    const double spread = n * sxx - sx * sx;
    return n >= 2 && spread > 1e-12 * n * sxx ? (n * sxy - sx * sy) / spread : nan;
}

void fill_orders(Convergence& study, double scale) {
    std::vector<double> values, q, v, w;
    const double floor = rounding * std::max(scale, 1.0);
    const double least =
        std::max(floor, std::isnan(study.reference.error) ? 0.0 : reference_margin * study.reference.error);
    for (std::size_t i = 0; i < study.rows.size(); ++i) {
        StudyRow& row = study.rows[i];
        row.fitted = row.finished && row.q > least;
        row.ratio = row.order = row.order_v = row.order_v_weighted = nan;
        values.push_back(row.value);
        q.push_back(row.fitted ? row.q : nan);
        v.push_back(row.v > floor ? row.v : nan);
        w.push_back(row.v_weighted > floor ? row.v_weighted : nan);
        if (i == 0) continue;
        const StudyRow& before = study.rows[i - 1];
        const double factor = std::log(before.value / row.value);
        row.ratio = before.q / row.q;
        if (row.fitted && before.fitted) row.order = std::log(row.ratio) / factor;
        row.order_v = std::log(v[i - 1] / v[i]) / factor;
        row.order_v_weighted = std::log(w[i - 1] / w[i]) / factor;
    }
    study.order = fitted_order(values, q);
    study.order_v = fitted_order(values, v);
    study.order_v_weighted = fitted_order(values, w);
}

}  // namespace stickslip::study
