#include "stickslip/hard_problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "stickslip/files.hpp"

namespace stickslip {

namespace {

namespace fs = std::filesystem;

bool is_ours(const std::string& name) {
    return name == "index.csv" || (name.starts_with("step_") && name.ends_with(".h5"));
}

}  // namespace

HardProblems::HardProblems(std::string folder, int most, std::string asked)
    : folder_(std::move(folder)), asked_(std::move(asked)), most_(most) {
    if (most < 1) throw Error(fmt::format("expected a number of hard problems to keep, at least 1, got {}", most));
    std::error_code failure;
    fs::create_directories(folder_, failure);
    if (failure) throw Error(fmt::format("cannot make the folder: {}", failure.message()), {folder_});
    std::vector<fs::path> old;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_))
        if (entry.is_regular_file() && is_ours(entry.path().filename().string())) old.push_back(entry.path());
    for (const fs::path& path : old) fs::remove(path, failure);
    write_index();
}

bool HardProblems::harder(const Entry& a, const Entry& b) {
    if (a.hard != b.hard) return a.hard;
    if (a.iterations != b.iterations) return a.iterations > b.iterations;
    return a.step != b.step ? a.step < b.step : a.number < b.number;
}

void HardProblems::see(const SolvedProblem& solved) {
    number_ = solved.step == last_step_ ? number_ + 1 : 1;
    last_step_ = solved.step;
    if (solved.problem.contacts.size() == 0 && solved.problem.joints.size() == 0) return;
    ++seen_;
    Entry entry;
    entry.step = solved.step;
    entry.number = number_;
    entry.t = solved.t;
    entry.contacts = solved.problem.contacts.size();
    entry.iterations = solved.report.iterations;
    entry.residual = solved.report.residual.max();
    entry.solver = solved.report.solver;
    entry.status = to_string(solved.report.status);
    entry.wall_s = solved.wall_s;
    const bool first = entry.solver == asked_ || entry.solver == "mode-solve" || entry.solver == "one-node";
    entry.hard = solved.report.status != Status::ok || !first;
    if (entry.hard) ++hard_;
    if (!entry.hard && entry.iterations == 0) return;
    const bool full = kept() == most_;
    if (full && !harder(entry, kept_.back())) return;

    entry.file = number_ == 1 ? fmt::format("step_{:06d}.h5", entry.step)
                              : fmt::format("step_{:06d}_{}.h5", entry.step, number_);
    save_problem((fs::path(folder_) / entry.file).string(), solved.problem, &solved.guess);
    if (full) {
        std::error_code ignored;
        fs::remove(fs::path(folder_) / kept_.back().file, ignored);
        kept_.pop_back();
    }
    kept_.insert(std::upper_bound(kept_.begin(), kept_.end(), entry, harder), entry);
    hard_kept_ = static_cast<int>(std::count_if(kept_.begin(), kept_.end(), [](const Entry& e) { return e.hard; }));
    write_index();
}

void HardProblems::write_index() const {
    std::vector<const Entry*> by_time;
    for (const Entry& entry : kept_) by_time.push_back(&entry);
    std::sort(by_time.begin(), by_time.end(), [](const Entry* a, const Entry* b) {
        return a->step != b->step ? a->step < b->step : a->number < b->number;
    });
    std::string text = "file,step,t [s],contacts,iterations,residual [m/s],solver,status,wall [s]\n";
    for (const Entry* e : by_time)
        text += fmt::format("{},{},{},{},{},{},{},{},{:.6g}\n", e->file, e->step, e->t, e->contacts, e->iterations,
                            e->residual, e->solver, e->status, e->wall_s);
    write_text_file((fs::path(folder_) / "index.csv").string(), text);
}

std::string HardProblems::text() const {
    if (kept_.empty()) return fmt::format("none of {} problems needed work", seen_);
    if (hard_ == 0)
        return fmt::format("none of {} problems went beyond the first stage; the {} with most iterations are in {}",
                           seen_, kept(), folder_);
    std::string text = fmt::format("{} of {} problems went beyond the first stage, {} of them are in {}", hard_, seen_,
                                   hard_kept_, folder_);
    if (hard_ > hard_kept_) text += fmt::format(" ({} with fewer iterations left out)", hard_ - hard_kept_);
    if (kept() > hard_kept_) text += fmt::format(" with the {} next by iterations", kept() - hard_kept_);
    return text;
}

}  // namespace stickslip
