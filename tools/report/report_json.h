// Writes reports as JSON.
#pragma once

#include "reference/base/json.h"
#include "tools/api/expectations.h"
#include "tools/api/judgement.h"
#include "tools/api/replace.h"
#include "tools/report/report.h"

namespace sextant::tools {

// Rises when a key changes its meaning or is removed; 0: before the first release.
inline constexpr int kReportVersion = 0;

// Throws Error.
void WriteJson(const Report& report, OutputFile& file);
// The same as an HTML page (page.h). Throws Error.
void WritePage(const Report& report, OutputFile& file);

// One line of --json-lines, without a newline at its end: a case {"type": "case", ...}, and the
// last line {"type": "summary", ...}.
std::string JsonLineOf(const Report& report, const oracle::Verdict& verdict);
std::string SummaryJsonLine(const Report& report);

// The same keys as for a case of a report, and: recipe strict defaults text.
Json ToJson(const Judgement& judgement);

// {"entries": [{where, cases, outcome, reason, link, until, expired}], "entry": null,
// "contradiction": ""}: sextant_expect (tools/c/sextant.h).
Json ToJson(const Expectations& known);

}  // namespace sextant::tools
