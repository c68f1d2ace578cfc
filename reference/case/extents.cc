#include "reference/case/extents.h"

#include <algorithm>

#include "reference/case/dimensions.h"

namespace sextant {
namespace {

// Four vectors (or two vectors of pairs) and a remainder; divisible by the usual numbers of groups.
constexpr int64_t kLongRow = 72;
constexpr int64_t kLongSquare = 24;  // for outputs that grow with the square

bool IsLastAxis(const std::string& letter, const OperationInfo& info) {
  return std::ranges::any_of(info.signature.outputs, [&](const TensorSpec& output) {
    return !output.extents.empty() && output.extents.back() == letter;
  });
}

// The number of axes of a tensor whose extent contains the letter.
size_t AxesOf(const std::string& letter, const TensorSpec& tensor) {
  return static_cast<size_t>(std::ranges::count_if(tensor.extents, [&](const std::string& extent) {
    return std::ranges::count(LettersOf(extent), letter) > 0;
  }));
}

}  // namespace

bool IsComposite(const OperationInfo& info) {
  const bool optional =
      std::ranges::any_of(info.signature.outputs, [](const TensorSpec& o) { return o.optional; });
  return optional && info.Marks(Step::kKeep);
}

bool IsFused(const OperationInfo& info) {
  const bool has_codes = std::ranges::any_of(
      info.signature.outputs, [](const TensorSpec& o) { return o.role == Role::kCode; });
  return has_codes && info.Marks(Step::kKeep);
}

bool IsDimension(const std::string& key) {
  return key.size() == 1 && key[0] >= 'A' && key[0] <= 'Z';
}

bool IsSlice(const std::string& letter, const OperationInfo& info) {
  return info.slices.find(letter) != std::string_view::npos;
}

bool MakesRows(const std::string& letter, const OperationInfo& info) {
  if (IsComposite(info) || IsFused(info)) return false;
  if (letter == kKeyHeads) return false;  // a number of heads
  if (IsSlice(letter, info)) return IsLastAxis(letter, info);
  bool of_positions = false, of_others = false, counts_blocks = false;
  for (const auto* side : {&info.signature.inputs, &info.signature.outputs}) {
    for (const TensorSpec& tensor : *side) {
      for (const std::string& extent : tensor.extents) {
        counts_blocks |= extent.find(letter + "*") != extent.npos;
      }
      if (AxesOf(letter, tensor) == 0) continue;
      const bool numbers = tensor.role == Role::kCase || tensor.role == Role::kWide;
      (numbers ? of_others : of_positions) = true;
    }
  }
  return !counts_blocks && (of_others || !of_positions);
}

int64_t LongExtent(const std::string& letter, const OperationInfo& info) {
  if (!IsDimension(letter)) return 0;
  if (!MakesRows(letter, info)) return IsSlice(letter, info) ? kManySlices : 0;
  const bool squared = std::ranges::any_of(
      info.signature.outputs, [&](const TensorSpec& output) { return AxesOf(letter, output) > 1; });
  return squared ? kLongSquare : kLongRow;
}

}  // namespace sextant
