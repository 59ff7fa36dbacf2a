// The parts of the page, in the order in which they stand on it.
#pragma once

#include "plot/page.hpp"
#include "stickslip/report.hpp"

namespace stickslip {

void add_energy(const RecordContents& record, plot::Page& page);
void add_accuracy(const RecordContents& record, plot::Page& page);     // residual, drift
void add_uncertified(const RecordContents& record, plot::Page& page);  // nothing if there are none
void add_motion(const RecordContents& record, plot::Page& page);       // side views
void add_trajectories(const RecordContents& record, const std::vector<std::string>& wanted, plot::Page& page);
void add_contacts(const RecordContents& record, plot::Page& page);  // modes, events
void add_timers(const RecordContents& record, plot::Page& page);

// One row of a matrix of the record, or nothing if it has no such row.
inline std::vector<double> row_of(const MatX& matrix, Eigen::Index row) {
    std::vector<double> values;
    if (row < 0 || row >= matrix.rows()) return values;
    values.reserve(static_cast<std::size_t>(matrix.cols()));
    for (Eigen::Index k = 0; k < matrix.cols(); ++k) values.push_back(matrix(row, k));
    return values;
}

}  // namespace stickslip
