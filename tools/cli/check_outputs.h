// The files that `sextant check` writes.
#pragma once

#include "tools/api/line_stream.h"
#include "tools/api/replace.h"
#include "tools/cli/check_arguments.h"
#include "tools/report/report.h"

namespace sextant::tools {

// Throws Error if an output is an input or another output.
void RequireDifferentFiles(const CheckArguments& options);

// Old files of these names are removed at once; that of --write-expect is an error.
struct CheckOutputs {
  explicit CheckOutputs(const CheckArguments& options);
  bool Any() const { return json || junit || html || expectations || lines; }
  // Prints the summary too.
  void Write(const Report& report);

  OutputFile json, junit, html;
  LineStream lines;
  OutputFile expectations;
};

}  // namespace sextant::tools
