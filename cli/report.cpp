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

Command report_command() {
    auto a = std::make_shared<ReportArguments>();
    return {"report",
            "write a page about a run: verdict, motion, contacts, energy",
            {{.names = "RUN", .value = &a->run, .help = "folder or file of the run", .required = true},
             {.names = "--plot",
              .value = &a->plot,
              .help = "NAME,NAME: coordinates or bodies to draw; those that move most if left out",
              .separator = ','},
             {.names = "-o,--output",
              .value = &a->output,
              .help = "file of the page; report.html beside the record if left out"}},
            [a] {
                fmt::print("{}\n", write_report(a->run, a->output, {a->plot}));
                return int{done};
            }};
}

}  // namespace stickslip::cli
