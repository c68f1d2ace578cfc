#include "oracle/identify/misfit.h"

#include <algorithm>
#include <cmath>

#include "oracle/defect/shapes.h"
#include "reference/number/recipe/recipe.h"

namespace sextant::oracle {
namespace {

// The differences of two tensors, in units of the root mean square of each row of the first.
std::vector<double> DifferencesOf(const Tensor<double>& got, const Tensor<double>& expected) {
  std::vector<double> all;
  const size_t count = got.data.size(), width = got.shape.empty() ? 1 : got.shape.back();
  for (size_t row = 0; row < count; row += width) {
    double square = 0;
    for (size_t i = row; i < row + width; ++i)
      square += std::isfinite(got.data[i]) ? got.data[i] * got.data[i] : 0;
    const double unit = std::sqrt(square / static_cast<double>(width));
    for (size_t i = row; i < row + width; ++i) {
      const bool is_same = SameNumber(got.data[i], expected.data[i]);
      const double relative = is_same ? 0 : (got.data[i] - expected.data[i]) / unit;
      all.push_back(std::abs(relative) < kMostOfRow ? relative : kMostOfRow);
    }
  }
  return all;
}

// The differences of two tensors, in units of permitted errors. Where everything is permitted (an
// overflow), nothing differs.
std::vector<double> DifferencesOf(const Tensor<double>& got, const Tensor<double>& expected,
                                  const Tensor<double>& permitted) {
  std::vector<double> all;
  for (size_t i = 0; i < got.data.size(); ++i) {
    const bool is_same = std::isinf(permitted.data[i]) || SameNumber(got.data[i], expected.data[i]);
    const double ratio =
        is_same ? 0 : (got.data[i] - expected.data[i]) / std::max(permitted.data[i], 0x1p-1022);
    all.push_back(std::abs(ratio) < kMostPermitted ? ratio : kMostPermitted);
  }
  return all;
}

}  // namespace

std::vector<double> DifferencesOf(const Claim& claim, const std::vector<Exchange>& witnesses) {
  std::vector<double> all;
  try {
    Case c = witnesses[0].c.With(WordsOf(claim));
    const Recipe f64 = ParseRecipe("*=f64 store=f64", c.dtype());
    for (const Exchange& witness : witnesses) {
      const bool is_alike = witness.c.dimensions() == witnesses[0].c.dimensions();
      if (!is_alike) c = witness.c.With(WordsOf(claim));  // takes longer than small questions
      if (!HasShapes(c, witness.inputs)) return {};
      const Tensors given = EvaluateByRecipe(c.operation(), witness.c, witness.inputs, f64);
      for (const NamedTensor& answer : witness.answer) {
        const auto at = std::ranges::find(given, answer.name, &NamedTensor::name);
        const auto o = static_cast<size_t>(at - given.begin());
        const std::vector<double> differences =
            witness.units.empty()
                ? DifferencesOf(answer.values, at->values)
                : DifferencesOf(answer.values, at->values, witness.units[o].error);
        all.insert(all.end(), differences.begin(), differences.end());
      }
    }
  } catch (const Error&) {
    return {};  // no valid combination of attributes
  }
  return all;
}

double MisfitOf(const std::vector<double>& differences) {
  if (differences.empty()) return kInfinity;
  double sum = 0;
  for (const double x : differences) sum += x * x;
  return sum / static_cast<double>(differences.size());
}

double LargestDifference(const Claim& claim, const std::vector<Exchange>& witnesses) {
  const std::vector<double> differences = DifferencesOf(claim, witnesses);
  double most = differences.empty() ? kInfinity : 0;
  for (const double x : differences) most = std::max(most, std::abs(x));
  return most;
}

std::vector<Exchange> Weighed(std::vector<Exchange> witnesses, const Claim& claim,
                              const std::string& recipe, int threads) {
  for (Exchange& witness : witnesses) {
    const Case c = witness.c.With(WordsOf(claim));
    witness.units = PermittedErrors(c, witness.inputs, ParseRecipe(recipe, c.dtype()),
                                    ProveOptions{.threads = threads});
  }
  return witnesses;
}

bool IsPermitted(const Claim& claim, const std::vector<Exchange>& weighed) {
  size_t limited = 0, count = 0;  // elements that not every answer passes, and all
  for (const Exchange& witness : weighed) {
    for (const PermittedTensor& unit : witness.units) {
      count += unit.error.data.size();
      limited += static_cast<size_t>(std::ranges::count_if(
          unit.error.data, [](double error) { return std::isfinite(error); }));
    }
  }
  return 2 * limited > count && LargestDifference(claim, weighed) <= 1;
}

}  // namespace sextant::oracle
