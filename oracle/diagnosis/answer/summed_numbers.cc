#include "oracle/diagnosis/answer/summed_numbers.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "oracle/diagnosis/evidence.h"
#include "oracle/diagnosis/fitted_number.h"

namespace sextant::oracle {
namespace {

// What all elements are, and their bounds.
struct Numbers {
  std::vector<double> expected, bounds;
};

// True if every element along the axis is the sum of the right numbers of its own index and of
// those before it: of all, or of one. Each addition rounds to the dtype once. Sets the numbers that
// are not null.
bool IsSumAlong(const AnsweredTensor& tensor, const AxisView& axis, bool of_all,
                Numbers* numbers = nullptr) {
  for (size_t e = 0; e < axis.slab(); ++e) {
    double sum = 0, bound = 0;
    for (size_t i = 0; i < axis.extent; ++i) {
      const size_t flat = axis.At(i, e);
      if (!of_all && i > 0) {
        sum = tensor.right[axis.At(i - 1, e)];
        bound = tensor.bounds[axis.At(i - 1, e)];
      }
      sum += tensor.right[flat];
      bound += tensor.bounds[flat];
      if (i > 0) bound += UlpOf(tensor.dtype, std::abs(sum) + bound);
      if (numbers) numbers->expected[flat] = sum, numbers->bounds[flat] = bound;
      if (!tensor.IsNear(flat, sum, bound)) return false;
    }
  }
  return true;
}

// True if every element is `factor` times the right number. The product rounds once more.
bool IsFactor(const AnsweredTensor& tensor, double factor) {
  for (size_t i = 0; i < tensor.got.size(); ++i) {
    const double expected = factor * tensor.right[i], bound = std::abs(factor) * tensor.bounds[i];
    if (!tensor.IsNear(i, expected, bound + UlpOf(tensor.dtype, std::abs(expected) + bound)))
      return false;
  }
  return true;
}

// True if most elements that the factor would change too much are right as they are: bounds of
// codes are so wide that many numbers are within them.
bool IsRefuted(const AnsweredTensor& tensor, double factor) {
  size_t right = 0;
  for (size_t i = 0; i < tensor.got.size(); ++i)
    right += std::abs((factor - 1) * tensor.right[i]) > tensor.bounds[i] &&
             !std::ranges::binary_search(tensor.failing, i) && tensor.Conforms(i);
  return right > tensor.failing.size();
}

// The right numbers times the factor, and added(i) more. The result rounds once more.
template <class Added>
Numbers Changed(const AnsweredTensor& tensor, double factor, const Added& added) {
  Numbers numbers{tensor.right, tensor.bounds.All()};
  for (size_t i = 0; i < tensor.got.size(); ++i) {
    double &expected = numbers.expected[i], &bound = numbers.bounds[i];
    expected = factor * expected + added(i);
    bound *= std::abs(factor);
    bound += UlpOf(tensor.dtype, std::abs(expected) + bound);
  }
  return numbers;
}
Numbers ScaledNumbers(const AnsweredTensor& tensor, double factor) {
  return Changed(tensor, factor, [](size_t) { return 0.0; });
}

Summed SummedAs(const std::string& name, const std::string& sentence, Numbers numbers) {
  return {name, sentence, std::move(numbers.expected), std::move(numbers.bounds)};
}

// The factors that a bug has: a sign, an integer, its reciprocal, a root of an integer. A number
// between them may be the error of a step that all elements share, and so may one near 1. Powers of
// two, whose right number is any number, have a power of two.
std::vector<std::pair<double, std::string>> UsualFactors(DType dtype, double ratio) {
  const std::string sign = ratio < 0 ? "-" : "";
  const double size = std::abs(ratio), reciprocal = 1 / size;
  std::vector<std::pair<double, std::string>> factors;
  const auto add = [&](double of, const std::string& text) {
    if (of > 0 && std::isfinite(of) && std::copysign(of, ratio) != 1)
      factors.emplace_back(std::copysign(of, ratio), sign + text);
  };
  const auto text = [](double n) { return std::to_string(static_cast<int64_t>(n)); };
  constexpr double kMost = 65536;  // of an extent
  if (dtype == DType::kE8M0) {
    for (const double power :
         {std::exp2(std::floor(std::log2(size))), std::exp2(std::ceil(std::log2(size)))})
      add(power, power < 1 ? "1/" + text(1 / power) : text(power));
    return factors;
  }
  if (size < kMost) add(std::round(size), text(std::round(size)));
  if (reciprocal < kMost) add(1 / std::round(reciprocal), "1/" + text(std::round(reciprocal)));
  const double square = std::round(size * size), inverse = std::round(reciprocal * reciprocal);
  if (square < kMost) add(std::sqrt(square), "sqrt(" + text(square) + ")");
  if (inverse < kMost) add(1 / std::sqrt(inverse), "1/sqrt(" + text(inverse) + ")");
  add(std::numbers::ln2, "ln 2");
  add(std::numbers::log2e, "1.442695 = log2(e)");
  return factors;
}

// The element whose right number is largest tells the factor best.
std::optional<double> RatioOf(const AnsweredTensor& tensor) {
  const auto size = [&](size_t i) {
    return std::isfinite(tensor.bounds[i]) && !tensor.bounds.LeavesOut(i)
               ? std::abs(tensor.right[i])
               : 0;
  };
  size_t largest = 0;
  for (size_t i = 0; i < tensor.got.size(); ++i) largest = size(i) > size(largest) ? i : largest;
  const double ratio = tensor.got[largest] / tensor.right[largest];
  if (!std::isfinite(ratio) || ratio == 0) return std::nullopt;
  return ratio;
}

// The number c for which every element is offset(flat) + c times unit(flat), if there is one.
template <class Offset, class Unit>
std::optional<MeasuredNumber> SharedNumber(const AnsweredTensor& tensor, const Offset& offset,
                                           const Unit& unit) {
  Range range;
  for (size_t i = 0; i < tensor.got.size() && !range.IsEmpty(); ++i) {
    const double bound = tensor.bounds[i] + UlpOf(tensor.dtype, std::abs(tensor.got[i]));
    if (std::isinf(bound) || tensor.bounds.LeavesOut(i)) continue;
    range.Intersect(Quotient(tensor.got[i] - offset(i), bound, unit(i)));
  }
  if (range.IsEmpty() || !range.IsBounded()) return std::nullopt;
  return MiddleOf(range);
}

// A number that is added to all elements, or so often as the index on an axis says.
std::optional<Summed> FindAdded(const AnsweredTensor& tensor) {
  const auto right = [&](size_t i) { return tensor.right[i]; };
  const auto find = [&](const auto& unit, const std::string& times) -> std::optional<Summed> {
    const auto added = SharedNumber(tensor, right, unit);
    if (!added || added->MayBe(0)) return std::nullopt;
    // An element tells a bit if the number is at least twice what it may be off.
    const auto tells = [&](size_t i) {
      const double bound = tensor.bounds[i] + UlpOf(tensor.dtype, std::abs(tensor.got[i]));
      return std::abs(added->value * unit(i)) >= 2 * bound;
    };
    const auto telling = static_cast<size_t>(std::ranges::count_if(tensor.failing, tells));
    if (!IsEvidence(telling, 1 + tensor.axes.size())) return std::nullopt;
    return SummedAs("added", ShortestText(*added) + times + " is added to " + tensor.name,
                    Changed(tensor, 1, [&](size_t i) { return added->value * unit(i); }));
  };
  auto found = find([](size_t) { return 1.0; }, "");
  for (const AxisView& axis : tensor.axes) {
    if (!found)
      found = find([&](size_t i) { return static_cast<double>(axis.IndexOf(i)); },
                   " times the index " + axis.name);
  }
  return found;
}

// A factor with few digits. Any other may follow from another cause: a wrong scale at one position.
std::optional<Summed> FindUnusualFactor(const AnsweredTensor& tensor) {
  const auto factor = SharedNumber(
      tensor, [](size_t) { return 0.0; }, [&](size_t i) { return tensor.right[i]; });
  if (!factor || std::abs(factor->value - 1) <= kSharedRoundings + factor->bar) return std::nullopt;
  const auto number = ShortNumber(*factor);
  if (!number || tensor.dtype == DType::kE8M0 || IsRefuted(tensor, *number)) return std::nullopt;
  return SummedAs("factor", tensor.name + " is " + ShortText(*number) + " times the right numbers",
                  ScaledNumbers(tensor, *number));
}

}  // namespace

std::optional<Summed> FindSummed(const AnsweredTensor& tensor) {
  constexpr size_t kUsualFactors = 6;
  if (!IsEvidence(tensor.failing.size(), 2 * tensor.axes.size() + kUsualFactors))
    return std::nullopt;
  for (const AxisView& axis : tensor.axes) {
    const std::string head = tensor.name + " is the sum of the right numbers of ";
    for (const bool of_all : {true, false}) {
      if (!IsSumAlong(tensor, axis, of_all)) continue;
      Numbers sums{tensor.right, tensor.bounds.All()};
      IsSumAlong(tensor, axis, of_all, &sums);
      return SummedAs("accumulated",
                      head + (of_all ? "all " + axis.name + " up to its own"
                                     : "its own " + axis.name + " and of the one before"),
                      std::move(sums));
    }
  }
  const auto ratio = RatioOf(tensor);
  if (!ratio) return FindAdded(tensor);
  for (const auto& [factor, text] : UsualFactors(tensor.dtype, *ratio)) {
    if (IsFactor(tensor, factor) && !IsRefuted(tensor, factor))
      return SummedAs("factor", tensor.name + " is " + text + " times the right numbers",
                      ScaledNumbers(tensor, factor));
  }
  auto found = FindUnusualFactor(tensor);
  return found ? found : FindAdded(tensor);
}

}  // namespace sextant::oracle
