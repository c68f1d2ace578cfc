#include "oracle/diagnosis/work.h"

#include <algorithm>
#include <limits>

namespace sextant::oracle {
namespace {

constexpr size_t kSmallSlice = 128;             // elements
constexpr size_t kLeastWork = size_t{1} << 24;  // about a second
// A judgement multiplies matrices in vectors, so many times as fast as a hypothesis does.
constexpr size_t kVectors = 64;
constexpr size_t kJudgements = 4;

size_t OutputsOf(const Case& c, const Slice& slice) {
  size_t elements = 0;
  for (const TensorSpec& output : c.info().signature.outputs)
    elements += CountOf(ShapeIn(c.ShapeOf(output), output, slice));
  return elements;
}

}  // namespace

size_t ProductsOf(const Case& c) {
  size_t numbers = 0;
  for (const TensorSpec& input : c.signature().inputs) numbers += CountOf(c.ShapeOf(input));
  const Shape first = c.ShapeOf(c.info().signature.outputs[0]);
  const size_t rows = first.size() < 2 ? 1 : CountOf(first) / std::max<size_t>(first.back(), 1);
  return numbers * std::max<size_t>(rows, 1);
}

size_t WorkOf(const Case& c, const Slice& slice) {
  size_t work = OutputsOf(c, slice);
  for (const TensorSpec& input : c.signature().inputs)
    work += CountOf(ShapeIn(c.ShapeOf(input), input, slice));
  return work;
}

size_t WorkOf(const Case& c) {
  if (!Halve(c, {})) return ProductsOf(c);
  Slice small;
  while (OutputsOf(c, small) > kSmallSlice) {
    const auto halves = Halve(c, small);
    if (!halves) break;
    small = halves->first;
  }
  const size_t elements = OutputsOf(c, {}), in_slice = OutputsOf(c, small);
  return in_slice == 0 ? 0 : WorkOf(c, small) * ((elements + in_slice - 1) / in_slice);
}

size_t MostWork(const Case& c) {
  return std::max({kLeastWork, kJudgements * WorkOf(c, {}), WorkOf(c) / kVectors});
}

size_t MostHypotheses(const Case& c) {
  if (Halve(c, {})) return std::numeric_limits<size_t>::max();
  return MostWork(c) / std::max<size_t>(WorkOf(c), 1);
}

size_t MostMeasurements(const Case& c) {
  constexpr size_t kMeasuredWork = size_t{1} << 18;
  return std::max<size_t>(1, kMeasuredWork / std::max<size_t>(1, WorkOf(c, {})));
}

size_t ElementsInWork(const Case& c, size_t work) {
  const double of_element = static_cast<double>(WorkOf(c)) / static_cast<double>(OutputsOf(c, {}));
  return static_cast<size_t>(static_cast<double>(work) / std::max(1.0, of_element));
}

bool IsForRareCauses(const Case& c) {
  constexpr size_t kRareHypotheses = 16;  // times as much work as others
  return kRareHypotheses * WorkOf(c) <= MostWork(c);
}

}  // namespace sextant::oracle
