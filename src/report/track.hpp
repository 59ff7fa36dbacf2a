// Where the points of a recorded motion were.
#pragma once

#include <algorithm>
#include <vector>

#include "stickslip/types.hpp"

namespace stickslip {

// Positions of what moves, one matrix of 3 x points per sampled row.
struct Track {
    std::vector<Eigen::Index> rows;
    std::vector<MatX> points;

    // [m] Largest way of a single point along each axis; what is not visible at the size of the whole counts as none.
    Vec3 extent(double size) const {
        constexpr double visible = 1e-3;  // share of the size of the whole
        Vec3 most = Vec3::Zero();
        if (points.empty()) return most;
        for (Eigen::Index p = 0; p < points[0].cols(); ++p) {
            Vec3 low = points[0].col(p), high = low;
            for (const MatX& m : points) low = low.cwiseMin(m.col(p)), high = high.cwiseMax(m.col(p));
            most = most.cwiseMax(high - low);
        }
        for (double& x : most)
            if (!(x > visible * std::max(size, spread()))) x = 0;
        return most;
    }
    double spread() const {  // [m] of the points at the start
        if (points.empty() || points[0].cols() == 0) return 0;
        return (points[0].rowwise().maxCoeff() - points[0].rowwise().minCoeff()).norm();
    }
};

// At most 400 rows of n, the first and the last among them: enough to find path, window and moments.
inline std::vector<Eigen::Index> sampled_rows(Eigen::Index n) {
    constexpr Eigen::Index max_sampled = 400;
    const Eigen::Index stride = std::max<Eigen::Index>(1, (n + max_sampled - 1) / max_sampled);
    std::vector<Eigen::Index> rows;
    for (Eigen::Index k = 0; k < n; k += stride) rows.push_back(k);
    if (!rows.empty() && rows.back() != n - 1) rows.push_back(n - 1);
    return rows;
}

}  // namespace stickslip
