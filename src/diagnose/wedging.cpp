#include "diagnose/wedging.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "diagnose/contact_islands.hpp"
#include "problems/cones.hpp"

namespace stickslip {

namespace {

// All of it in units of a generator's length. A hull nearer to 0 than `zero` contains it; a generator that leaves less
// than `opening` behind the plane across the nearest point is not told from one that leaves nothing.
constexpr double zero = 1e-9;
constexpr double opening = 1e-10;
// Of a generator or row, the part that other rows do not carry: below it there is none.
constexpr double carried = 1e-8;
// A point of the simplex with less weight is dropped.
constexpr double no_weight = 1e-12;
constexpr int max_rounds = 1000;

// L^-1 of M_nn = L L' for one node, applied to a vector. Couplings of M are left out: any metric gives the same answer.
class MassRoot {
public:
    explicit MassRoot(const BlockMatrix& M) {
        for (int n = 0; n < M.nodes.size(); ++n) root_.emplace_back(M.block(n));
    }
    void solve(int node, VecX& x) const { root_[node].matrixL().solveInPlace(x); }

private:
    std::vector<Eigen::LLT<MatX>> root_;
};

class Search {
public:
    Search(const BlockMatrix& M, const BilateralRows& joints, const ContactRows& contacts)
        : M_(M), root_(M), joints_(joints), contacts_(contacts) {}

    void run(const ContactIsland& island, WedgingAnswer& answer);

private:
    struct Point {
        int place;     // in kept_
        Vec2 section;  // mu d
    };

    // Row `i` of group g as a column in the metric, added to `x`.
    void scatter(const BlockRows& rows, int g, int i, VecX& x) const {
        for (const BlockRows::Block& block : rows.blocks_of(g)) {
            const int d = M_.nodes.dof(block.node);
            VecX part = Eigen::Map<const VecX>(rows.values.data() + block.offset + (i - rows.row[g]) * d, d);
            root_.solve(block.node, part);
            x.segment(start_[block.node], d) += part;
        }
    }
    void project(VecX& x) const {
        for (int round = 0; round < 2; ++round) x -= basis_ * (basis_.transpose() * x);
    }
    void load(const ContactIsland& island, WedgingAnswer& answer);
    VecX generator(const Point& point) const;
    Point max_against(const VecX& x, double& product) const;
    bool nearest_point();  // of the simplex; false when its points are dependent
    void tell(WedgingAnswer& answer) const;

    const BlockMatrix& M_;
    MassRoot root_;
    const BilateralRows& joints_;
    const ContactRows& contacts_;
    std::vector<int> start_ = std::vector<int>(static_cast<std::size_t>(M_.nodes.size()), 0);
    int n_ = 0;
    MatX basis_;               // orthonormal, of the joint rows
    std::vector<int> kept_;    // contacts
    std::vector<MatX> free_;   // per kept contact: P M^-1/2 H_i', scaled
    std::vector<double> per_;  // the scale: 1 / |M^-1/2 H_i' n|
    std::vector<Point> points_;
    MatX X_;  // their generators
    VecX weight_;
};

void Search::load(const ContactIsland& island, WedgingAnswer& answer) {
    n_ = 0;
    for (const int node : island.nodes) {
        start_[node] = n_;
        n_ += M_.nodes.dof(node);
    }
    basis_.resize(n_, 0);
    int rank = 0;
    MatX all(n_, std::min(n_, static_cast<int>(island.joint_rows.size())));
    for (const int i : island.joint_rows) {
        if (rank == all.cols()) break;
        const auto& starts = joints_.jacobian.row;
        const int g = static_cast<int>(std::upper_bound(starts.begin(), starts.end(), i) - starts.begin()) - 1;
        VecX x = VecX::Zero(n_);
        scatter(joints_.jacobian, g, i, x);
        const double before = x.norm();
        for (int round = 0; round < 2; ++round) {
            const VecX along = all.leftCols(rank).transpose() * x;
            x -= all.leftCols(rank) * along;
        }
        if (!(x.norm() > carried * before)) continue;
        all.col(rank++) = x / x.norm();
    }
    basis_ = all.leftCols(rank);

    kept_.clear();
    free_.clear();
    per_.clear();
    for (const int i : island.contacts) {
        const BlockRows& H = contacts_.jacobian;
        MatX W(n_, H.dim(i));
        double scale = 0;
        bool slides = false;  // a tangent that joints do not carry
        for (int k = 0; k < H.dim(i); ++k) {
            VecX x = VecX::Zero(n_);
            scatter(H, i, H.row[i] + k, x);
            const double whole = x.norm();
            if (k == 0) scale = whole;
            project(x);
            if (k > 0 && !(x.norm() > carried * whole)) x.setZero();
            slides = slides || (k > 0 && x.norm() > 0);
            W.col(k) = x;
        }
        if (H.dim(i) > 1 && contacts_.friction[i] > 0 && !slides) answer.dropped.push_back(i);
        if (!(W.col(0).norm() > carried * scale)) {
            answer.held.push_back(i);
            continue;
        }
        kept_.push_back(i);
        per_.push_back(1 / scale);
        free_.push_back(W / scale);
    }
}

VecX Search::generator(const Point& point) const {
    const MatX& W = free_[point.place];
    VecX g = W.col(0);
    for (int k = 1; k < W.cols(); ++k) g += point.section[k - 1] * W.col(k);
    return g;
}

Search::Point Search::max_against(const VecX& x, double& product) const {
    Point best{0, Vec2::Zero()};
    product = infinity;
    for (int place = 0; place < static_cast<int>(kept_.size()); ++place) {
        const int i = kept_[place];
        const double mu = contacts_.friction[i];
        const VecX u = free_[place].transpose() * x;
        Vec2 d = Vec2::Zero();
        if (mu > 0 && u.size() == 2) {
            d[0] = u[1] > 0 ? -1 : 1;
        } else if (mu > 0 && u.size() == 3 && contacts_.facets[i] > 0) {
            for (const Vec2& corner : polygon(contacts_.facets[i]).corner)
                if (corner.dot(u.tail<2>()) < d.dot(u.tail<2>())) d = corner;
        } else if (mu > 0 && u.size() == 3 && u.tail<2>().norm() > 0) {
            d = -u.tail<2>().normalized();
        }
        double value = u[0];
        for (int k = 1; k < u.size(); ++k) value += mu * d[k - 1] * u[k];
        if (!(value < product)) continue;
        product = value;
        best = {place, mu * d};
    }
    return best;
}

// min |X w| with sum w = 1 by (1 1' + X'X) u = 1, w = u / sum u; points whose weight turns negative leave, one at a time.
bool Search::nearest_point() {
    while (true) {
        const auto s = static_cast<int>(points_.size());
        const auto X = X_.leftCols(s);
        MatX A = X.transpose() * X;
        A.array() += 1;
        for (int j = 0; j < s; ++j) {  // Cholesky
            for (int k = 0; k < j; ++k)
                for (int i = j; i < s; ++i) A(i, j) -= A(i, k) * A(j, k);
            if (!(A(j, j) > 1e-15)) return false;
            const double pivot = std::sqrt(A(j, j));
            for (int i = j; i < s; ++i) A(i, j) /= pivot;
        }
        VecX u = VecX::Ones(s);
        for (int j = 0; j < s; ++j) {
            u[j] /= A(j, j);
            for (int i = j + 1; i < s; ++i) u[i] -= A(i, j) * u[j];
        }
        for (int j = s - 1; j >= 0; --j) {
            for (int i = j + 1; i < s; ++i) u[j] -= A(i, j) * u[i];
            u[j] /= A(j, j);
        }
        u /= u.sum();
        if (u.minCoeff() > no_weight) {
            weight_ = u;
            return true;
        }
        double share = 1;
        for (int i = 0; i < s; ++i)
            if (u[i] <= no_weight && weight_[i] > u[i]) share = std::min(share, weight_[i] / (weight_[i] - u[i]));
        weight_ += share * (u - weight_);
        int left = 0;
        for (int i = 0; i < s; ++i) {
            if (!(weight_[i] > no_weight)) continue;
            points_[left] = points_[i];
            X_.col(left) = X_.col(i).eval();
            weight_[left++] = weight_[i];
        }
        if (left == s || left == 0) return false;
        points_.resize(static_cast<std::size_t>(left));
        weight_.conservativeResize(left);
        weight_ /= weight_.sum();
    }
}

void Search::tell(WedgingAnswer& answer) const {
    const BlockRows& H = contacts_.jacobian;
    Wedge wedge;
    wedge.p.assign(static_cast<std::size_t>(H.rows()), 0.0);
    double sum = 0;
    for (std::size_t k = 0; k < points_.size(); ++k) {
        const auto place = static_cast<std::size_t>(points_[k].place);
        const int i = kept_[place];
        const double p = weight_[static_cast<Eigen::Index>(k)] * per_[place];
        wedge.p[H.row[i]] += p;
        for (int t = 1; t < H.dim(i); ++t) wedge.p[H.row[i] + t] += p * points_[k].section[t - 1];
        sum += p;
    }
    for (double& p : wedge.p) p /= sum;
    // The certificate, from the rows themselves.
    VecX f = VecX::Zero(n_);
    double largest = 0;
    for (const int i : kept_) {
        VecX part = VecX::Zero(n_);
        for (int row = H.row[i]; row < H.row[i + 1]; ++row) {
            VecX x = VecX::Zero(n_);
            scatter(H, i, row, x);
            part += wedge.p[row] * x;
        }
        largest = std::max(largest, part.norm());
        f += part;
        if (!(wedge.p[H.row[i]] > 1e-6)) continue;
        wedge.contacts.push_back(i);
        wedge.friction = std::max(wedge.friction, contacts_.friction[i]);
    }
    project(f);
    wedge.residual = f.norm() / largest;
    if (wedge.residual <= 1e-7)
        answer.wedges.push_back(std::move(wedge));
    else
        answer.undecided += static_cast<int>(kept_.size());
}

void Search::run(const ContactIsland& island, WedgingAnswer& answer) {
    load(island, answer);
    if (kept_.empty()) return;
    points_ = {{0, Vec2::Zero()}};
    X_.resize(n_, n_ + 2);
    X_.col(0) = generator(points_[0]);
    weight_ = VecX::Ones(1);
    for (int round = 0; round < max_rounds; ++round) {
        const VecX x = X_.leftCols(static_cast<Eigen::Index>(points_.size())) * weight_;
        if (x.norm() <= zero) return tell(answer);
        double product = 0;
        const Point next = max_against(x, product);
        if (product > opening * x.norm()) return;  // x opens every contact
        if (static_cast<Eigen::Index>(points_.size()) == X_.cols()) break;
        X_.col(static_cast<Eigen::Index>(points_.size())) = generator(next);
        points_.push_back(next);
        weight_.conservativeResize(weight_.size() + 1);
        weight_[weight_.size() - 1] = 0;
        if (!nearest_point()) break;
    }
    answer.undecided += static_cast<int>(kept_.size());
}

}  // namespace

WedgingAnswer find_wedges(const BlockMatrix& M, const BilateralRows& joints, const ContactRows& contacts,
                          double touching) {
    WedgingAnswer answer;
    Search search(M, joints, contacts);
    for (const ContactIsland& island : contact_islands(M.nodes, joints, contacts, touching)) {
        int velocities = 0;
        for (const int n : island.nodes) velocities += M.nodes.dof(n);
        if (velocities > max_wedging_velocities || static_cast<int>(island.contacts.size()) > max_wedging_contacts) {
            answer.left_out += static_cast<int>(island.contacts.size());
            continue;
        }
        search.run(island, answer);
    }
    return answer;
}

}  // namespace stickslip
