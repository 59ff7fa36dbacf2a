// One page about a run: what it was, whether it can be trusted, how it moved. Plain HTML with pictures inside (SVG), nothing
// loaded from elsewhere.
#pragma once

#include <string>
#include <vector>

#include "stickslip/record.hpp"

namespace stickslip {

struct ReportOptions {
    std::vector<std::string> plot;  // coordinates or bodies whose motion is drawn; empty: those that move most
};

// Throws Error naming the nearest coordinate or body when there is none of a name in `plot`.
std::string report_html(const RecordContents& record, const ReportOptions& options = {});

// Reads the run (folder or file, however it ended) and writes the page to `file`, or to report.html beside the record if
// that is empty. Returns where it was written.
std::string write_report(const std::string& run, const std::string& file = {}, const ReportOptions& options = {});

}  // namespace stickslip
