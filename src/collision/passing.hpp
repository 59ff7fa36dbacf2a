// How long bodies may go on before two of them could have passed through each other, unseen by who looks at the ends of steps only.
//
// Convex shapes A and B that lie apart along a direction n, from B to A, stay on their sides of it until they have closed
//
//   d(n) = min over A of n.x - max over B of n.x,      in the time t by at most  c t + a t^2/2
//   c = max(-n.(v_A - v_B), 0) + rho_A |n x w_A| + rho_B |n x w_B|
//
// with v the velocity of the centre of a shape, rho how far its core reaches from the axis of w there (that of a ball is a point, that
// of a capsule a line: turning about it does not bring it nearer), and a what acceleration adds. They may close L more, a share of half the thickness of the
// thinner one: so deep an overlap still shows on which side they are. Every direction along which they lie apart bounds the time from below, so the largest of
//
//   t(n):  c t + a t^2/2 = max(d, 0) + L
//
// counts: what slides along a wall or flies past it is not held up. The directions looked at are the faces of both, the line between
// the centres, and the normals of their contacts.
//
// What is clipped by less than L may have been met and left inside a step all the same. first_clip() looks for that along the way that was
// gone: safe times with L = 0, one after the other, lead to where two shapes meet, and backwards from the end to where they part; if they
// overlap in between, the step is to end there.
#pragma once

#include <span>
#include <vector>

#include "collision/finder.hpp"

namespace stickslip {

// How a body moves at the start of a step, in W.
struct BodyMotion {
    Twist twist;
    Vec3 acceleration = Vec3::Zero();  // [m/s^2] as far as it is known
    bool moves = false;
};

class PassingGuard {
public:
    // Written by who asks, per body: how far it may get [m],
    std::vector<double> reach;
    // where it is and how it moves. These two only where quiet() is false.
    std::vector<Pose> poses;
    std::vector<BodyMotion> motions;
    // Of half the thickness of the thinner shape: how deep two may be in each other when they are looked at.
    double slack_share = deep;
    static constexpr double deep = 0.4, shallow = 0.02;

    // Nothing gets as far as the slack of the thinnest shape: nothing can pass.
    bool quiet(const CollisionModel& model);
    // Two colliders (indices in the model) that a direction keeps apart for the time h, whatever their contacts at the start of it say:
    // seen from far, what is flown past lies ahead.
    bool passes_by(const CollisionModel& model, int a, int b, double h);
    // [m] A distance at which two colliders count as touching, a share of the thickness of the thinner one.
    static double nearness(const CollisionModel& model, int a, int b);
    // What the system is asked for: the safe time, or first_clip().
    bool clips = false;
    // The scheme has asked in this step which contacts are passed by: those that are not have rows before they close.
    bool foreseen = false;
    // [s] At most `horizon`. `held` are the contacts that were closed in the last step, sorted by id: what they hold does not fall.
    double safe_time(const CollisionModel& model, const Vec3& gravity, std::span<const ContactId> held, double horizon);
    // [s] Within h, on paths with the velocities and accelerations in `motions`: a time at which two that are apart at 0 and at h overlap,
    // and still approach; `h` if there is none. Those that are held are not looked at.
    double first_clip(const CollisionModel& model, std::span<const ContactId> held, double h);

private:
    struct Part {  // a collider where it is now
        PlacedShape shape;
        Vec3 velocity = Vec3::Zero(), acceleration = Vec3::Zero(), spin = Vec3::Zero();
        double reach = 0;     // [m] rho, 0 if it does not turn
        double swing = 0;     // [m/s^2] |w|^2 times the distance from the centre of mass,
        Vec3 centre = Vec3::Zero(), drift = Vec3::Zero();  // which is there, and goes on with this velocity
    };
    struct Pair {
        const Part &a, &b;
        double slack;     // [m] L
        double overlap;   // [m] how deep they may be in each other now, along a direction that tells their sides
        double gravity;   // [m/s^2] 0: something holds them apart
        Vec3 down;        // its direction
    };
    Part part(const CollisionModel& model, int collider) const;
    // [s] Or any time above `enough`: directions are looked at until one is found.
    double pair_time(const Pair& pair, double enough);
    // [s] When the two are about to meet, or sooner; infinity: not within h. Shapes that go round the centre of their body are followed only
    // where it is said: among rocks of many balls that costs more than anything else here.
    enum class Round { stop, follow };
    double meeting_time(Part a, Part b, double h, Round round);
    // [s] Of first_clip() for two of them; infinity: none.
    double clip_time(const Part& a, const Part& b, double h);
    double pair_gap(Part a, Part b, double t);  // [m] the least, at t
    static bool is_held(const CollisionModel& model, int i, int j, std::span<const ContactId> held);
    static void move(Part& part, double t);
    static void turn_back(Part& part);  // the way it came
    void find_pairs(const CollisionModel& model, double h);
    // [m] How far two colliders may get towards each other in the time h. Of what falls side by side that is next to nothing.
    double closing(int i, int j, double h) const;
    const Part& part_at(const CollisionModel& model, int collider);  // of this call of safe_time(), made once
    static void try_direction(const Pair& pair, const Vec3& n, double& best);

    ContactFinder finder_;
    std::shared_ptr<const char> measured_;  // the model whose
    double thinnest_ = 0;                   // [m] thinnest shape is half so thick,
    std::vector<double> thin_;              // [m] this each collider,
    std::vector<int> body_;                 // which belongs to this body,
    bool bodied_ = false;                   // as all do
    std::vector<double> turns_;             // [m] per body: its reach besides going straight on,
    std::vector<double> drifting_;          // and for who moves with the mean velocity
    std::vector<ContactPoint> contacts_;
    std::vector<Part> parts_;      // per collider,
    std::vector<char> has_part_;   // where it has been asked for
};

}  // namespace stickslip
