// sextant properties
#include <iostream>
#include <memory>

#include "oracle/catalog/catalog.h"
#include "oracle/catalog/check_properties.h"
#include "oracle/subject/promises.h"
#include "reference/base/count_text.h"
#include "reference/base/value_text.h"
#include "reference/case/operations.h"
#include "tools/api/broken_property.h"
#include "tools/api/check_bitwise.h"
#include "tools/api/exit_status.h"
#include "tools/api/fresh_cases.h"
#include "tools/api/shell_quoted.h"
#include "tools/api/subjects.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"
#include "tools/cli/output.h"
#include "tools/report/progress.h"

namespace sextant::tools {
namespace {

using Status = oracle::PropertyVerdict::Status;

struct PropertiesArguments {
  std::vector<std::string> operations, filters, excluded;
  std::string subject, recipe, with;
  oracle::SubjectLimits limits;
  oracle::PropertyOptions run;
  std::vector<std::string> bitwise;  // promises of equal bits
  bool all_promised = false;         // those of the subject
};

// `count`: of cases to answer, or of comparisons; all were made unless the property was skipped.
// `repeat`: the arguments that check it again, without the subject.
void PrintProperty(const std::string& operation, const oracle::PropertyVerdict& v,
                   const std::string& count, bool applies_to_all,
                   const PropertiesArguments& options, const std::string& repeat) {
  const Colors colors = ColorsOfOutput();
  switch (v.status) {
    case Status::kHolds:
      std::cout << colors.green << "holds   " << colors.plain << operation << "/" << v.name << ": "
                << v.sentence << " (" << count;
      if (!applies_to_all) std::cout << ", it applies to " << v.cases;
      if (v.declined > 0) std::cout << ", " << v.declined << " more declined";
      std::cout << ")\n";
      return;
    case Status::kDeclined:
      std::cout << colors.yellow << (v.cases > 0 ? "partly  " : "skipped ");
      break;
    case Status::kCouldNotRun:
      std::cout << colors.red << "no run  ";
      break;
    case Status::kBroken:
      std::cout << colors.red << "BROKEN  ";
      break;
  }
  std::cout << colors.plain << operation << "/" << v.name << ": " << v.sentence << "\n  "
            << v.detail << "\n";
  if (v.counterexample.empty()) return;
  std::cout << "  counterexample: " << v.counterexample << "\n  repeat: sextant properties "
            << repeat << " --seed " << options.run.seed << " --subject "
            << PrintableWord(options.subject);
  const oracle::SubjectLimits usual;
  if (options.limits.seconds != usual.seconds) std::cout << " --timeout " << options.limits.seconds;
  if (options.limits.memory != usual.memory)
    std::cout << " --subject-memory " << options.limits.memory;
  std::cout << "\n";
}

void PrintCounts(std::map<Status, size_t>& counts, const std::string& rest, uint64_t seed) {
  std::cout << counts[Status::kHolds] << " hold, " << counts[Status::kBroken] << " broken, "
            << counts[Status::kCouldNotRun] << " could not run, " << counts[Status::kDeclined]
            << " " << rest << " (seed " << seed << ")\n";
}

int Bitwise(const PropertiesArguments& options, const oracle::Subject& subject) {
  const std::vector<std::string>& promises =
      options.all_promised ? subject.bitwise : options.bitwise;
  const std::vector<std::string> all = OperationNames();
  Replaced replaced;
  const std::vector<Selected> cases =
      Select({.arguments = options.operations.empty() ? all : options.operations,
              .filters = options.filters,
              .excluded = options.excluded,
              .with = options.with,
              .replaced = &replaced});
  std::map<Status, size_t> counts;
  for (const auto& [operation, v] : CheckBitwise(cases, subject, promises, options.run.seed)) {
    ++counts[v.status];
    PrintProperty(operation, v, CountText(v.cases, "comparison"), true, options,
                  PrintableWord(v.counterexample) + " --bitwise=" + v.name);
    FlushOutput();
  }
  PrintCounts(counts, "skipped", options.run.seed);
  if (const size_t count = replaced.not_applicable.size(); count > 0)
    std::cout << CountText(count, "case") << " left out, in which --with is not valid\n";
  if (replaced.equal > 0)
    std::cout << CountText(replaced.equal, "case")
              << " left out, which --with makes equal to another\n";
  if (promises.empty()) std::cout << "the subject promises nothing, so all promises were checked\n";
  if (counts[Status::kBroken] > 0) return kNonconforming;
  if (counts[Status::kCouldNotRun] > 0) return kNotRun;
  return counts[Status::kHolds] > 0 ? kVerified : kNothing;
}

int Properties(const PropertiesArguments& options) {
  const oracle::Subject subject = MakeSubject(options.subject, options.limits);
  if (options.all_promised || !options.bitwise.empty()) return Bitwise(options, subject);
  for (const std::string& name : options.operations) {
    if (name.find_first_of(" ./=") != std::string::npos)
      throw Error("'", name,
                  "' is not the name of an operation; only --bitwise checks given cases");
  }
  const std::string recipe = options.recipe.empty() ? subject.recipe : options.recipe;
  ParseRecipe(recipe, DType::kF32);
  std::vector<std::unique_ptr<Operation>> operations;
  for (const std::string& name : options.operations) operations.push_back(MakeOperationNamed(name));
  if (operations.empty()) operations = AllOperations();
  std::map<Status, size_t> counts;
  for (const auto& operation : operations) {
    for (const auto& verdict : oracle::CheckProperties(*operation, subject, recipe, options.run)) {
      ++counts[verdict.status];
      const std::string name(operation->info().name);
      const auto count = static_cast<size_t>(options.run.count);
      PrintProperty(name, verdict, CountText(count, "case"), verdict.cases >= count, options,
                    name + " --count " + std::to_string(options.run.count) + " --recipe " +
                        PrintableWord(recipe));
      if (verdict.status == Status::kBroken) {
        for (const auto& cause : JudgeBrokenProperty(name, verdict, subject, recipe).causes)
          std::cout << "  likely cause: " << cause.name << " (" << cause.why << ")\n";
      }
      FlushOutput();
    }
  }
  PrintCounts(counts, "skipped or partly answered", options.run.seed);
  if (counts[Status::kBroken] > 0) return kNonconforming;
  if (counts[Status::kCouldNotRun] > 0) return kNotRun;
  if (counts[Status::kDeclined] > 0) return kIncomplete;
  return counts[Status::kHolds] > 0 ? kVerified : kNothing;
}

}  // namespace

Action BindProperties(CLI::App& app) {
  const auto options = std::make_shared<PropertiesArguments>();
  AddOption(app, "operations", options->operations,
            "operations whose properties are checked; default: all. With --bitwise also what "
            "`sextant check` takes: files of cases, case lines, names such as real/attention");
  AddSubject(app, options->subject, options->recipe, options->limits);
  options->run.seed = RandomSeed();
  AddOption(app, "--seed", options->run.seed,
            "seed of the random cases; default: another one at each run, which the last line says",
            {});
  AddOption(app, "--count", options->run.count, "random cases per property",
            {.shows_default = true, .least = 1, .most = 100000000});
  AddListFlag(app, "--bitwise", options->bitwise, options->all_promised,
              "check promises of equal bits instead: those of the subject, or all if it has none; "
              "--bitwise=NAME,... checks these: " +
                  NamesText(oracle::kBitwisePromises,
                            [](const auto& one) { return std::string(one.name); }));
  AddFilters(app, options->filters, options->excluded, "--bitwise");
  AddWith(app, options->with, "--bitwise");
  return [options] { return Properties(*options); };
}

}  // namespace sextant::tools
