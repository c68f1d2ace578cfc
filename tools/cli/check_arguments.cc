#include "tools/cli/check_arguments.h"

namespace sextant::tools {
namespace {

void AddSelection(CLI::App& app, CheckArguments& options) {
  AddOption(app, "cases", options.cases,
            "names of operations, files of cases, goldens (files or folders), or case lines",
            {.required = true});
  AddSubject(app, options.subject, options.recipe, options.limits);
  AddFilters(app, options.filters, options.excluded);
  AddWith(app, options.with);
  AddConfig(app, options.config);
}

void AddFresh(CLI::App& app, CheckArguments& options) {
  AddSeedFlag(app, "--fresh", options.fresh,
              "judge each case also with inputs drawn anew, by a seed that the report says: "
              "--fresh=SEED draws the same again",
              {.excludes = "--write-expect"});
  AddSeedFlag(app, "--adversarial", options.adversarial,
              "judge each case by inputs drawn anew only, and ask questions around it, to which a "
              "subject that knows answers instead of computing them gives wrong ones",
              {.excludes = "--fresh"});
}

void AddBudget(CLI::App& app, CheckArguments& options) {
  AddOption(app, "--budget", options.budget_seconds,
            "judge large cases in part, a random one, for about so many seconds in all, without "
            "the time of the subject; the exit status is then 5",
            {.least = 0.001, .most = 1e9});
  AddOption(app, "--budget-elements", options.budget.elements,
            "judge about so many elements of each case at most; 0: all", {});
  AddOption(app, "--seed", options.budget.seed,
            "chooses the part of --budget and --budget-elements", {});
  AddFlag(app, "--sampled-is-enough", options.sampled_is_enough,
          "accept cases of which only a part was judged");
}

}  // namespace

void AddReports(CLI::App& app, CheckArguments& options) {
  AddPath(app, "--expect", options.expect,
          "a TOML file of expected results: the exit status is 0 if every case has its expected "
          "result (tools/report/README.md)");
  AddReport(app, "--json", options.json, "write a report in JSON");
  AddReport(app, "--junit", options.junit, "write a report in JUnit XML");
  AddReport(app, "--html", options.html, "write a report as one HTML page, without network");
}

void AddCheckOptions(CLI::App& app, CheckArguments& options) {
  AddSelection(app, options);
  AddFlag(app, "--strict", options.strict,
          "cases of grade `unlikely`, and those with loosely enclosed elements, fail");
  AddFlag(app, "--open-rows", options.open_rows,
          "accept rows and optional outputs in which no element could have failed, as of lib: and "
          "exec:; of other subjects they make a case unverified without this option");
  AddFlag(app, "--supported-only", options.supported_only,
          "count unsupported cases by reason and accept them; something must be judged");
  AddFlag(app, "--fail-fast", options.fail_fast,
          "stop after the first case that fails or could not run, unless it is expected");
  AddFlag(app, "--verify", options.verify,
          "prove the values of golden files again instead of believing them; those of large cases "
          "always are");
  AddOption(app, "--memory", options.memory,
            "MiB that judging a case may take: one that takes more is refused before any is judged",
            {.least = 1});
  AddFlag(app, "-v,--verbose", options.verbose,
          "one line also for each case that conforms, and every failure of one cause");
  AddReports(app, options);
  AddPath(app, "--write-expect", options.write_expect,
          "write a new file for --expect, which expects the results of this run",
          {.excludes = "--expect"});
  AddReport(app, "--json-lines", options.json_lines,
            "write one line of JSON for each verdict as it comes, and one for the summary at the "
            "end; - is standard output, and then the text goes to standard error");
  AddFresh(app, options);
  AddBudget(app, options);
  AddShard(app, options.shard);
  AddProof(app, options.prove);
}

}  // namespace sextant::tools
