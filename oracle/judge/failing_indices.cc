#include "oracle/judge/failing_indices.h"

#include <algorithm>

namespace sextant::oracle {
namespace {

FailingIndices IndicesOn(const Axis& axis, const std::vector<bool>& fails, bool elsewhere) {
  FailingIndices indices{axis.name, axis.derived_from, axis.values.size()};
  bool before = false;  // the value before fails
  for (size_t i = 0; i < axis.values.size(); ++i) {
    if (fails[i] && !before) indices.ranges.emplace_back(axis.values[i], axis.values[i]);
    if (fails[i]) indices.ranges.back().second = axis.values[i];
    before = fails[i];
  }
  indices.elsewhere = elsewhere;
  indices.everywhere = std::ranges::count(fails, false) == 0;
  return indices;
}

// The indices of the next element.
void Advance(const Shape& shape, Shape& at) {
  for (size_t i = shape.size(); i-- > 0;) {
    if (++at[i] < shape[i]) return;
    at[i] = 0;
  }
}

}  // namespace

std::vector<FailingIndices> FailingIndicesOf(const OutputOf& of, const std::vector<bool>& fails) {
  const std::vector<Axis> axes = AxesOf(of);
  std::vector<std::vector<bool>> fails_at;
  std::vector<bool> elsewhere(axes.size());
  for (const Axis& axis : axes) fails_at.emplace_back(axis.values.size());
  const Shape shape = of.c.ShapeOf(of.output);
  Shape at(shape.size());
  for (size_t flat = 0; flat < fails.size(); ++flat, Advance(shape, at)) {
    if (!fails[flat]) continue;
    for (size_t a = 0; a < axes.size(); ++a) {
      const size_t index = axes[a].index_of(at);
      if (index == Axis::kNone) {
        elsewhere[a] = true;
      } else {
        fails_at[a][index] = true;
      }
    }
  }
  std::vector<FailingIndices> all;
  for (size_t a = 0; a < axes.size(); ++a)
    all.push_back(IndicesOn(axes[a], fails_at[a], elsewhere[a]));
  return all;
}

}  // namespace sextant::oracle
