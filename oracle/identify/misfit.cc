#include "oracle/identify/misfit.h"

#include <algorithm>
#include <cmath>

#include "oracle/defect/shapes.h"
#include "reference/number/recipe/recipe.h"

namespace sextant::oracle {
namespace {

// The differences of an answer from what is expected, in units of the root mean square of each of
// its rows. What overflows in its dtype is infinite there, or NaN.
std::vector<double> DifferencesOf(const NamedTensor& answer, const Tensor<double>& expected) {
  const Tensor<double>& got = answer.values;
  std::vector<double> all;
  const size_t count = got.data.size(), width = got.shape.empty() ? 1 : got.shape.back();
  for (size_t row = 0; row < count; row += width) {
    double square = 0;
    for (size_t i = row; i < row + width; ++i)
      square += std::isfinite(got.data[i]) ? got.data[i] * got.data[i] : 0;
    const double unit = std::sqrt(square / static_cast<double>(width));
    for (size_t i = row; i < row + width; ++i) {
      const bool overflows = !std::isfinite(RoundTo(answer.dtype, expected.data[i]));
      const bool is_same =
          overflows ? !std::isfinite(got.data[i]) : SameNumber(got.data[i], expected.data[i]);
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

// True if the answer has the shapes that the case declares: layouts of a table differ in them.
bool Answers(const Case& c, const Tensors& answer) {
  return std::ranges::all_of(c.info().signature.outputs, [&](const TensorSpec& output) {
    const auto at = std::ranges::find(answer, output.name, &NamedTensor::name);
    return at == answer.end() || at->values.shape == c.ShapeOf(output);
  });
}

}  // namespace

std::vector<double> DifferencesOf(const Claim& claim, std::span<const Exchange> exchanges) {
  std::vector<double> all;
  try {
    Case c = exchanges[0].c.With(WordsOf(claim));
    const Recipe f64 = ParseRecipe("*=f64 store=f64", c.dtype());
    for (const Exchange& exchange : exchanges) {
      const bool is_alike = exchange.c.dimensions() == exchanges[0].c.dimensions();
      if (!is_alike) c = exchange.c.With(WordsOf(claim));  // takes longer than small questions
      if (!HasShapes(c, exchange.inputs) || !Answers(c, exchange.answer)) return {};
      const Tensors given = EvaluateByRecipe({exchange.c, exchange.inputs, f64, c.operation()});
      for (const NamedTensor& answer : exchange.answer) {
        const auto at = std::ranges::find(given, answer.name, &NamedTensor::name);
        const auto o = static_cast<size_t>(at - given.begin());
        const std::vector<double> differences =
            exchange.units.empty()
                ? DifferencesOf(answer, at->values)
                : DifferencesOf(answer.values, at->values, exchange.units[o].error);
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

bool IsFar(const Claim& claim, const std::vector<Exchange>& exchanges) {
  constexpr double kFar = 0.01;
  return !(MisfitOf(DifferencesOf(claim, exchanges)) < kFar);
}

double LargestDifference(const Claim& claim, std::span<const Exchange> exchanges) {
  const std::vector<double> differences = DifferencesOf(claim, exchanges);
  double most = differences.empty() ? kInfinity : 0;
  for (const double x : differences) most = std::max(most, std::abs(x));
  return most;
}

std::vector<Exchange> Weighed(std::vector<Exchange> exchanges, const Claim& claim,
                              const std::string& recipe, int threads) {
  for (Exchange& exchange : exchanges) {
    const Case c = exchange.c.With(WordsOf(claim));
    exchange.units = PermittedErrors({c, exchange.inputs, ParseRecipe(recipe, c.dtype())},
                                     ProveOptions{.threads = threads});
  }
  return exchanges;
}

bool IsPermitted(const Claim& claim, const std::vector<Exchange>& weighed) {
  // Most claims are wrong, and the first answer shows it.
  if (LargestDifference(claim, std::span(weighed).first(1)) > 1) return false;
  size_t limited = 0, count = 0;  // numbers of the answers that not every claim passes, and all
  for (const Exchange& exchange : weighed) {
    for (const NamedTensor& answer : exchange.answer) {
      const auto unit = std::ranges::find(exchange.units, answer.name, &PermittedTensor::name);
      for (size_t i = 0; i < answer.values.data.size(); ++i) {
        if (!std::isfinite(answer.values.data[i])) continue;
        ++count;
        limited += std::isfinite(unit->error.data[i]) ? 1 : 0;
      }
    }
  }
  return 2 * limited > count && LargestDifference(claim, weighed) <= 1;
}

}  // namespace sextant::oracle
