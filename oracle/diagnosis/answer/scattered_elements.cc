#include "oracle/diagnosis/answer/scattered_elements.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <sstream>
#include <vector>

#include "oracle/diagnosis/answer/element_pattern.h"

namespace sextant::oracle {
namespace {

// So many bits more than the choice of a rule needs must be told by the elements.
constexpr double kBits = 10;

// A number that an element may hold, and how far it may be off.
struct Held {
  double number, bound;
};
struct Rule {
  std::string text;  // "y is nan"
  std::function<std::optional<Held>(size_t flat)> held;
  bool is_anywhere = false;  // also of elements without a regular pattern
};

double RootMeanSquare(const std::vector<double>& numbers) {
  double sum = 0, count = 0;
  for (const double x : numbers) {
    if (std::isfinite(x)) sum += x * x, ++count;
  }
  return count > 0 ? std::sqrt(sum / count) : 0;
}

std::string NumberText(double x) {
  std::ostringstream text;
  text << (x == 0 ? 0 : x);  // of either sign
  return text.str();
}

// The right numbers of other elements, at a distance; the last element is before the first.
void AddOtherPlaces(const AnsweredTensor& tensor, std::vector<Rule>& rules) {
  const auto size = static_cast<int64_t>(tensor.got.size());
  std::set<int64_t> distances = {1, 2, 3, 4, 8, 16, 32, 64, 128};
  for (const AxisView& axis : tensor.axes) distances.insert(static_cast<int64_t>(axis.inner));
  const auto right_at = [&tensor, size](int64_t from) -> std::optional<Held> {
    if (from < 0 || from >= size) return std::nullopt;
    const auto i = static_cast<size_t>(from);
    return Held{tensor.right[i], tensor.bounds[i]};
  };
  for (const int64_t distance : distances) {
    for (const int64_t by : {-distance, distance}) {
      rules.push_back(
          {tensor.name + " has the right number of the element " + std::to_string(distance) +
               (by < 0 ? " before" : " later"),
           [=](size_t flat) { return right_at((static_cast<int64_t>(flat) + by + size) % size); },
           true});
    }
    if ((distance & (distance - 1)) != 0) continue;
    rules.push_back({tensor.name + " has exchanged elements " + std::to_string(distance) + " apart",
                     [=](size_t flat) { return right_at(static_cast<int64_t>(flat) ^ distance); },
                     true});
  }
}

std::vector<Rule> RulesOf(const AnsweredTensor& tensor, const Tensors& inputs) {
  const double number = tensor.got[tensor.failing[0]];
  std::vector<Rule> rules;
  if (number == 0 || !std::isfinite(number) || tensor.failing.size() > 1) {
    rules.push_back({tensor.name + " is " + NumberText(number),
                     [=](size_t) -> std::optional<Held> {
                       return Held{number, 0};
                     },
                     std::isnan(number)});
  }
  for (const NamedTensor& input : inputs) {
    if (input.values.shape != tensor.shape) continue;
    rules.push_back({tensor.name + " is " + input.name + ", unchanged,",
                     [&](size_t flat) -> std::optional<Held> {
                       return Held{RoundTo(tensor.dtype, input.values.data[flat]), 0};
                     }});
  }
  for (const double factor : {2.0, -1.0, 0.5, 4.0, 0.25, 3.0, -2.0}) {
    rules.push_back({tensor.name + " is " + NumberText(factor) + " times the right number",
                     [&tensor, factor](size_t flat) -> std::optional<Held> {
                       const double expected = factor * tensor.right[flat];
                       return Held{expected, std::abs(factor) * tensor.bounds[flat] +
                                                 UlpOf(tensor.dtype, expected)};
                     }});
  }
  AddOtherPlaces(tensor, rules);
  return rules;
}

// The bits that the failing elements tell about a rule; negative if one of them breaks it. A number
// that is small beside the others may be 0 for another reason.
double BitsOf(const AnsweredTensor& tensor, const Rule& rule, double typical) {
  double bits = 0;
  for (const size_t flat : tensor.failing) {
    const auto held = rule.held(flat);
    if (!held || std::isinf(held->bound) || !tensor.IsNear(flat, held->number, held->bound))
      return -1;
    if (std::isnan(held->number)) return kInfinity;
    const double least = std::max(held->bound, UlpOf(tensor.dtype, typical));
    bits += std::log2(std::max(1.0, std::abs(tensor.right[flat] - held->number) / (2 * least)));
  }
  return bits;
}

double ErrorAt(const AnsweredTensor& tensor, size_t i) {
  return std::abs(tensor.got[i] - tensor.right[i]);
}

// The errors / bounds of the elements that fail, and of those that do not.
struct Gap {
  double least_failing = kInfinity, most_conforming = 0;
};
Gap GapOf(const AnsweredTensor& tensor) {
  Gap gap;
  auto failing = tensor.failing.begin();
  for (size_t i = 0; i < tensor.got.size(); ++i) {
    const double error = ErrorAt(tensor, i), ratio = error == 0 ? 0 : error / tensor.bounds[i];
    if (failing != tensor.failing.end() && *failing == i) {
      gap.least_failing = std::min(gap.least_failing, ratio);
      ++failing;
    } else if (ratio > gap.most_conforming) {
      gap.most_conforming = ratio;
    }
  }
  return gap;
}

}  // namespace

bool AreFew(const AnsweredTensor& tensor) {
  constexpr size_t kOthers = 256;
  return tensor.failing.size() <= kMostFew && tensor.got.size() >= kOthers;
}

// Roundings that are coarser than the recipe's cause errors of all sizes: that none of n elements
// lies in the upper three quarters of the range has a chance of 4^-n, and AreFew has n > 250.
bool AreOutliers(const AnsweredTensor& tensor) {
  constexpr double kGap = 4;
  if (!AreFew(tensor) || tensor.failing.empty()) return false;
  const Gap gap = GapOf(tensor);
  if (!(gap.least_failing > kGap * std::max(1.0, gap.most_conforming))) return false;
  const double typical = RootMeanSquare(tensor.right);
  return std::ranges::all_of(tensor.failing, [&](size_t flat) {
    const double error = ErrorAt(tensor, flat);
    return 4 * error > typical && error < kInfinity;
  });
}

std::optional<std::string> FindScattered(const AnsweredTensor& tensor, const Tensors& inputs) {
  if (2 * tensor.failing.size() > tensor.got.size()) return std::nullopt;
  const double typical = RootMeanSquare(tensor.right);
  const ElementPattern pattern = PatternOf(tensor, tensor.failing);
  const std::vector<Rule> rules = RulesOf(tensor, inputs);
  const double needed = kBits + std::log2(static_cast<double>(rules.size()));
  for (const Rule& rule : rules) {
    if (!rule.is_anywhere && !pattern.is_regular) continue;
    if (BitsOf(tensor, rule, typical) >= needed) return rule.text + " at " + pattern.text;
  }
  if (!AreOutliers(tensor)) return std::nullopt;
  double most = 0;
  for (const size_t flat : tensor.failing) most = std::max(most, ErrorAt(tensor, flat));
  return tensor.name + " is wrong only at " + pattern.text + ", by " +
         (tensor.failing.size() > 1 ? "up to " : "") + NumberText(most) +
         ", while all others conform";
}

}  // namespace sextant::oracle
