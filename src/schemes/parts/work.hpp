// How a scheme gets at its own workspace.
#pragma once

#include "stickslip/error.hpp"
#include "stickslip/scheme.hpp"

namespace stickslip {

// The workspace that this scheme's prepare() has put into the step.
template <class Work>
Work& work_of(Step& s) {
    auto* own = dynamic_cast<Work*>(s.scheme_work.get());
    if (!own) throw Error("the step was prepared by another scheme, or not at all: call prepare() first");
    return *own;
}

// The workspace in this place, made by its first user.
template <class Work>
Work& work_in(std::unique_ptr<SchemeWork>& place) {
    auto* own = dynamic_cast<Work*>(place.get());
    if (own) return *own;
    auto made = std::make_unique<Work>();
    own = made.get();
    place = std::move(made);
    return *own;
}

}  // namespace stickslip
