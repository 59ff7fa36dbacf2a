// The steps that were taken without a certificate.
#include <fmt/format.h>

#include <algorithm>

#include "plot/text.hpp"
#include "report/sections.hpp"

namespace stickslip {

void add_uncertified(const RecordContents& record, plot::Page& page) {
    using plot::number;
    const std::vector<UncertifiedStep>& all = record.uncertified;
    if (all.empty()) return;
    page.heading(3, "Steps that were not certified");
    page.paragraph(fmt::format("{} of {} steps. Each was taken at the best point that was found, as policy {} has it.",
                               all.size(), record.steps, record.policy));
    plot::Table table;
    for (const char* name : {"t [s]", "step", "residual [m/s]", "tolerance [m/s]"})
        table.columns.push_back({name, true});
    for (const char* name : {"what was done", "solver"}) table.columns.push_back({name, false});
    table.columns.push_back({"contacts", true});
    table.columns.push_back({"the worst", false});
    const std::size_t shown = std::min(all.size(), max_uncertified_listed);
    for (std::size_t i = 0; i < shown; ++i) {
        const UncertifiedStep& u = all[i];
        table.rows.push_back({number(u.t, 6), fmt::format("{}", u.step), number(u.residual, 3), number(u.tol, 3),
                              u.action(), u.solver, fmt::format("{}", u.contacts),
                              fmt::format("{}", fmt::join(u.who, ", "))});
    }
    if (shown < all.size())
        page.paragraph(fmt::format("The first {} of {}; the record holds all of them.", shown, all.size()), "note");
    page.table(table);
}

}  // namespace stickslip
