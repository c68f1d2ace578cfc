#include "reference/prove/part.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <set>
#include <string>

#include "reference/base/parallel.h"
#include "reference/prove/case_slices.h"
#include "reference/prove/prover.h"

namespace sextant {

CaseCut PartsOf(const Case& c, size_t elements, const Slice& slice) {
  size_t largest = 1, all = 0;
  for (const TensorSpec& spec : c.info().signature.outputs) {
    const size_t count = CountOf(ShapeIn(c.ShapeOf(spec), spec, slice));
    largest = std::max(largest, count);
    all += count;
  }
  // CaseCut counts the largest tensor. A whole case is not cut for its inputs alone.
  constexpr size_t kWhole = std::numeric_limits<size_t>::max();
  if (all <= elements) return CaseCut(c, kWhole, slice);
  const double share = static_cast<double>(largest) / static_cast<double>(all);
  const auto most = static_cast<size_t>(static_cast<double>(elements) * share);
  return CaseCut(c, std::max<size_t>(1, most), slice);
}

namespace {

// The part of the keys that the queries of a slice see.
double VisibleShare(const Case& c, const Slice& slice) {
  const auto queries = slice.ranges.find("S");
  const auto keys = c.dimensions().find("T"), all = c.dimensions().find("S");
  if (queries == slice.ranges.end() || keys == c.dimensions().end() ||
      c.ToString().find(" mask=causal ") == std::string::npos)
    return 1;
  const auto [first, count] = queries->second;
  const auto middle = static_cast<double>(first) + static_cast<double>(count) / 2;
  const double seen = static_cast<double>(keys->second - all->second) + middle;
  return std::clamp(seen / static_cast<double>(keys->second), 0.01, 1.0);
}

}  // namespace

double PredictedCost(const Case& c, const Slice& slice) {
  double elements = 0, terms = 1;
  std::set<std::string> letters;
  for (const TensorSpec& spec : c.info().signature.outputs) {
    elements += static_cast<double>(CountOf(ShapeIn(c.ShapeOf(spec), spec, slice)));
    letters.insert(spec.extents.begin(), spec.extents.end());
  }
  for (const TensorSpec& spec : c.signature().inputs) {
    const Shape shape = c.ShapeOf(spec);
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (letters.insert(spec.extents[axis]).second) terms += static_cast<double>(shape[axis]);
  }
  return elements * terms * VisibleShare(c, slice);
}

namespace {

NamedTensor ReadPart(const TensorReader& whole, const TensorSpec& spec, const Slice& part,
                     int threads) {
  constexpr size_t kAtOnce = size_t{1} << 14;  // elements
  struct Piece {
    size_t from, to, count;
  };
  NamedTensor values{whole.name(), whole.dtype(),
                     Tensor<double>(ShapeIn(whole.shape(), spec, part))};
  std::vector<Piece> pieces;
  size_t at = 0;
  for (const auto& [first, count] : RunsIn(whole.shape(), spec, part)) {
    for (size_t k = 0; k < count; k += kAtOnce)
      pieces.push_back({first + k, at + k, std::min(kAtOnce, count - k)});
    at += count;
  }
  InParallel(pieces.size(), threads, [&](size_t i) {
    const auto& [from, to, count] = pieces[i];
    whole.Read(from, std::span(values.values.data).subspan(to, count));
  });
  return values;
}

}  // namespace

// Reads a part in memory by the indices of the whole tensor.
class InputsOfPart::Window : public TensorSource {
 public:
  Window(const TensorReader& whole, const TensorSpec& spec, const Slice& part,
         const Tensor<double>& values)
      : TensorSource(whole.name(), whole.dtype(), whole.shape()), values_(values) {
    const std::vector<Run> runs = RunsIn(whole.shape(), spec, part);
    if (!runs.empty()) begin_ = runs.front().first;
  }
  // The elements must be consecutive in the part, too, as those of a run of a slice of it are.
  void Read(size_t first, std::span<double> to) const override {
    const auto from = values_.data.begin() + static_cast<ptrdiff_t>(IndexOf(first));
    std::copy_n(from, to.size(), to.begin());
  }

 private:
  size_t IndexOf(size_t flat) const {
    size_t index = 0, size = 1, begin = begin_;
    for (size_t axis = shape().size(); axis-- > 0;) {
      const size_t extent = shape()[axis];
      index += (flat % extent - begin % extent) * size;
      size *= values_.shape[axis];
      flat /= extent;
      begin /= extent;
    }
    return index;
  }

  const Tensor<double>& values_;
  size_t begin_ = 0;  // of the part, in the whole tensor
};

InputsOfPart::InputsOfPart(const Case& c, const TensorReaders& whole, const Slice& part,
                           int threads) {
  const std::vector<TensorSpec>& specs = c.signature().inputs;
  for (size_t i = 0; i < whole.size(); ++i)
    values_.push_back(ReadPart(whole[i], specs[i], part, threads));
  if (part.ranges.empty()) return;
  for (size_t i = 0; i < whole.size(); ++i) {
    windows_.push_back(std::make_unique<const Window>(whole[i], specs[i], part, values_[i].values));
    readers_.emplace_back(*windows_.back());
  }
}

InputsOfPart::~InputsOfPart() = default;

std::vector<GoldenTensor> ProvePart(const Evaluation& evaluation, const Slice& part,
                                    const ProveOptions& options) {
  std::vector<GoldenTensor> golden = MakeGolden(evaluation, part, options);
  Prover prover(evaluation, options.engine, part, golden);
  const CaseCut cut(evaluation.c, SliceElements(evaluation.c), part);
  std::mutex mutex;
  size_t done = 0;
  InParallel(cut.size(), options.threads, [&](size_t i) {
    prover.ProveSlice(cut[i]);
    if (!options.progress) return;
    const std::lock_guard lock(mutex);
    options.progress(static_cast<double>(++done) / static_cast<double>(cut.size()));
  });
  return golden;
}

}  // namespace sextant
