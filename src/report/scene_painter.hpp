// A recorded scene as outlines: its shapes where the recorded coordinates put them, rods, ropes and springs as lines.
//
// Actions are made again on the recorded states, so that joints attached on the way are known. What an edit has taken
// away is not drawn from then on. Left out: bodies, joints and springs that a program added and the scene does not know.
#pragma once

#include <memory>
#include <vector>

#include "model/multibody.hpp"
#include "report/outlines.hpp"
#include "report/track.hpp"
#include "stickslip/record.hpp"

namespace stickslip {

class ScenePainter {
public:
    // `system` is that of `model`; all three must outlive the painter.
    ScenePainter(const MultibodySystem& system, const Model& model, const RecordContents& record);

    Track track() const;
    // What moves, or what stands still, at a row of the record.
    std::vector<plot::Outline> paint(Eigen::Index row, const ViewAxes& axes, bool moving) const;
    std::vector<plot::Ground> grounds(const ViewAxes& axes) const;
    double largest_body() const;   // [m]
    bool turns() const;            // does a body turn on the spot, visibly?
    std::size_t left_out() const;  // shapes that were too many

private:
    // The system from an action on.
    struct Edition {
        double t;  // [s]
        std::unique_ptr<const System> owner;
        const MultibodySystem* system;
    };

    void make_editions(const Model& model);
    const MultibodyModel& edition(double t) const;
    bool there(const Subject& subject, bool at_start, double t) const;
    bool body_there(int body, double t) const;
    void add_rods(double t, const VecX& q, const ViewAxes& axes, std::vector<plot::Outline>& list) const;

    const MultibodySystem& s_;
    const MultibodyModel& m_;
    const RecordContents& r_;
    std::vector<int> colour_;
    std::vector<char> shaped_;
    std::vector<Event> edits_;       // of what is there
    std::vector<Edition> editions_;  // by time
};

}  // namespace stickslip
