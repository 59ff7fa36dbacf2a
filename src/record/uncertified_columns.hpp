// The arrays of a record that list the steps which were taken without a certificate.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/who_words.hpp"
#include "record/column.hpp"
#include "record/record_layout.hpp"
#include "stickslip/simulation.hpp"

namespace stickslip {

class UncertifiedColumns {
public:
    // The columns enter themselves into `list`.
    explicit UncertifiedColumns(std::vector<Column*>& list) : list_(list) {}

    void add(const UncertifiedStep& step) {
        t_.add(step.t);
        step_.add(static_cast<std::uint64_t>(step.step));
        residual_.add(step.residual);
        tol_.add(step.tol);
        substeps_.add(static_cast<std::uint32_t>(step.substeps));
        compliance_.add(step.compliance);
        std::array<char, uncertified_solver_length> solver{};
        std::memcpy(solver.data(), step.solver.data(), std::min(solver.size(), step.solver.size()));
        solver_.add(solver.data(), solver.size());
        contacts_.add(static_cast<std::uint32_t>(step.contacts));
        for (std::size_t i = 0; i < uncertified_named; ++i) {
            const WhoWords id = words_of(i < step.worst.size() ? step.worst[i] : no_contact);
            worst_.add(id.data(), id.size());
        }
    }

private:
    static constexpr Hdf5Type f64 = Hdf5Type::f64, u8 = Hdf5Type::u8, u32 = Hdf5Type::u32, u64 = Hdf5Type::u64;
    std::vector<Column*>& list_;
    Column t_{list_, "uncertified/t", f64, {}, "s", "ends of steps that were taken without a certificate"};
    Column step_{list_, "uncertified/step", u64, {}, "", "their numbers, from 1"};
    Column residual_{list_, "uncertified/residual", f64, {}, "m/s", "of the worst solve"};
    Column tol_{list_, "uncertified/tol", f64, {}, "m/s", "what that was judged by"};
    Column substeps_{
        list_, "uncertified/substeps", u32, {}, "", "the step is one of so many parts of a step; 1: a whole one"};
    Column compliance_{
        list_, "uncertified/compliance", f64, {}, "m/s per N s", "largest that the solver added to a contact row"};
    Column solver_{list_, "uncertified/solver",
                   u8,    {static_cast<Column::Extent>(uncertified_solver_length)},
                   "",    "whose point was taken; UTF-8, padded with zeros"};
    Column contacts_{list_, "uncertified/contacts", u32, {}, "", "contacts that are not certified"};
    Column worst_{list_, "uncertified/worst",
                  u32,   {static_cast<Column::Extent>(uncertified_named), static_cast<Column::Extent>(who_words)},
                  "",    "the worst of them as events/contact; no contact where there are fewer"};
};

}  // namespace stickslip
