// Problems without a solution: rows that no velocity can satisfy together, such as two walls that both push a ball away.
//
// Rigid rows ask for N v + c >= 0 (contacts, rows bounded on one side) and G v = b (free bilateral rows). By Farkas' lemma either some v
// satisfies them, or impulses y >= 0, z of them cancel each other, N' y + G' z = 0, and still demand work: b.z - c.y > 0. Such
// impulses are the proof that there is no solution, and say who pushes against whom. Compliant rows (T, S > 0) and rows
// bounded on both sides give way and never contradict anything. Friction plays no part: it is not asked to keep bodies apart.
#pragma once

#include <string>
#include <vector>

#include "stickslip/problem.hpp"

namespace stickslip {

struct Contradiction {
    struct Part {
        bool joint = false;  // a bilateral row; else the normal of a contact
        int index = 0;       // of the row, or of the contact
        double weight = 0;   // share of its impulse in the proof, the largest is 1
    };
    std::vector<Part> parts;  // empty: none was found; heaviest first
    double speed = 0;         // [m/s] the best velocity still misses the worst row by this

    explicit operator bool() const { return !parts.empty(); }
};

// Looks for such impulses, and checks them: found means that no velocity with less than 1e8 times the energy at hand satisfies
// the rows. Bounded work, about that of some hundred products with the Jacobians. Allocates: for steps that could not be solved.
Contradiction find_contradiction(const StepProblem& problem);
Contradiction find_contradiction(const DelassusProblem& problem);

// "contact 3, contact 5 and bilateral row 0 contradict each other: ..."; `name` gives the words for a part.
template <class Name>
std::string contradiction_text(const Contradiction& found, Name&& name) {
    constexpr std::size_t max_named = 6;
    std::string text;
    for (std::size_t i = 0; i < found.parts.size() && i < max_named; ++i) {
        if (i > 0) text += i + 1 == found.parts.size() ? " and " : ", ";
        text += name(found.parts[i]);
    }
    if (found.parts.size() > max_named) text += " and " + std::to_string(found.parts.size() - max_named) + " more";
    return text + (found.parts.size() == 1 ? " cannot be satisfied" : " contradict each other");
}

}  // namespace stickslip
