#include "reference/prove.h"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "reference/slices.h"
#include "reference/trace.h"

namespace sextant {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr size_t kSliceElements = size_t{1} << 15;  // a few MiB of big numbers
// 184 bits decide nearly everything (below 192 MPFR has code for just three words); exact sums of
// products of doubles need up to 4200.
constexpr int kPrecisions[] = {184, 384, 768, 1536, 3072, 6144};

template <class Real>
Outputs<Real> MakeOutputs(const Case& c, const Slice& slice) {
  Outputs<Real> outputs;
  for (const TensorSpec& spec : c.info().signature.outputs) {
    outputs.push_back({c.DTypeOf(spec), Tensor<Real>(ShapeIn(c.ShapeOf(spec), spec, slice))});
  }
  return outputs;
}

Tensors TakeInputs(const Case& c, const Tensors& inputs, const Slice& slice) {
  Tensors part;
  for (size_t i = 0; i < inputs.size(); ++i) {
    part.push_back({inputs[i].name, inputs[i].dtype,
                    Take(inputs[i].values, c.info().signature.inputs[i], slice)});
  }
  return part;
}

// The part of a subject's own tensors that belongs to a slice.
Tensors TakeOwn(const Case& c, const Tensors* own, const Slice& slice) {
  Tensors part;
  if (!own) return part;
  for (const TensorSpec& spec : c.info().signature.outputs) {
    const auto at = std::ranges::find(*own, spec.name, &NamedTensor::name);
    if (at != own->end()) part.push_back({at->name, at->dtype, Take(at->values, spec, slice)});
  }
  return part;
}

// Runs `work` on every slice, on that many threads.
template <class Work>
void ForEachSlice(const Case& c, const ProveOptions& options, Work work) {
  const std::vector<Slice> slices = CutCase(c, kSliceElements);
  std::mutex mutex;
  size_t done = 0;
  // More threads than cores are nobody's loss; without this TBB would grumble on stderr.
  const int threads = options.threads > 0 ? options.threads : tbb::info::default_concurrency();
  const tbb::global_control allowed(tbb::global_control::max_allowed_parallelism,
                                    static_cast<size_t>(threads));
  tbb::task_arena arena(threads);
  arena.execute([&] {
    tbb::parallel_for(size_t{0}, slices.size(), [&](size_t i) {
      work(slices[i]);
      if (!options.progress) return;
      const std::lock_guard lock(mutex);
      options.progress(static_cast<double>(++done) / static_cast<double>(slices.size()));
    });
  });
}

// What is known of one output's slice: the rounded values where they are decided, elsewhere the
// best enclosure that any precision gave, and an infinite radius where none gave one.
struct Findings {
  explicit Findings(size_t count) : found(count), decided(count), radius(count, kInfinity) {}
  std::vector<Decision> found;
  std::vector<bool> decided;
  std::vector<double> radius;
};

// Returns how many elements are still open.
size_t Settle(const Output<Interval>& output, Findings& findings) {
  size_t open = 0;
  for (size_t i = 0; i < output.values.data.size(); ++i) {
    if (findings.decided[i]) continue;
    const Interval& x = output.values.data[i];
    const auto decision =
        x.IsSpecified() ? Decide(x, output.dtype) : std::optional(Decision{kNaN, kNaN, 0});
    if (decision) {
      findings.found[i] = *decision;
      findings.decided[i] = true;
      findings.radius[i] = 0;
    } else {
      ++open;
      const double middle = Middle(x);
      findings.found[i] = {RoundTo(output.dtype, middle), middle, 0};
      findings.radius[i] = RadiusAround(x, middle, 0);
    }
  }
  return open;
}

std::vector<Findings> ProveSlice(const Operation& operation, const Case& c, const Tensors& inputs,
                                 const Slice& slice) {
  std::vector<Findings> all;
  for (const TensorSpec& spec : c.info().signature.outputs) {
    all.emplace_back(CountOf(ShapeIn(c.ShapeOf(spec), spec, slice)));
  }
  for (const int bits : kPrecisions) {
    const WorkingPrecision precision(bits);
    const InSlice in(slice);
    try {
      Outputs<Interval> outputs = MakeOutputs<Interval>(c, slice);
      operation.Evaluate(inputs, outputs);
      size_t open = 0;
      for (size_t o = 0; o < outputs.size(); ++o) open += Settle(outputs[o], all[o]);
      if (open == 0) break;
    } catch (const Undecided&) {  // the next precision may answer
    }
  }
  return all;
}

bool IsUnbounded(const std::vector<Findings>& all) {
  return std::ranges::any_of(all, [](const Findings& findings) {
    return std::ranges::find(findings.radius, kInfinity) != findings.radius.end();
  });
}

// The recipe must be followed by this thread.
Outputs<Counted> CountSlice(const Operation& operation, const Case& c, const Tensors& inputs,
                            const Slice& slice) {
  Outputs<Counted> outputs = MakeOutputs<Counted>(c, slice);
  const InSlice in(slice);
  operation.Evaluate(inputs, outputs);
  return outputs;
}

// The formula answers for a slice or not at all: where no precision answers, it is cut until only
// those elements are left that cannot be answered.
void ProveInto(const Operation& operation, const Case& c, const Tensors& inputs,
               const Recipe& recipe, const Tensors* own, const Slice& slice,
               std::vector<GoldenTensor>& golden) {
  const Tensors part = TakeInputs(c, inputs, slice), own_part = TakeOwn(c, own, slice);
  const Tracing tracing(own_part);
  const std::vector<Findings> findings = ProveSlice(operation, c, part, slice);
  if (IsUnbounded(findings)) {
    if (const auto halves = Halve(c, slice)) {
      ProveInto(operation, c, inputs, recipe, own, halves->first, golden);
      ProveInto(operation, c, inputs, recipe, own, halves->second, golden);
      return;
    }
  }
  const Following following(recipe, c.dtype());
  const auto counted = CountSlice(operation, c, part, slice);
  for (size_t o = 0; o < golden.size(); ++o) {
    GoldenTensor& g = golden[o];
    const auto indices = IndicesIn(g.value.shape, c.info().signature.outputs[o], slice);
    for (size_t i = 0; i < indices.size(); ++i) {
      const Decision& found = findings[o].found[i];
      const double radius = findings[o].radius[i];
      const double permitted = counted[o].values.data[i].Permitted();
      g.value.data[indices[i]] = found.value;
      g.high.data[indices[i]] = found.high;
      g.low.data[indices[i]] = found.low;
      g.radius.data[indices[i]] = radius;
      g.permitted.data[indices[i]] = std::isnan(found.high) ? kNaN
                                     : std::isinf(radius)   ? kInfinity
                                                            : permitted;
    }
  }
}

}  // namespace

std::vector<GoldenTensor> Prove(const Case& c, const Tensors& inputs, const Recipe& recipe,
                                const ProveOptions& options) {
  return Prove(c.operation(), c, inputs, recipe, options);
}

std::vector<GoldenTensor> Prove(const Operation& operation, const Case& c, const Tensors& inputs,
                                const Recipe& recipe, const ProveOptions& options) {
  std::vector<GoldenTensor> golden;
  for (const TensorSpec& spec : c.info().signature.outputs) {
    const Tensor<double> empty(c.ShapeOf(spec));
    golden.push_back({spec.name, c.DTypeOf(spec), empty, empty, empty, empty, empty});
  }
  ForEachSlice(c, options, [&](const Slice& slice) {
    ProveInto(operation, c, inputs, recipe, options.own, slice, golden);
  });
  return golden;
}

std::vector<PermittedTensor> Permit(const Case& c, const Tensors& inputs, const Recipe& recipe,
                                    const ProveOptions& options) {
  return Permit(c.operation(), c, inputs, recipe, options);
}

std::vector<PermittedTensor> Permit(const Operation& operation, const Case& c,
                                    const Tensors& inputs, const Recipe& recipe,
                                    const ProveOptions& options) {
  std::vector<PermittedTensor> permitted;
  for (const TensorSpec& spec : c.info().signature.outputs) {
    const Shape shape = c.ShapeOf(spec);
    const Tensor<double> empty(shape);
    permitted.push_back(
        {spec.name, c.DTypeOf(spec), empty, empty, std::vector<bool>(CountOf(shape))});
  }
  std::mutex mutex;  // bits of `vacuous` share bytes
  ForEachSlice(c, options, [&](const Slice& slice) {
    const Following following(recipe, c.dtype());
    const Tensors own = TakeOwn(c, options.own, slice);
    const Tracing tracing(own);
    const auto counted = CountSlice(operation, c, TakeInputs(c, inputs, slice), slice);
    const std::lock_guard lock(mutex);
    for (size_t o = 0; o < permitted.size(); ++o) {
      const auto indices =
          IndicesIn(permitted[o].error.shape, c.info().signature.outputs[o], slice);
      for (size_t i = 0; i < indices.size(); ++i) {
        const Counted& x = counted[o].values.data[i];
        permitted[o].error.data[indices[i]] = x.Permitted();
        permitted[o].likely.data[indices[i]] = x.Likely();
        permitted[o].vacuous[indices[i]] = x.saturated();
      }
    }
  });
  return permitted;
}

Tensors AnswerBy(const Operation& operation, const Case& c, const Tensors& inputs,
                 const Recipe& recipe) {
  const Following following(recipe, c.dtype());
  Outputs<Rounded> outputs = MakeOutputs<Rounded>(c, {});
  operation.Evaluate(inputs, outputs);
  Tensors answer;
  for (size_t o = 0; o < outputs.size(); ++o) {
    Tensor<double> values(outputs[o].values.shape);
    std::ranges::transform(outputs[o].values.data, values.data.begin(), &Rounded::value);
    answer.push_back({c.info().signature.outputs[o].name, outputs[o].dtype, std::move(values)});
  }
  return answer;
}

Tensors AnswerBy(const Case& c, const Tensors& inputs, const Recipe& recipe) {
  return AnswerBy(c.operation(), c, inputs, recipe);
}

Confirmation Confirm(const Case& c, const Tensors& inputs,
                     const std::vector<GoldenTensor>& golden) {
  Confirmation confirmation;
  Outputs<Wide> outputs = MakeOutputs<Wide>(c, {});
  c.operation().Evaluate(inputs, outputs);
  for (size_t o = 0; o < golden.size(); ++o) {
    const GoldenTensor& g = golden[o];
    const size_t width = g.high.shape.empty() ? 1 : std::max<size_t>(1, g.high.shape.back());
    for (size_t i = 0; i < g.high.data.size(); ++i) {
      if (!std::isfinite(g.high.data[i]) || g.radius.data[i] != 0) continue;
      ++confirmation.elements;
      const auto row = g.high.data.begin() + static_cast<ptrdiff_t>(i / width * width);
      double scale = 0;
      for (size_t j = 0; j < width; ++j)
        scale = std::max(scale, std::abs(row[static_cast<ptrdiff_t>(j)]));
      const double distance = outputs[o].values.data[i].Distance(g.high.data[i], g.low.data[i]);
      // A double ends at 2^-1074: what is less cannot be told.
      const double units = distance <= 0x1p-1074 ? 0 : distance / scale * 0x1p100;
      if (!(units > confirmation.worst)) continue;
      confirmation.worst = units;
      confirmation.where = IndexText(g.name, g.high.shape, i);
    }
  }
  return confirmation;
}

std::string IndexText(const std::string& name, const Shape& shape, size_t flat) {
  std::vector<size_t> index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; flat /= shape[axis])
    index[axis] = flat % shape[axis];
  return name + ToString(index);
}

}  // namespace sextant
