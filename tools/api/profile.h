// The numerical error of subjects as numbers, for `sextant profile`.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "oracle/profile/cheapest_recipe.h"
#include "oracle/profile/step_costs.h"
#include "oracle/profile/worst_case.h"
#include "oracle/subject/subject.h"
#include "reference/prove/budget.h"

namespace sextant::tools {

using Distributions = std::array<oracle::Distribution, oracle::kErrorUnits.size()>;  // by ErrorUnit

struct GroupProfile {
  double key = 0;
  size_t elements = 0;
  Distributions errors{};
};

// Bins of |error| in ulps: their lower limits; the last bin has no upper limit.
std::vector<double> HistogramLimits();
// The share of each bin if every answer is the exact value, rounded once: |error| is uniform in
// [0, 1/2].
std::vector<double> HonestShares();

// The largest |error| in ulps for every pair of keys.
struct ErrorMap {
  std::string row_axis, column_axis;
  std::vector<double> rows, columns;
  std::vector<std::vector<double>> largest;  // [row][column]; negative: no element
};

struct WorstElement {
  std::string case_line, where;
  double key = 0;                                      // of its group
  double got = 0, exact = 0, ulps = 0, permitted = 0;  // errors are magnitudes
};

struct SubjectProfile {
  std::string name, recipe;
  bool has_command = true;                  // the command line can name the subject
  bool has_own_recipe = true;               // the recipe is what the subject declares
  size_t answered = 0;                      // cases
  std::vector<std::string> not_answered{};  // messages
  size_t could_not_run = 0;                 // of these
  size_t elements = 0;
  Distributions errors{};  // of all elements
  std::string axis{};      // of the groups
  std::vector<GroupProfile> groups{};
  std::vector<size_t> histogram{};
  std::optional<ErrorMap> map{};
  std::vector<WorstElement> worst{};
  std::optional<oracle::StepCosts> steps{};
  std::vector<oracle::WorstCase> found{};  // by the search for worst cases
};

struct ProfileOptions {
  std::string by{};            // oracle/profile/grouping.h, or "step"; empty: the usual groups
  std::string recipe{};        // of the permitted errors and of the costs; empty: the subject's
  double below = 0;            // the bound of the cheapest recipe, in ulps; 0: not asked for
  size_t worst_questions = 0;  // of the search for worst cases
  uint64_t seed = 1;           // of that search
  Budget budget{};             // elements beyond it are left out; without `has_time`
  ProveOptions prove{};
};

struct Profile {
  std::vector<std::string> cases;
  std::string by;
  size_t left_out = 0;  // elements of the outputs, by the budget
  std::vector<SubjectProfile> subjects{};
  double below = 0;
  std::optional<oracle::CheapestRecipe> cheapest{};
};

struct AskedCase {
  Case c;
  Tensors inputs;
};

// Throws Error if the cases have no such groups or a recipe is wrong. At least one case and
// subject.
Profile ProfileOf(const std::vector<AskedCase>& asked, const std::vector<oracle::Subject>& subjects,
                  ProfileOptions options);

}  // namespace sextant::tools
