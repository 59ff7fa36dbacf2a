// `stickslip report`: a page about a run.
#include "stickslip/report.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "commands.hpp"

namespace stickslip::cli {

namespace {

struct ReportArguments {
    std::string run, output;
    std::vector<std::string> plot;
};

}  // namespace

void add_report(CLI::App& app, int&) {
    auto a = std::make_shared<ReportArguments>();
    CLI::App* command = app.add_subcommand("report", "write a page about a run: verdict, motion, contacts, energy");
    command->add_option("RUN", a->run, "folder or file of the run")->required();
    command->add_option("--plot", a->plot, "NAME,NAME: coordinates or bodies to draw; those that move most if left out")
        ->delimiter(',')
        ->take_all()
        ->allow_extra_args(false);
    command->add_option("-o,--output", a->output, "file of the page; report.html beside the record if left out");
    command->callback([a] { fmt::print("{}\n", write_report(a->run, a->output, {a->plot})); });
}

}  // namespace stickslip::cli
