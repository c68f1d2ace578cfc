#include "oracle/diagnosis/answer/element_pattern.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "reference/base/count_text.h"
#include "reference/number/tensor/tensor.h"

namespace sextant::oracle {
namespace {

// So many equal distances are no accident, and so many elements are listed.
constexpr size_t kFewestRuns = 4, kMostListed = 3;

std::string Ordinal(size_t n) {
  const size_t tens = n / 10 % 10, ones = n % 10;
  const char* const ending = tens == 1 || ones == 0 || ones > 3 ? "th"
                             : ones == 1                        ? "st"
                             : ones == 2                        ? "nd"
                                                                : "rd";
  return std::to_string(n) + ending;
}

// Runs of neighbours, all of the same length, at equal distances. A run may be cut off by the end
// of the tensor.
struct Runs {
  size_t first, length, distance, count;
};
std::optional<Runs> RunsOf(const std::vector<size_t>& elements, size_t size) {
  size_t length = 1;
  while (length < elements.size() && elements[length] == elements[0] + length) ++length;
  if (length == elements.size()) return Runs{elements[0], length, 0, 1};
  const size_t distance = elements[length] - elements[0];
  for (size_t i = 0; i < elements.size(); ++i) {
    if (elements[i] != elements[0] + i / length * distance + i % length) return std::nullopt;
  }
  const size_t count = (elements.size() + length - 1) / length;
  if (elements.size() % length != 0 && elements.back() + 1 != size) return std::nullopt;
  return Runs{elements[0], length, distance, count};
}

std::string RangeText(size_t first, size_t length) {
  return std::to_string(first) + (length > 1 ? " to " + std::to_string(first + length - 1) : "");
}

// "6 elements: [0,3], [1,7], [2,0] ... (all at multiples of 16)"
std::string ListText(const AnsweredTensor& tensor, const std::vector<size_t>& elements) {
  std::string text = CountText(elements.size(), "element") + ":";
  for (size_t i = 0; i < std::min(kMostListed, elements.size()); ++i)
    text += (i > 0 ? ", " : " ") + IndexText("", tensor.shape, elements[i]);
  if (elements.size() > kMostListed) text += " ...";
  size_t step = 0;  // all indices differ by multiples of it
  for (const size_t flat : elements) step = std::gcd(step, flat - elements[0]);
  constexpr size_t kSmallestTile = 8;
  if (elements.size() < kFewestRuns || step < kSmallestTile) return text;
  const size_t rest = elements[0] % step;
  return text + " (all at multiples of " + std::to_string(step) +
         (rest == 0 ? "" : " plus " + std::to_string(rest)) + ")";
}

// The elements are all those with some indices on each axis, but not on all axes only one.
std::optional<std::string> TextOfBlock(const AnsweredTensor& tensor,
                                       const std::vector<size_t>& elements) {
  Indices block;
  size_t count = 1;
  for (const AxisView& axis : tensor.axes) {
    block.push_back(axis.IndicesOf(elements));
    count *= block.back().size();
  }
  if (count != elements.size() || count == 1 || count == tensor.got.size()) return std::nullopt;
  return BlockText(tensor, block);
}

}  // namespace

std::string BlockText(const AnsweredTensor& tensor, const Indices& block) {
  std::string text;
  for (size_t a = 0; a < block.size(); ++a) {
    if (block[a].size() == tensor.axes[a].extent) continue;
    text += (text.empty() ? "" : ", ") + tensor.axes[a].name + " " +
            IndicesText(block[a], tensor.axes[a].extent);
  }
  return text;
}

ElementPattern PatternOf(const AnsweredTensor& tensor, const std::vector<size_t>& elements) {
  const size_t size = tensor.got.size();
  if (const auto block = TextOfBlock(tensor, elements)) return {*block, true};
  const auto runs = RunsOf(elements, size);
  if (!runs) return {ListText(tensor, elements), false};
  const auto& [first, length, distance, count] = *runs;
  if (count == 1 && length == 1) {
    return {
        "element " + std::to_string(first) + " = " + IndexText("", tensor.shape, first) + " alone",
        true};
  }
  if (count == 1 && first + length == size)
    return {"the last " + std::to_string(length) + " elements", true};
  if (count == 1) return {"elements " + RangeText(first, length), true};
  if (count < kFewestRuns) return {ListText(tensor, elements), false};
  const size_t last = first + (count - 1) * distance;
  const std::string until = last + distance >= size ? "" : " up to " + std::to_string(last);
  if (length == 1) {
    return {"every " + Ordinal(distance) + " element from " + std::to_string(first) + " on" + until,
            true};
  }
  const std::string from = first < distance ? "" : ", from " + std::to_string(first) + " on";
  return {"elements " + RangeText(first % distance, length) + " of every " +
              std::to_string(distance) + from + until,
          true};
}

}  // namespace sextant::oracle
