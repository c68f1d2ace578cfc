// sextant merge
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "fixtures/store/golden_folder.h"
#include "fixtures/store/record_file.h"
#include "reference/base/count_text.h"
#include "reference/base/error.h"
#include "reference/base/printable.h"
#include "tools/api/merge_golden.h"
#include "tools/api/selection.h"
#include "tools/cli/check_outputs.h"
#include "tools/cli/check_report.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"
#include "tools/onnx/onnx_folder.h"
#include "tools/report/merged_report.h"
#include "tools/report/report_text.h"

namespace sextant::tools {
namespace {

struct MergeArguments {
  std::vector<std::string> inputs;
  std::string output;  // of goldens
  CheckArguments report;
};

int MergeFolder(const MergeArguments& options) {
  if (options.inputs.size() != 1)
    throw Error("expected one folder of parts, or reports of check --shard");
  const std::string &folder = options.inputs.front(), &output = options.output;
  if (output.empty()) throw Error("a golden needs --output, the file to write");
  if (const std::string why = fixtures::WhyNotRecordFile(output); !why.empty()) throw Error(why);
  if (IsOnnxFolder(output) || output.ends_with(".npz") || output.ends_with(".safetensors"))
    throw Error(output, ": parts are merged to HDF5, expected .h5");
  namespace fs = std::filesystem;
  const fs::path parent = fs::weakly_canonical(fs::absolute(output)).parent_path();
  if (parent == fs::canonical(folder)) throw Error(output, " is in the folder that is read");
  const size_t cases = MergeGolden(options.inputs.front(), options.output);
  std::cout << Marked(options.output) << ": " << CountText(cases, "case") << " of "
            << Marked(options.inputs.front()) << "\n";
  return kVerified;
}

int MergeReports(const MergeArguments& options) {
  if (!options.output.empty()) throw Error("--output is for a golden, of a folder of parts");
  RequireDifferentFiles(options.report);
  CheckOutputs outputs(options.report);
  return ReportMerged(MergedReport(options.inputs), options.report, outputs);
}

int Merge(const MergeArguments& options) {
  for (const std::string& input : options.inputs) {
    std::error_code ignored;
    if (!std::filesystem::exists(input, ignored)) throw Error(input, " does not exist");
    if (std::filesystem::is_directory(input, ignored) && !fixtures::IsGoldenFolder(input))
      throw Error(input, " is a folder without a golden in parts");
    if (IsHdf5(input)) throw Error(input, " is one file already, expected a folder of parts");
  }
  return fixtures::IsGoldenFolder(options.inputs.front()) ? MergeFolder(options)
                                                          : MergeReports(options);
}

}  // namespace

int ReportMerged(Report report, const CheckArguments& options, CheckOutputs& outputs) {
  std::vector<Case> cases;
  for (const oracle::Verdict& verdict : report.verdicts)
    if (!report.CommittedOf(verdict)) cases.push_back(Case::Parse(verdict.case_line));
  ReadExpectations(options.expect, cases, {}, report);
  for (const oracle::Verdict& verdict : report.verdicts)
    PrintVerdict(report, verdict, {std::cout, options.verbose, false});
  return Conclude({}, outputs, report);
}

Action BindMerge(CLI::App& app) {
  const auto options = std::make_shared<MergeArguments>();
  AddOption(app, "inputs", options->inputs,
            "the files of check --json-lines of all shards, or a folder of parts of a golden",
            {.required = true});
  AddPath(app, "-o,--output", options->output, "the one golden file to write, of a folder");
  AddFlag(app, "-v,--verbose", options->report.verbose,
          "one line also for each case that conforms");
  AddReports(app, options->report);
  return [options] {
    options->report.cases = options->inputs;
    return Merge(*options);
  };
}

}  // namespace sextant::tools
