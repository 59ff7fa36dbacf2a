#include "diagnose/shared_contacts.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace stickslip {

namespace {

constexpr int max_rows = 200;  // of an island: beyond, the search takes longer than a step
constexpr double independent =
    1e-9;  // share of the largest pivot below which a row depends on others; rows are of unit length

struct Row {
    const BlockRows* rows;
    int group, row, contact;  // contact -1: of a joint
};

int root_of(std::vector<int>& parent, int n) {
    while (parent[n] != n) n = parent[n] = parent[parent[n]];
    return n;
}

// The rows that can react without bounds near the solution.
std::vector<Row> active_rows(const StepProblem& problem, const StepSolution& solution) {
    std::vector<Row> list;
    const BilateralRows& joints = problem.joints;
    for (int g = 0; g < joints.jacobian.groups(); ++g)
        for (int k = 0; k < joints.jacobian.dim(g); ++k) {
            const int i = joints.jacobian.row[g] + k;
            const bool rigid = joints.kind[i] != RowKind::compliant && problem.T[i] == 0;
            if (rigid && solution.lambda[i] > problem.lower[i] && solution.lambda[i] < problem.upper[i])
                list.push_back({&joints.jacobian, g, k, -1});
        }
    const ContactRows& contacts = problem.contacts;
    for (int i = 0; i < contacts.size(); ++i) {
        const int first = contacts.jacobian.row[i];
        if (!(solution.p[first] > 0) || problem.S[first] > 0) continue;
        const bool sticks = solution.modes[i] == ContactMode::stick && contacts.friction[i] > 0;
        for (int k = 0; k < (sticks ? contacts.jacobian.dim(i) : 1); ++k) list.push_back({&contacts.jacobian, i, k, i});
    }
    return list;
}

// Whether the rows depend on each other, scaled to unit length in the metric 1/A_kk.
bool dependent(const StepProblem& problem, const std::vector<Row>& rows, const std::vector<int>& place, int columns) {
    if (static_cast<int>(rows.size()) > columns) return true;
    if (static_cast<int>(rows.size()) > max_rows) return false;
    const Nodes& nodes = problem.nodes();
    MatX H = MatX::Zero(columns, static_cast<Eigen::Index>(rows.size()));
    for (std::size_t r = 0; r < rows.size(); ++r) {
        const Row& row = rows[r];
        for (const BlockRows::Block& block : row.rows->blocks_of(row.group)) {
            const double* value = row.rows->values.data() + block.offset + row.row * nodes.dof(block.node);
            const auto A = problem.A.block(block.node);
            for (int c = 0; c < nodes.dof(block.node); ++c)
                H(place[block.node] + c, static_cast<Eigen::Index>(r)) = value[c] / std::sqrt(A(c, c));
        }
        const double size = H.col(static_cast<Eigen::Index>(r)).norm();
        if (size > 0) H.col(static_cast<Eigen::Index>(r)) /= size;
    }
    Eigen::ColPivHouseholderQR<MatX> qr(H);
    qr.setThreshold(independent);
    return qr.rank() < static_cast<Eigen::Index>(rows.size());
}

}  // namespace

std::vector<int> shared_contacts(const StepProblem& problem, const StepSolution& solution) {
    const Nodes& nodes = problem.nodes();
    const std::vector<Row> all = active_rows(problem, solution);

    // Islands: bodies that share a row.
    std::vector<int> parent(static_cast<std::size_t>(nodes.size()));
    std::iota(parent.begin(), parent.end(), 0);
    for (const Row& row : all) {
        const auto blocks = row.rows->blocks_of(row.group);
        for (const BlockRows::Block& block : blocks)
            parent[root_of(parent, block.node)] = root_of(parent, blocks[0].node);
    }
    std::vector<std::vector<Row>> islands(parent.size());
    for (const Row& row : all)
        if (const auto blocks = row.rows->blocks_of(row.group); !blocks.empty())
            islands[root_of(parent, blocks[0].node)].push_back(row);

    std::vector<int> found, place(parent.size());
    for (std::size_t island = 0; island < islands.size(); ++island) {
        const auto touches = [](const Row& row) { return row.contact >= 0; };
        if (std::none_of(islands[island].begin(), islands[island].end(), touches)) continue;
        int columns = 0;
        for (int n = 0; n < nodes.size(); ++n) {
            place[n] = columns;
            if (root_of(parent, n) == static_cast<int>(island)) columns += nodes.dof(n);
        }
        if (!dependent(problem, islands[island], place, columns)) continue;
        for (const Row& row : islands[island])
            if (row.contact >= 0 && row.row == 0) found.push_back(row.contact);
    }
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace stickslip
