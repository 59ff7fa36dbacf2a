// Joints, drives, springs and limits as rows: the plan of groups made once, and their values, gradients and bias.
#include "model/connections.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stickslip/error.hpp"

namespace stickslip {

int Connections::joint_index(std::uint32_t id) const {
    const auto found = std::lower_bound(model_.joints.begin(), model_.joints.end(), id,
                                        [](const Joint& joint, std::uint32_t wanted) { return joint.id < wanted; });
    if (found == model_.joints.end() || found->id != id) return -1;
    return static_cast<int>(found - model_.joints.begin());
}

Connections::Connections(MultibodyModel& model, const Bodies& bodies)
    : model_(model), bodies_(bodies), nq_(bodies.nq()) {
    plan_joints();
    plan_elements();
    for (const Group& group : groups_) bilateral_rows_ += group_size(group);
    measure_bodies();
    model.counted.clear();
    for (const Counted& counted : counted_)
        model.counted.emplace_back(model_.joints[counted.joint].id, counted.coordinate);
}

std::uint32_t Connections::group_id(Source source, int coordinate, std::uint32_t id) {
    SS_ASSERT(id <= joint_id_mask, "too many joints");
    return static_cast<std::uint32_t>(source) << source_shift |
           static_cast<std::uint32_t>(coordinate) << coordinate_shift | id;
}

void Connections::count(int joint, int coordinate) {
    const auto j = static_cast<std::size_t>(joint), c = static_cast<std::size_t>(coordinate);
    const bool curve = model_.joints[j].kind->is_curve();
    if (count_place_[j][c] >= 0 || (!curve && coordinates_[j][c].kind != PieceKind::turn)) return;
    count_place_[j][c] = nq_;
    counted_.push_back({joint, coordinate, nq_++});
}

void Connections::plan_joints() {
    for (const Joint& joint : model_.joints) {
        pieces_.push_back(joint_pieces(joint, bodies_.freedom()));
        coordinates_.push_back(joint_coordinates(joint));
        count_place_.push_back({-1, -1});
    }
    for (const auto& [id, coordinate] : model_.counted) count(joint_index(id), coordinate);
    for (int j = 0; j < static_cast<int>(model_.joints.size()); ++j) {
        const Joint& joint = model_.joints[j];
        const bool gear = joint.kind->is_gear(), tied = joint.kind->tie != JointKind::Tie::none;
        for (int k = 0; k < 2 && tied; ++k) count(joint_index(joint.of[k]), joint.of_coordinate[k]);
        for (const Drive& drive : joint.drives) count(j, drive.coordinate);
        if (joint.kind->is_curve()) count(j, 0);
        if (!joint.present) continue;
        if (joint.curve) {
            groups_.push_back({Source::curve, group_id(Source::curve, 0, joint.id), j});
        } else if (joint.rigid && !gear) {
            groups_.push_back({Source::joint, group_id(Source::joint, 0, joint.id), j});
        }
        if (tied) groups_.push_back({Source::gear, group_id(Source::gear, 0, joint.id), j});
        for (int d = 0; d < static_cast<int>(joint.drives.size()); ++d) plan_drive(j, d);
    }
    std::sort(limits_.begin(), limits_.end(), [](const Limit& x, const Limit& y) { return x.id < y.id; });
}

void Connections::plan_drive(int j, int d) {
    const Joint& joint = model_.joints[j];
    const Drive& drive = joint.drives[d];
    const auto add = [&](Source source) {
        groups_.push_back({source, group_id(source, drive.coordinate, joint.id), j, d});
    };
    if (drive.motor) add(Source::motor);
    if (drive.friction) add(Source::friction);
    if (drive.brake) add(Source::brake);
    if (drive.has_spring()) groups_.push_back({Source::torsion, group_id(Source::torsion, 0, drive.spring_id), j, d});
    const auto limit = [&](std::uint32_t upper) {
        const auto coordinate = static_cast<std::uint32_t>(drive.coordinate);
        limits_.push_back({{ContactKind::limit, joint.id, coordinate, {}, {upper, 0}}, j, d, upper == 1});
    };
    if (drive.lower > -infinity) limit(0);
    if (drive.upper < infinity) limit(1);
}

void Connections::plan_elements() {
    for (const Spring& spring : model_.springs) {
        if (!spring.present) continue;
        elements_.push_back({spring.name,
                             spring.id,
                             spring.a,
                             spring.b,
                             spring.point_a,
                             spring.point_b,
                             spring.length,
                             {Piece{}},
                             {spring.stiffness},
                             {spring.damping}});
    }
    for (const Bushing& bushing : model_.bushings) {
        if (!bushing.present) continue;
        Element element{bushing.name,    bushing.id, bushing.a, bushing.b, bushing.point_a,
                        bushing.point_b, 0,          {},        {},        {}};
        const std::vector<Piece> pieces = bushing_pieces(bushing.axes_a, bushing.axes_b);
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            if (bushing.stiffness[i] == 0 && bushing.damping[i] == 0) continue;
            // rows along and about axes where no body can move have nothing to act on
            const Vec3 axis = bushing.axes_a.col(static_cast<int>(i) % 3);
            const Freedom& freedom = bodies_.freedom();
            if (i < 3 ? !freedom.moves_along(axis) : !freedom.turns_about(axis)) continue;
            element.pieces.push_back(pieces[i]);
            element.stiffness.push_back(bushing.stiffness[i]);
            element.damping.push_back(bushing.damping[i]);
        }
        elements_.push_back(std::move(element));
    }
    std::sort(elements_.begin(), elements_.end(), [](const Element& x, const Element& y) { return x.id < y.id; });
    for (int e = 0; e < static_cast<int>(elements_.size()); ++e)
        groups_.push_back({Source::element, group_id(Source::element, 0, elements_[e].id), e});
}

std::string Connections::joint_name(std::uint32_t id) const {
    const auto found = std::find_if(groups_.begin(), groups_.end(), [&](const Group& group) { return group.id == id; });
    if (found == groups_.end()) return "joint " + std::to_string(id & joint_id_mask);
    if (found->source == Source::element) return elements_[found->index].name;
    const Joint& joint = model_.joints[found->index];
    std::string name = joint.name;
    if (found->source == Source::gear && !joint.kind->is_gear()) return name + ".tie";
    if (found->source <= Source::gear) return name;
    if (found->source == Source::torsion) return joint.drives[found->drive].spring_name;
    const auto& coordinates = joint.kind->coordinates;
    if (coordinates.size() > 1) name += std::string(".") + coordinates[joint.drives[found->drive].coordinate].name;
    switch (found->source) {
        case Source::motor: return name + " motor";
        case Source::friction: return name + " friction";
        default: return name + " brake";
    }
}

std::string Connections::limit_name(const ContactId& id) const {
    const int j = joint_index(id.a);
    if (j < 0) return "limit " + std::to_string(id.a);
    const Joint& joint = model_.joints[j];
    std::string name = joint.name;
    const auto& coordinates = joint.kind->coordinates;
    if (coordinates.size() > 1) name += std::string(".") + coordinates[id.b].name;
    return name + (id.feature.a == 0 ? " lower limit" : " upper limit");
}

std::string Connections::subject_name(const Subject& subject) const {
    const std::uint32_t number = subject.id;
    if (subject.kind == SubjectKind::joint) {
        const int j = joint_index(number);
        return j < 0 ? "joint" : model_.joints[j].name;
    }
    for (const Spring& spring : model_.springs)
        if (spring.id == number) return spring.name;
    for (const Bushing& bushing : model_.bushings)
        if (bushing.id == number) return bushing.name;
    for (const Joint& joint : model_.joints)
        for (const Drive& drive : joint.drives)
            if (!drive.spring_name.empty() && drive.spring_id == number) return drive.spring_name;
    return "spring";
}

JointFrames Connections::frames(int a, int b, const Vec3& point_a, const Vec3& point_b, const VecX& q) const {
    return joint_frames(bodies_.pose(a, q), bodies_.pose(b, q), point_a, point_b);
}

JointFrames Connections::frames(const Joint& joint, const VecX& q) const {
    return frames(joint.a, joint.b, joint.point_a, joint.point_b, q);
}

RowPiece Connections::coordinate_piece(int joint, int number, const VecX& q) const {
    const auto j = static_cast<std::size_t>(joint), c = static_cast<std::size_t>(number);
    const Joint& data = model_.joints[j];
    RowPiece piece = evaluate(coordinates_[j][c], frames(data, q), 0);
    piece.value += data.offset[c];
    // the turn nearest to the one that q has counted
    constexpr double turn = 2 * std::numbers::pi;
    if (count_place_[j][c] >= 0) piece.value += turn * std::round((q[count_place_[j][c]] - piece.value) / turn);
    return piece;
}

void Connections::start(VecX& q) const {
    for (const Counted& counted : counted_) q[counted.place] = model_.joints[counted.joint].offset[counted.coordinate];
}

void Connections::recount(VecX& q) const {
    for (const Counted& counted : counted_) {
        const Joint& joint = model_.joints[counted.joint];
        if (!joint.present) continue;
        q[counted.place] = joint.curve ? parameter(counted.joint, q) : coordinate(counted.joint, counted.coordinate, q);
    }
}

void Connections::carry_over(const Connections& before, const VecX& q_before, VecX& q) const {
    for (const Counted& counted : counted_) {
        const Joint& joint = model_.joints[counted.joint];
        const int old = before.joint_index(joint.id);
        const bool known = old >= 0 && before.count_place_[old][counted.coordinate] >= 0;
        const bool same = old >= 0 && before.model_.joints[old].present == joint.present;
        q[counted.place] = known && (same || !joint.present) ? q_before[before.count_place_[old][counted.coordinate]]
                                                             : joint.offset[counted.coordinate];
    }
}

void Connections::add_names(std::vector<std::string>& names) const {
    for (const Counted& counted : counted_) {
        const Joint& joint = model_.joints[counted.joint];
        names.push_back(joint.name + "." +
                        (joint.kind->is_curve() ? "way" : joint.kind->coordinates[counted.coordinate].name));
    }
}

double Connections::elastic_energy(const VecX& q) const {
    double sum = 0;
    for (const Element& element : elements_) {
        const JointFrames at = frames(element.a, element.b, element.point_a, element.point_b, q);
        for (std::size_t i = 0; i < element.pieces.size(); ++i) {
            if (element.stiffness[i] == 0) continue;
            const double x = evaluate(element.pieces[i], at, element.length).value;
            sum += 0.5 * element.stiffness[i] * x * x;
        }
    }
    for (const Group& group : groups_) {
        if (group.source != Source::torsion) continue;
        const Drive& drive = model_.joints[group.index].drives[group.drive];
        const double x = coordinate(group.index, drive.coordinate, q) - drive.rest;
        sum += 0.5 * drive.stiffness * x * x;
    }
    return sum;
}

std::string Connections::undefined(double t) const {
    for (const Joint& joint : model_.joints) {
        if (!joint.present) continue;
        for (const Drive& drive : joint.drives) {
            std::string no = drive.motor ? drive.motor->target.undefined(t) : std::string();
            if (no.empty() && drive.brake) no = drive.brake->undefined(t);
            if (!no.empty()) return fmt::format("joint '{}': {}", joint.name, no);
        }
    }
    return {};
}

double Connections::next_discontinuity(double t) const {
    double next = infinity;
    for (const Joint& joint : model_.joints) {
        if (!joint.present) continue;
        for (const Drive& drive : joint.drives) {
            if (drive.motor) next = std::min(next, drive.motor->target.next_discontinuity(t));
            if (drive.brake) next = std::min(next, drive.brake->next_discontinuity(t));
        }
    }
    return next;
}

double Connections::next_jump(double t) const {
    double next = infinity;
    for (const Joint& joint : model_.joints) {
        if (!joint.present) continue;
        for (const Drive& drive : joint.drives) {
            if (drive.motor) next = std::min(next, drive.motor->target.next_jump(t));
            if (drive.brake) next = std::min(next, drive.brake->next_jump(t));
        }
    }
    return next;
}

std::string Connections::hasty_drive(double t0, double t1) const {
    for (const Joint& joint : model_.joints) {
        if (!joint.present) continue;
        for (const Drive& drive : joint.drives) {
            if (drive.motor && drive.motor->target.hasty(t0, t1)) return fmt::format("the motor of '{}'", joint.name);
            if (drive.brake && drive.brake->hasty(t0, t1)) return fmt::format("the brake of '{}'", joint.name);
        }
    }
    return {};
}

double Connections::coordinate(int joint, int number, const VecX& q) const {
    return coordinate_piece(joint, number, q).value;
}

double Connections::coordinate_bias(int joint, int number, const VecX& q, const VecX& v) const {
    const auto j = static_cast<std::size_t>(joint), c = static_cast<std::size_t>(number);
    const Joint& data = model_.joints[j];
    const JointFrames at = frames(data, q);
    const double bias = evaluate_bias(coordinates_[j][c], at, bodies_.twist(data.a, q, v), bodies_.twist(data.b, q, v));
    if (!bodies_.has_bias()) return bias;
    return with_bias(bias, evaluate(coordinates_[j][c], at, 0), data.a, data.b, q, v);
}

double Connections::with_bias(double second, const RowPiece& piece, int a, int b, const VecX& q, const VecX& v) const {
    const Acceleration of_a = bodies_.bias(a, q, v), of_b = bodies_.bias(b, q, v);
    return second + piece.a.f.dot(of_a.linear) + piece.a.tau.dot(of_a.angular) + piece.b.f.dot(of_b.linear) +
           piece.b.tau.dot(of_b.angular);
}

int Connections::piece_bias(const std::vector<Piece>& pieces, const JointFrames& at, int a, int b, const VecX& q,
                            const VecX& v, double* bias) const {
    const Twist of_a = bodies_.twist(a, q, v), of_b = bodies_.twist(b, q, v);
    const int dim = static_cast<int>(pieces.size());
    for (int i = 0; i < dim; ++i) {
        bias[i] = evaluate_bias(pieces[i], at, of_a, of_b);
        if (bodies_.has_bias()) bias[i] = with_bias(bias[i], evaluate(pieces[i], at, 0), a, b, q, v);
    }
    return dim;
}

void Connections::add_blocks(int a, int b, const VecX& q, int dim, const RowPiece* pieces, BlockRows& rows) const {
    std::array<Wrench, 6> wrench;
    for (int i = 0; i < dim; ++i) wrench[i] = pieces[i].a;
    bodies_.add_rows(a, q, std::span(wrench.data(), dim), rows);
    for (int i = 0; i < dim; ++i) wrench[i] = pieces[i].b;
    bodies_.add_rows(b, q, std::span(wrench.data(), dim), rows);
}

int Connections::group_size(const Group& group) const {
    switch (group.source) {
        case Source::joint: return static_cast<int>(pieces_[group.index].size());
        case Source::element: return static_cast<int>(elements_[group.index].pieces.size());
        case Source::curve: return bodies_.freedom().normal ? 1 : 2;
        default: return 1;
    }
}

void Connections::rows(double t, const VecX& q, BilateralRows& rows) const {
    std::array<RowPiece, 6> piece;
    rows.begin_rows(bilateral_rows_);
    for (const Group& group : groups_) {
        switch (group.source) {
            case Source::joint: {
                const auto j = static_cast<std::size_t>(group.index);
                const Joint& joint = model_.joints[j];
                const int dim = static_cast<int>(pieces_[j].size());
                const JointFrames at = frames(joint, q);
                const int first = rows.begin_group(group.id, dim, RowKind::holonomic);
                for (int i = 0; i < dim; ++i) {
                    piece[i] = evaluate(pieces_[j][i], at, joint.length);
                    rows.value[first + i] = piece[i].value;
                }
                add_blocks(joint.a, joint.b, q, dim, piece.data(), rows.jacobian);
                break;
            }
            case Source::element: {
                const Element& element = elements_[group.index];
                const int dim = static_cast<int>(element.pieces.size());
                const JointFrames at = frames(element.a, element.b, element.point_a, element.point_b, q);
                const int first = rows.begin_group(group.id, dim, RowKind::compliant);
                for (int i = 0; i < dim; ++i) {
                    piece[i] = evaluate(element.pieces[i], at, element.length);
                    rows.value[first + i] = piece[i].value;
                    rows.stiffness[first + i] = element.stiffness[i];
                    rows.damping[first + i] = element.damping[i];
                }
                add_blocks(element.a, element.b, q, dim, piece.data(), rows.jacobian);
                break;
            }
            case Source::curve: {
                const int first = rows.begin_group(group.id, group_size(group), RowKind::holonomic);
                const OnCurve at = on_curve(group.index, q, nullptr, nullptr);
                for (int i = first; i < rows.size(); ++i) rows.value[i] = at.rows.value[2 - rows.size() + i];
                add_curve_blocks(group.index, at, q, rows.jacobian);
                break;
            }
            case Source::gear: {
                const int row = rows.begin_group(group.id, 1, RowKind::holonomic);
                rows.value[row] = add_gear_blocks(model_.joints[group.index], q, rows.jacobian);
                break;
            }
            case Source::motor: drive_row(t, group, q, rows.begin_group(group.id, 1, RowKind::velocity), rows); break;
            case Source::friction:
            case Source::brake: drive_row(t, group, q, rows.begin_group(group.id, 1, RowKind::friction), rows); break;
            case Source::torsion:
                drive_row(t, group, q, rows.begin_group(group.id, 1, RowKind::compliant), rows);
                break;
        }
    }
}

double Connections::joint_error(const VecX& q, double arm) const {
    double error = 0;
    const auto see = [&](PieceKind kind, double value) {
        const bool angle = kind == PieceKind::right_angle || kind == PieceKind::turn;
        error = std::max(error, std::abs(value) * (angle ? arm : 1.0));
    };
    for (const Group& group : groups_) {
        if (group.source == Source::joint) {
            const Joint& joint = model_.joints[group.index];
            const JointFrames at = frames(joint, q);
            for (const Piece& piece : pieces_[group.index]) see(piece.kind, evaluate_value(piece, at, joint.length));
        } else if (group.source == Source::curve) {
            const OnCurve at = on_curve(group.index, q, nullptr, nullptr);
            for (int i = bodies_.freedom().normal ? 1 : 0; i < 2; ++i) see(PieceKind::distance, at.rows.value[i]);
        } else if (group.source == Source::gear) {
            const Joint& gear = model_.joints[group.index];
            const int first = joint_index(gear.of[0]), second = joint_index(gear.of[1]);
            see(coordinates_[first][gear.of_coordinate[0]].kind,
                coordinate(first, gear.of_coordinate[0], q) -
                    gear.ratio * coordinate(second, gear.of_coordinate[1], q) - gear.length);
        }
    }
    return error;
}

// The point of b in the axes of a is p = R_a' d with d from a's centre of mass, so along constant twists
//   p' = R_a' (d' - w_a x d),   p'' = R_a' (d'' - 2 w_a x d' + w_a x (w_a x d)),   d'' = w_b x (w_b x r_b).
Connections::OnCurve Connections::on_curve(int joint, const VecX& q, const Twist* a, const Twist* b) const {
    const Joint& data = model_.joints[joint];
    const Pose at_a = bodies_.pose(data.a, q), at_b = bodies_.pose(data.b, q);
    const Vec3 arm_b = at_b.attitude * data.point_b, arm_a = at_b.position + arm_b - at_a.position;
    const Quat inverse = at_a.attitude.conjugate();
    Vec3 rate = Vec3::Zero(), rate2 = Vec3::Zero();
    if (a) {
        const Vec3 moves = b->linear + b->angular.cross(arm_b) - a->linear;
        rate = inverse * (moves - a->angular.cross(arm_a));
        rate2 =
            inverse * (centripetal(b->angular, arm_b) - 2 * a->angular.cross(moves) + centripetal(a->angular, arm_a));
    }
    const double s = parameter(joint, q);
    return {at_a, arm_a, arm_b, data.curve->rows(s, data.curve->reference_axis(s), inverse * arm_a, rate, rate2)};
}

RowPiece Connections::curve_piece(const OnCurve& at, int row) {
    const Vec3 n = at.a.attitude * at.rows.gradient[row];
    return {at.rows.value[row], {-n, -at.arm_a.cross(n)}, {n, at.arm_b.cross(n)}};
}

double Connections::parameter(int joint, const VecX& q) const {
    const auto j = static_cast<std::size_t>(joint);
    const Joint& data = model_.joints[j];
    const Pose a = bodies_.pose(data.a, q), b = bodies_.pose(data.b, q);
    return data.curve->nearest(a.attitude.conjugate() * (b * data.point_b - a.position), q[count_place_[j][0]]);
}

// Where all bodies move across one normal, n_1 is that normal and only n_2 holds.
void Connections::add_curve_blocks(int joint, const OnCurve& at, const VecX& q, BlockRows& rows) const {
    const Joint& data = model_.joints[joint];
    std::array<RowPiece, 2> piece;
    const int skip = bodies_.freedom().normal ? 1 : 0;
    for (int i = skip; i < 2; ++i) piece[i - skip] = curve_piece(at, i);
    add_blocks(data.a, data.b, q, 2 - skip, piece.data(), rows);
}

// g = s_1 - ratio s_2 over up to four bodies, each named once.
double Connections::add_gear_blocks(const Joint& gear, const VecX& q, BlockRows& rows) const {
    std::array<int, 4> body{};
    std::array<Wrench, 4> wrench;
    int bodies = 0;
    const auto add = [&](int b, double s, const Wrench& w) {
        if (bodies_.node(b) < 0) return;
        int k = 0;
        while (k < bodies && body[k] != b) ++k;
        if (k == bodies) {
            body[bodies++] = b;
            wrench[k] = {};
        }
        wrench[k].f += s * w.f;
        wrench[k].tau += s * w.tau;
    };
    double value = -gear.length;
    for (int k = 0; k < 2; ++k) {
        const int j = joint_index(gear.of[k]);
        const Joint& joint = model_.joints[j];
        const RowPiece piece = coordinate_piece(j, gear.of_coordinate[k], q);
        const double s = k == 0 ? 1.0 : -gear.ratio;
        value += s * piece.value;
        add(joint.a, s, piece.a);
        add(joint.b, s, piece.b);
    }
    for (int k = 0; k < bodies; ++k) bodies_.add_rows(body[k], q, std::span(&wrench[k], 1), rows);
    return value;
}

void Connections::drive_row(double t, const Group& group, const VecX& q, int row, BilateralRows& rows) const {
    const Joint& joint = model_.joints[group.index];
    const Drive& drive = joint.drives[group.drive];
    const RowPiece piece = coordinate_piece(group.index, drive.coordinate, q);
    add_blocks(joint.a, joint.b, q, 1, &piece, rows.jacobian);
    const auto bound = [&](double most) {
        rows.force_lower[row] = -most;
        rows.force_upper[row] = most;
    };
    rows.value[row] = piece.value;
    switch (group.source) {
        case Source::motor: {
            const Motor& motor = *drive.motor;
            rows.target[row] = motor.target(t);
            if (motor.position) {
                rows.servo[row] = 1 / motor.time_constant;
                rows.goal[row] = rows.target[row];
                rows.goal_rate[row] = motor.target.rate(t);
                rows.target[row] = rows.goal_rate[row] + rows.servo[row] * (rows.goal[row] - piece.value);
            }
            bound(motor.max_effort);
            break;
        }
        case Source::friction: bound(std::max(0.0, (*drive.friction)(t))); break;
        case Source::brake: bound(std::max(0.0, (*drive.brake)(t))); break;
        default:
            rows.value[row] -= drive.rest;
            rows.stiffness[row] = drive.stiffness;
            rows.damping[row] = drive.damping;
    }
}

// A limit is a contact of dimension one: gap s - lower or upper - s.
double Connections::gap_at(const Limit& limit, double value) const {
    const Drive& drive = model_.joints[limit.joint].drives[limit.drive];
    return limit.upper ? drive.upper - value : value - drive.lower;
}

double Connections::limit_gap(const ContactId& id, const VecX& q) const {
    const auto limit = std::lower_bound(limits_.begin(), limits_.end(), id,
                                        [](const Limit& x, const ContactId& wanted) { return x.id < wanted; });
    if (limit == limits_.end() || limit->id != id) return infinity;
    const Drive& drive = model_.joints[limit->joint].drives[limit->drive];
    return gap_at(*limit, coordinate(limit->joint, drive.coordinate, q));
}

void Connections::limit_rows(const VecX& q, ContactRows& rows) const {
    for (const Limit& limit : limits_) {
        const Joint& joint = model_.joints[limit.joint];
        const Drive& drive = joint.drives[limit.drive];
        RowPiece piece = coordinate_piece(limit.joint, drive.coordinate, q);
        const double gap = gap_at(limit, piece.value);
        if (limit.upper)
            for (Wrench* wrench : {&piece.a, &piece.b}) *wrench = {-wrench->f, -wrench->tau};
        rows.begin_contact(limit.id, 1, gap, 0, drive.restitution, 0);
        const Pose a = bodies_.pose(joint.a, q);
        rows.position.back() = a * joint.point_a;
        rows.normal.back() = a.attitude * joint.axes_a.col(2);
        rows.tangent.back() = a.attitude * joint.axes_a.col(0);
        add_blocks(joint.a, joint.b, q, 1, &piece, rows.jacobian);
    }
}

void Connections::bias(const VecX& q, const VecX& v, BilateralRows& joints) const {
    double* bias = joints.bias.data();
    for (const Group& group : groups_) {
        if (group.source == Source::joint) {
            const Joint& joint = model_.joints[group.index];
            bias += piece_bias(pieces_[group.index], frames(joint, q), joint.a, joint.b, q, v, bias);
        } else if (group.source == Source::element) {
            const Element& element = elements_[group.index];
            const JointFrames at = frames(element.a, element.b, element.point_a, element.point_b, q);
            bias += piece_bias(element.pieces, at, element.a, element.b, q, v, bias);
        } else if (group.source == Source::curve) {
            const Joint& joint = model_.joints[group.index];
            const Twist a = bodies_.twist(joint.a, q, v), b = bodies_.twist(joint.b, q, v);
            const OnCurve at = on_curve(group.index, q, &a, &b);
            for (int i = bodies_.freedom().normal ? 1 : 0; i < 2; ++i) {
                const double second = at.rows.second[i];
                *bias++ = bodies_.has_bias() ? with_bias(second, curve_piece(at, i), joint.a, joint.b, q, v) : second;
            }
        } else if (group.source == Source::gear) {
            const Joint& gear = model_.joints[group.index];
            *bias++ = coordinate_bias(joint_index(gear.of[0]), gear.of_coordinate[0], q, v) -
                      gear.ratio * coordinate_bias(joint_index(gear.of[1]), gear.of_coordinate[1], q, v);
        } else {
            const Drive& drive = model_.joints[group.index].drives[group.drive];
            *bias++ = coordinate_bias(group.index, drive.coordinate, q, v);
        }
    }
}

double Connections::limit_bias(const ContactId& id, const VecX& q, const VecX& v) const {
    const double s = coordinate_bias(joint_index(id.a), static_cast<int>(id.b), q, v);
    return id.feature.a == 0 ? s : -s;
}

}  // namespace stickslip
