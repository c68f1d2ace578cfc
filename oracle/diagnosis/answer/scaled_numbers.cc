#include "oracle/diagnosis/answer/scaled_numbers.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "oracle/diagnosis/evidence.h"
#include "oracle/diagnosis/fitted_number.h"
#include "oracle/diagnosis/measured_number.h"
#include "oracle/diagnosis/row_divisors.h"

namespace sextant::oracle {
namespace {

constexpr size_t kFewestSharing = 4;  // elements that share a number
constexpr size_t kScaleChoices = 64;

// What an element says about the factor, or about the number that is added.
using Says = void (*)(const AnsweredTensor& tensor, size_t flat, Range& range);
void SaysFactor(const AnsweredTensor& tensor, size_t flat, Range& range) {
  const double got = tensor.got[flat], right = tensor.right[flat], bound = tensor.bounds[flat];
  // A number that is larger than the right one has larger roundings.
  const double error = bound * std::max(1.0, right == 0 ? 1 : std::abs(got / right));
  range.Intersect(Quotient(got, error, right));
}
void SaysAdded(const AnsweredTensor& tensor, size_t flat, Range& range) {
  const double got = tensor.got[flat], right = tensor.right[flat];
  const double error = tensor.bounds[flat] + UlpOf(tensor.dtype, got);
  range.Intersect({got - right - error, got - right + error});
}

// " at F 8 to 11 and S 3"; empty if all indices fail.
std::string PlaceOf(const AnsweredTensor& tensor) {
  std::string text;
  for (const AxisView& axis : tensor.axes) {
    const std::vector<size_t> indices = axis.IndicesOf(tensor.failing);
    if (indices.size() < axis.extent)
      text +=
          (text.empty() ? " at " : " and ") + axis.name + " " + IndicesText(indices, axis.extent);
  }
  return text;
}

bool CanTell(const AnsweredTensor& tensor, size_t flat) {
  return std::isfinite(tensor.got[flat]) && std::isfinite(tensor.right[flat]) &&
         std::isfinite(tensor.bounds[flat]) && !tensor.bounds.LeavesOut(flat);
}

// The numbers of the groups of failing elements; empty if a group has none.
std::map<size_t, Range> NumbersOfGroups(const AnsweredTensor& tensor, Says says,
                                        const std::function<size_t(size_t flat)>& group_of) {
  std::map<size_t, Range> numbers;
  std::map<size_t, size_t> counts;
  for (const size_t flat : tensor.failing) {
    if (!CanTell(tensor, flat)) return {};
    Range& range = numbers[group_of(flat)];
    says(tensor, flat, range);
    ++counts[group_of(flat)];
    if (range.IsEmpty()) return {};
  }
  for (const auto& [group, range] : numbers)
    if (!range.IsBounded() || counts[group] < kFewestSharing) return {};
  return numbers;
}

// Whether a range excludes the right number, 1 or 0, and by how much it is off in units of the
// right numbers.
bool IsFar(const Range& range, bool is_factor, double size) {
  const double right = is_factor ? 1 : 0;
  if (range.Contains(right)) return false;
  return std::abs(range.Middle() - right) > kSharedRoundings * (is_factor ? 1 : size);
}
double SizeOf(const AnsweredTensor& tensor) {
  double size = 0;
  for (const size_t flat : tensor.failing)
    size = std::max(size, std::isfinite(tensor.right[flat]) ? std::abs(tensor.right[flat]) : 0);
  return size;
}

std::optional<Scaled> OfAll(const AnsweredTensor& tensor) {
  for (const bool is_factor : {true, false}) {
    const auto numbers = NumbersOfGroups(tensor, is_factor ? SaysFactor : SaysAdded,
                                         [](size_t) { return size_t{0}; });
    if (numbers.empty()) continue;
    if (!IsFar(numbers.begin()->second, is_factor, SizeOf(tensor))) continue;
    const MeasuredNumber number = MiddleOf(numbers.begin()->second);
    const std::string text = ShortestText(number);
    if (is_factor)
      return Scaled{"numbers_multiplied",
                    tensor.name + " is " + text + " times the right number" + PlaceOf(tensor)};
    return Scaled{"numbers_shifted",
                  tensor.name + " is the right number plus " + text + PlaceOf(tensor)};
  }
  return std::nullopt;
}

std::optional<Scaled> OfGroups(const AnsweredTensor& tensor, const std::string& name,
                               const std::function<size_t(size_t flat)>& group_of) {
  const double size = SizeOf(tensor);
  for (const bool is_factor : {true, false}) {
    const auto numbers = NumbersOfGroups(tensor, is_factor ? SaysFactor : SaysAdded, group_of);
    if (numbers.size() < 2) continue;
    const auto far = std::ranges::count_if(
        numbers, [&](const auto& one) { return IsFar(one.second, is_factor, size); });
    if (2 * far < std::ranges::ssize(numbers)) continue;
    constexpr size_t kShown = 3;
    std::string text;
    size_t shown = 0;
    for (const auto& [group, range] : numbers) {
      if (++shown > kShown) break;
      text += (shown == 1 ? "" : ", ") + name + " " + std::to_string(group) + " by " +
              ShortestText(MiddleOf(range));
    }
    const std::string of = " (" + std::to_string(numbers.size()) + " " + name + "s)";
    return Scaled{name + (is_factor ? "s_multiplied" : "s_shifted"),
                  "each " + name + " of " + tensor.name + " is " +
                      (is_factor ? "multiplied" : "shifted") + " by a number of its own: " + text +
                      (numbers.size() > kShown ? " ..." : "") + of + PlaceOf(tensor)};
  }
  return std::nullopt;
}

// Whether the right row, divided by the number, is the row of the answer.
bool IsDividedBy(const AnsweredTensor& tensor, size_t first, size_t width, double number) {
  const double roundings = static_cast<double>(width) * 0x1p-52;  // of the number's sum
  for (size_t flat = first; flat < first + width; ++flat) {
    if (!CanTell(tensor, flat)) {
      if (std::isfinite(tensor.bounds[flat])) return false;
      continue;
    }
    const double expected = tensor.right[flat] / number;
    const double error = tensor.bounds[flat] * std::max(1.0, 1 / std::abs(number));
    if (!(std::abs(tensor.got[flat] - expected) <= error + roundings * std::abs(expected)))
      return false;
  }
  return true;
}

std::optional<Scaled> OfNormedRows(const AnsweredTensor& tensor, size_t width) {
  for (const auto& [text, of] : kRowDivisors) {
    bool fits_all = true;
    for (size_t first = 0; fits_all && first < tensor.right.size(); first += width) {
      const double number = of(std::span(tensor.right).subspan(first, width));
      fits_all = IsDividedBy(tensor, first, width, number);
    }
    if (fits_all)
      return Scaled{"rows_normed", "each row of " + tensor.name + " is divided by its " + text};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Scaled> FindScaled(const AnsweredTensor& tensor) {
  if (!IsEvidence(tensor.failing.size(), kScaleChoices)) return std::nullopt;
  if (auto all = OfAll(tensor)) return all;
  const size_t width = RowWidth(tensor.shape);
  if (width < kFewestSharing) return std::nullopt;
  if (auto normed = OfNormedRows(tensor, width)) return normed;
  if (auto rows = OfGroups(tensor, "row", [=](size_t flat) { return flat / width; })) return rows;
  return OfGroups(tensor, "column", [=](size_t flat) { return flat % width; });
}

}  // namespace sextant::oracle
