#include "oracle/diagnosis/answer/answered_tensor.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "reference/base/parallel.h"

namespace sextant::oracle {
namespace {

std::vector<AxisView> AxesOf(const TensorSpec& spec, const Shape& shape) {
  std::vector<AxisView> axes;
  for (size_t a = 0; a < shape.size(); ++a) {
    size_t outer = 1, inner = 1;
    for (size_t b = 0; b < shape.size(); ++b) (b < a ? outer : inner) *= b == a ? 1 : shape[b];
    if (shape[a] > 1) axes.push_back({spec.extents[a], outer, shape[a], inner});
  }
  return axes;
}

bool Fails(const AnsweredTensor& tensor, size_t i) {
  const double bound = tensor.bounds.PermittedAt(i);
  return !std::isinf(bound) && !SameNumber(tensor.got[i], tensor.right[i]) &&
         !(std::abs(tensor.got[i] - tensor.right[i]) <= bound);
}

// They are counted first: a list that grows is copied, and large ones take long to copy.
std::vector<size_t> FailingIn(const AnsweredTensor& tensor, int threads) {
  constexpr size_t kBlock = size_t{1} << 16;  // elements that one thread sees at once
  const size_t elements = tensor.got.size(), blocks = (elements + kBlock - 1) / kBlock;
  std::vector<size_t> ends(blocks + 1);  // of the failing elements of the blocks
  const auto for_each = [&](size_t block, const auto& take) {
    const size_t end = std::min(elements, (block + 1) * kBlock);
    for (size_t i = block * kBlock; i < end; ++i)
      if (Fails(tensor, i)) take(i);
  };
  InParallel(blocks, threads, [&](size_t b) {
    size_t count = 0;
    for_each(b, [&](size_t) { ++count; });
    ends[b + 1] = count;
  });
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<size_t> failing(ends[blocks]);
  InParallel(blocks, threads, [&](size_t b) {
    size_t to = ends[b];
    for_each(b, [&](size_t i) { failing[to++] = i; });
  });
  return failing;
}

}  // namespace

std::vector<double> LikelyBounds::All() const {
  std::vector<double> all(golden_.high.data.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = (*this)[i];
  return all;
}

std::vector<size_t> AxisView::IndicesOf(const std::vector<size_t>& elements) const {
  std::vector<char> has(extent);
  size_t missing = extent;
  for (size_t i = 0; i < elements.size() && missing > 0;) {
    if (!std::exchange(has[IndexOf(elements[i])], 1)) --missing;
    // The next one, or the first one that has another index.
    const size_t next = (elements[i] / inner + 1) * inner;
    ++i;
    if (inner > 1)
      i = std::ranges::lower_bound(
              elements.begin() + static_cast<ptrdiff_t>(i),
              elements.begin() + static_cast<ptrdiff_t>(std::min(i + inner, elements.size())),
              next) -
          elements.begin();
  }
  std::vector<size_t> indices;
  for (size_t i = 0; i < extent; ++i) {
    if (has[i]) indices.push_back(i);
  }
  return indices;
}

bool AnsweredTensor::IsNear(size_t flat, double expected, double bound) const {
  if (bounds.LeavesOut(flat) || std::isinf(bounds[flat])) return true;
  if (std::isinf(bound)) return false;  // any number would be near
  if (SameNumber(got[flat], expected)) return true;
  return std::abs(got[flat] - expected) <= bound;
}

bool IsFirstAlone(const Observation& seen) {
  const auto& outputs = seen.c.info().signature.outputs;
  return seen.answer.size() == 1 && seen.answer[0].name == outputs[0].name;
}

std::optional<AnsweredTensor> AnsweredTensorOf(const Observation& seen, size_t output,
                                               int threads) {
  const TensorSpec& spec = seen.c.info().signature.outputs[output];
  const auto at = std::ranges::find(seen.answer, spec.name, &NamedTensor::name);
  if (at == seen.answer.end()) return std::nullopt;
  const GoldenTensor& golden = seen.golden[output];
  AnsweredTensor tensor{.name = spec.name,
                        .dtype = at->dtype,
                        .shape = at->values.shape,
                        .axes = AxesOf(spec, at->values.shape),
                        .got = at->values.data,
                        .right = golden.high.data,
                        .bounds = {golden, seen.permitted[output]},
                        .failing = {}};
  tensor.failing = FailingIn(tensor, threads);
  return tensor;
}

const AnsweredTensor* AnsweredTensors::Of(size_t output) {
  auto& [is_made, tensor] = tensors_[output];
  if (!std::exchange(is_made, true)) {
    if (auto made = AnsweredTensorOf(seen_, output, threads_)) tensor.emplace(*std::move(made));
  }
  return tensor ? &*tensor : nullptr;
}

bool HasLargeErrors(const AnsweredTensor& tensor) {
  const size_t width = std::max<size_t>(RowWidth(tensor.shape), 1);
  std::vector<double> row(tensor.right.size() / width), column(width);  // sums of squares
  for (size_t i = 0; i < tensor.right.size(); ++i) {
    if (!std::isfinite(tensor.right[i])) continue;
    row[i / width] += tensor.right[i] * tensor.right[i];
    column[i % width] += tensor.right[i] * tensor.right[i];
  }
  return std::ranges::any_of(tensor.failing, [&](size_t i) {
    const double typical = std::sqrt(std::min(row[i / width] / static_cast<double>(width),
                                              column[i % width] / static_cast<double>(row.size())));
    return !(16 * std::abs(tensor.got[i] - tensor.right[i]) < typical);
  });
}

std::string IndicesText(const std::vector<size_t>& indices, size_t extent) {
  constexpr size_t kMostRanges = 3;
  if (indices.size() == extent) return "all " + std::to_string(extent);
  const auto step = [&](size_t i) { return indices[i + 1] - indices[i]; };
  bool is_even = indices.size() > 2 && step(0) > 1;
  for (size_t i = 0; i + 1 < indices.size() && is_even; ++i) is_even = step(i) == step(0);
  if (is_even) {
    return std::to_string(indices[0]) + " to " + std::to_string(indices.back()) + " in steps of " +
           std::to_string(step(0));
  }
  std::string text;
  size_t ranges = 0;
  for (size_t i = 0; i < indices.size(); ++ranges) {
    size_t last = i;
    while (last + 1 < indices.size() && indices[last + 1] == indices[last] + 1) ++last;
    text += (ranges > 0 ? ", " : "") + std::to_string(indices[i]);
    if (last > i) text += " to " + std::to_string(indices[last]);
    i = last + 1;
  }
  if (ranges <= kMostRanges) return text;
  return std::to_string(indices.size()) + " of " + std::to_string(extent) + ", the first is " +
         std::to_string(indices[0]);
}

}  // namespace sextant::oracle
