#include "oracle/diagnosis/answer/telling_input.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "oracle/diagnosis/measured_number.h"

namespace sextant::oracle {
namespace {

// The number of the input for each index; empty if it has none, or others too.
std::vector<double> NumbersOfAxis(const Observation& seen, size_t input, const std::string& axis) {
  const TensorSpec& spec = seen.c.signature().inputs[input];
  const Tensor<double>& values = seen.inputs[input].values;
  for (size_t a = 0; a < values.shape.size(); ++a)
    if (spec.extents[a] == axis && values.shape[a] == values.data.size()) return values.data;
  return {};
}

// The least and the largest of some numbers.
struct Ends {
  double least = kInfinity, largest = -kInfinity;
  void Add(double x) {
    least = std::min(least, x);
    largest = std::max(largest, x);
  }
};

std::string TextOfNumber(double x) {
  return x == std::nearbyint(x) && std::abs(x) < 0x1p53 ? std::to_string(static_cast<int64_t>(x))
                                                        : ShortText(x);
}

// Of n numbers, those of k indices are a range by accident with the chance of n - k + 1 ranges
// among all sets of k indices: less than one answer in a hundred.
bool IsTelling(size_t n, size_t k) {
  constexpr double kSetsPerRange = 100;
  if (n < k) return false;
  double sets = 1;
  for (size_t i = 0; i < k; ++i) sets *= static_cast<double>(n - i) / static_cast<double>(i + 1);
  return sets >= kSetsPerRange * static_cast<double>(n - k + 1);
}

std::optional<std::string> Told(const std::vector<double>& numbers,
                                const std::vector<size_t>& indices) {
  Ends inside, below, above;
  std::vector<double> others;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (std::isnan(numbers[i])) return std::nullopt;
    if (std::ranges::binary_search(indices, i))
      inside.Add(numbers[i]);
    else
      others.push_back(numbers[i]);
  }
  for (const double other : others) {
    if (inside.least <= other && other <= inside.largest) return std::nullopt;
    (other < inside.least ? below : above).Add(other);
  }
  if (inside.least == inside.largest) return "is " + TextOfNumber(inside.least);
  const bool has_below = below.least <= below.largest, has_above = above.least <= above.largest;
  if (has_below && has_above)
    return "is from " + TextOfNumber(inside.least) + " to " + TextOfNumber(inside.largest) +
           "; elsewhere it is at most " + TextOfNumber(below.largest) + " or at least " +
           TextOfNumber(above.least);
  if (has_below)
    return "is at least " + TextOfNumber(inside.least) + "; elsewhere it is at most " +
           TextOfNumber(below.largest);
  return "is at most " + TextOfNumber(inside.largest) + "; elsewhere it is at least " +
         TextOfNumber(above.least);
}

}  // namespace

std::string TellingInput(const Observation& seen, const std::string& axis,
                         const std::vector<size_t>& indices) {
  const bool is_range = indices.empty() || indices.back() - indices.front() + 1 == indices.size();
  if (is_range) return "";
  for (size_t input = 0; input < seen.inputs.size(); ++input) {
    const std::vector<double> numbers = NumbersOfAxis(seen, input, axis);
    if (!IsTelling(numbers.size(), indices.size())) continue;
    if (const auto told = Told(numbers, indices))
      return " (where " + seen.inputs[input].name + " " + *told + ")";
  }
  return "";
}

}  // namespace sextant::oracle
