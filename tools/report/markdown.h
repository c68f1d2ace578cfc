// Writes a report as Markdown: the summary of a job of continuous integration.
#pragma once

#include <string>

#include "tools/report/report.h"

namespace sextant::tools {

// A heading, the counts, and what needs attention. At most kMostCasesInMarkdown cases are shown,
// and long texts are cut off: GitHub accepts at most 1 MiB.
inline constexpr size_t kMostCasesInMarkdown = 50;
std::string MarkdownOf(const Report& report);

// Appends MarkdownOf to the file that the environment variable GITHUB_STEP_SUMMARY names; does
// nothing if it is not set or empty. Throws Error if the file cannot be written.
void AppendStepSummary(const Report& report);

}  // namespace sextant::tools
