// Which bodies, joints and springs are there while edits follow one another: the rules of stickslip/edit.hpp without the
// geometry. The reader walks the actions of a scene through it, the editor every edit of a run.
//
//   body    there or not
//   joint   reserved (an action attaches it later), waiting (for a body), there, gone (cut, never comes back)
//   spring  waiting, there, gone
//
// A joint or spring is there while both its bodies are; a gear and a torsion spring while their joints are.
#pragma once

#include <vector>

#include "stickslip/edit.hpp"

namespace stickslip {

// The scene with everything that its actions will bring: joints to be attached behind the others, and a drive without
// effect for each coordinate that is driven later. So q has the same entries all the time.
struct DeclaredScene {
    Scene scene;
    std::vector<int> joint;  // of each action, the joint it attaches; -1 for other actions
    int first_reserved = 0;  // joints from here on
};
DeclaredScene declare_all(const Scene& scene);

class Standing {
public:
    enum class Is : std::uint8_t { there, waiting, reserved, gone };
    enum class What : std::uint8_t { body, joint, spring, torsion_spring, bushing };
    struct Change {
        What what;
        int index;  // in the scene
        bool came;  // else it went
    };

    explicit Standing(const DeclaredScene& declared);

    // Makes the edit at time t: returns what came and went, the subject first, and enters new bodies, joints and drives in
    // the scene. `reserved` is the joint that an attaching action has reserved, -1 for other edits. Throws Error at the
    // place of the edit if it makes no sense then; scene and standing are then spoilt.
    std::vector<Change> apply(Scene& scene, const Edit& edit, double t, int reserved);

    bool body(int index) const { return index < 0 || body_[index] != 0; }
    Is joint(int index) const { return joint_[index]; }
    Is spring(int index) const { return spring_[index]; }
    Is torsion_spring(int index) const { return torsion_[index]; }
    Is bushing(int index) const { return bushing_[index]; }

private:
    using Changes = std::vector<Change>;
    void add(Scene& scene, const Edit& edit, double t, Changes& changes);
    void remove(const Scene& scene, const Edit& edit, double t, Changes& changes);
    void attach(Scene& scene, const Edit& edit, double t, int reserved, Changes& changes);
    void cut(const Scene& scene, const Edit& edit, double t, Changes& changes);
    void drive(Scene& scene, const Edit& edit, double t, Changes& changes);
    void wake(const Scene& scene, Changes& changes);       // what waited and need not any more
    void cut_loose(const Scene& scene, Changes& changes);  // what has lost a body or joint
    bool has_all(const Scene& scene, What what, int index) const;
    std::vector<Is>& list(What what);

    std::vector<char> body_;
    std::vector<Is> joint_, spring_, torsion_, bushing_;
};

// The joint with this name that comes last before `end`; -1 if there is none.
int last_joint(const Scene& scene, const std::string& name, int end);
// Index of the coordinate that a driving edit names; throws Error if the joint has none or several.
int driven_coordinate(const Scene::Joint& joint, const Edit& edit);

}  // namespace stickslip
