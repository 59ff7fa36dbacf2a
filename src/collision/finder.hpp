// Finds the contacts of all colliders that are nearer than the margin, with stable ids and frames.
//
// Broad phase (find_candidates): every collider has a region, its world box grown by what its body may travel and by some
// slack. The candidates are the pairs of colliders whose regions overlap, found by a tree of boxes; half-spaces are tested
// against all. As long as a collider, with what its body may travel, stays inside its region, its candidates hold, so they serve
// all trials of a step and often the next steps too. Who leaves its region gets a new one, and only its pairs are found anew.
// Narrow phase (evaluate): the candidates whose boxes meet, by the exact pairs of pair_table.cpp. It checks that the
// candidates hold and finds them anew where they do not: no contact is missed. Contacts come out sorted by id (collider
// a < collider b, feature), and are the same whenever and wherever the candidates were found.
//
// Planar scenes (plane_normal set, shapes symmetric about the plane): contacts of one pair that coincide seen along
// the normal of the plane are one contact, the one with the lowest feature; P and n lie in the plane, through the
// centres of the shapes, and t1 = plane normal x n.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "collision/box_tree.hpp"
#include "collision/contact_point.hpp"
#include "collision/pair_table.hpp"
#include "geometry/shape.hpp"
#include "stickslip/types.hpp"

namespace stickslip {

struct Collider {
    std::uint32_t id = 0;  // never renumbered by an edit
    int body = -1;         // -1: ground
    Shape shape;
};

struct CollisionModel {
    std::vector<Collider> colliders;                  // sorted by id
    std::vector<std::pair<int, int>> ignored_bodies;  // sorted pairs a < b (-1: ground) that never touch
    std::vector<char> fixed;                          // per body: fixed bodies never collide with each other
    std::optional<Vec3> plane_normal;                 // unit, of a planar scene
    // Candidates found for one model are not taken for those of another: who changes a model gives it a new identity.
    std::shared_ptr<const char> identity = std::make_shared<const char>();

    bool is_fixed(int body) const { return body < 0 || (!fixed.empty() && fixed[body] != 0); }
    int collider_index(std::uint32_t id) const;  // -1 if there is none
};

class ContactFinder {
public:
    // [m] Contacts farther apart than margin + reach[a] + reach[b] are not reported. If smaller, resting contacts
    // drop out of the list between steps, with their frames and warm starts. If larger, solvers carry contacts that
    // will not close.
    double margin = 1e-3;
    std::vector<double> reach;  // [m] per body, how far it may travel in this step; empty: zero
    bool inner_edges = false;   // contacts at inner edges (finder_inner.cpp) are reported too

    // Broad phase, unless the candidates at hand hold for these poses of the body frames and are not too many.
    void find_candidates(const CollisionModel& model, std::span<const Pose> body_poses);
    std::span<const std::pair<int, int>> candidates() const { return candidates_; }  // colliders i < j, sorted
    bool near(int i, int j) const { return near(placed_[i], placed_[j]); }  // their boxes meet, where they were last looked at
    bool has_candidates() const { return !candidates_.empty(); }  // else nothing can touch near where they were found
    // Narrow phase: contacts() at these poses. Uses the memory of tangents, does not change it.
    void evaluate(const CollisionModel& model, std::span<const Pose> body_poses);
    // Both, with candidates found anew: also for a model that was changed in place.
    void find(const CollisionModel& model, std::span<const Pose> body_poses);
    std::span<const ContactPoint> contacts() const { return contacts_; }
    // [m] Gap of the contact `id` of two colliders (indices in the model) alone, the same number that evaluate() gives;
    // infinity if it would not be among the contacts. Leaves contacts() as they are.
    double gap(const CollisionModel& model, int a, int b, const Pose& pose_a, const Pose& pose_b, const ContactId& id);

    // How often was asked since the finder was made; systems count rows and gaps themselves.
    struct Counts {
        long finds = 0;  // broad phases, of all colliders or of those that left their regions
        long rows = 0;   // System::rows
        long gaps = 0;   // System::gap
    };
    Counts counts;
    // The poses of n bodies at q, asked from `pose_of(body)` unless they are at hand: candidates and rows are mostly wanted at
    // the same q.
    template <class PoseOf>
    std::span<const Pose> poses_at(const CollisionModel& model, const VecX& q, int n, const PoseOf& pose_of) {
        if (poses_for_ == model.identity && poses_q_.size() == q.size() && poses_q_ == q) return body_poses_;
        body_poses_.resize(static_cast<std::size_t>(n));
        for (int b = 0; b < n; ++b) body_poses_[b] = pose_of(b);
        poses_q_ = q;
        poses_for_ = model.identity;
        placed_margin_ = -1;
        return body_poses_;
    }

    // The tangents found last become the memory that the next find() transports.
    void commit_frames();
    struct Frames {
        std::vector<ContactId> id;  // sorted
        std::vector<Vec3> tangent;  // t1 in W
    };
    const Frames& frames() const { return frames_; }
    void set_frames(const Frames& frames) { frames_ = frames; }  // copies into the memory at hand

private:
    struct Placed {
        PlacedShape shape;
        Aabb bounds;       // grown by half the margin and the reach of the body
        double reach = 0;  // [m]
        double size = 0;   // [m] half diagonal of the world box, infinite for half-spaces
    };
    double reach_of(int body) const { return body < 0 || reach.empty() ? 0.0 : reach[body]; }
    void place(const Collider& collider, const Pose& body_pose, Placed& at) const;
    bool already_placed(const CollisionModel& model, std::span<const Pose> body_poses) const;
    void place_all(const CollisionModel& model, std::span<const Pose> body_poses);
    // Broad phase, in finder_candidates.cpp.
    void update_candidates(const CollisionModel& model, bool anew);
    void collect_moved();
    void set_region(int i);
    void find_all_pairs(const CollisionModel& model);
    void find_moved_pairs(const CollisionModel& model);
    void find_plane_pairs(const CollisionModel& model, int plane, int other);
    void sort_fresh();
    bool near(const Placed& x, const Placed& y) const;
    // Narrow phase.
    void narrow(const CollisionModel& model);
    std::size_t narrow(const CollisionModel& model, int from, int to, std::vector<ContactPoint>& contacts) const;
    void pair_contacts(const CollisionModel& model, int a, int b, const Placed& x, const Placed& y,
                       std::vector<ContactPoint>& contacts) const;
    void orient(const CollisionModel& model);
    // Inner edges, in finder_inner.cpp.
    bool covers(const CollisionModel& model, int own, int k, const Vec3& Q, const Vec3& n) const;
    bool may_have_seam(const CollisionModel& model, int collider) const;
    void drop_inner_contacts(const CollisionModel& model);
    bool has_seams(const CollisionModel& model);

    std::vector<ContactPoint> contacts_;
    struct Found {  // by one part of the narrow phase
        std::vector<ContactPoint> contacts;
        std::size_t far = 0;  // pairs whose boxes do not meet
    };
    std::vector<Found> found_;
    Frames frames_;
    using CandidatePair = std::pair<int, int>;  // colliders i < j
    std::vector<CandidatePair> candidates_;     // sorted
    std::vector<Aabb> region_;                  // per collider: its candidates hold while its box stays inside,
    std::shared_ptr<const char> found_for_;     // for the model with this identity
    double found_margin_ = -1;                  // [m] and this margin
    BoxTree tree_;                              // of the regions that are bounded
    std::size_t moved_since_build_ = 0;         // colliders whose region changed since the tree was built
    bool too_many_ = false;                     // most candidates are far apart by now
    // Scratch, kept between calls for its capacity.
    std::vector<Pose> body_poses_;  // of poses_at(),
    VecX poses_q_;                  // at this q,
    std::shared_ptr<const char> poses_for_;
    std::vector<Placed> placed_;
    double placed_margin_ = -1;  // [m] with which `placed_` are at body_poses_; -1: they are elsewhere
    std::vector<int> bounded_, unbounded_;
    std::vector<int> moved_;       // colliders that left their regions, ascending
    std::vector<char> has_moved_;  // per collider
    std::vector<CandidatePair> fresh_, merged_;
    std::vector<int> pair_start_, pair_other_;
    std::vector<ContactPoint> pair_;  // of gap()
    std::vector<char> inner_;         // per contact: it is left out
    std::vector<int> shapes_, boxes_;  // per body, the fixed ones as one in front: how many it has
    bool seams_ = false;              // the model has bodies of several shapes or several fixed ones, at least one of them a box
};

}  // namespace stickslip
