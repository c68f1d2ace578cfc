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

namespace sextant {
namespace {

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

// The decisions of one output's slice; `open` counts those still missing.
struct Decisions {
  std::vector<Decision> found;
  std::vector<bool> decided;
  std::vector<double> radius;
};

void Settle(const Output<Interval>& output, bool last, Decisions& decisions, size_t& open) {
  for (size_t i = 0; i < output.values.data.size(); ++i) {
    if (decisions.decided[i]) continue;
    const Interval& x = output.values.data[i];
    if (!x.IsSpecified()) {
      decisions.found[i] = {kNaN, kNaN, 0};
      decisions.decided[i] = true;
    } else if (const auto decision = Decide(x, output.dtype)) {
      decisions.found[i] = *decision;
      decisions.decided[i] = true;
    } else {
      ++open;
      if (!last) continue;
      const double middle = Middle(x);
      decisions.found[i] = {RoundTo(output.dtype, middle), middle, 0};
      decisions.radius[i] = RadiusAround(x, middle, 0);
    }
  }
}

// Marks what no precision could even compute.
void GiveUp(Decisions& decisions) {
  for (size_t i = 0; i < decisions.found.size(); ++i) {
    if (decisions.decided[i]) continue;
    decisions.found[i] = {kNaN, kNaN, 0};
    decisions.radius[i] = std::numeric_limits<double>::infinity();
  }
}

std::vector<Decisions> ProveSlice(const Case& c, const Tensors& inputs, const Slice& slice) {
  std::vector<Decisions> all;
  for (const TensorSpec& spec : c.info().signature.outputs) {
    const size_t count = CountOf(ShapeIn(c.ShapeOf(spec), spec, slice));
    all.push_back(
        {std::vector<Decision>(count), std::vector<bool>(count), std::vector<double>(count)});
  }
  for (const int bits : kPrecisions) {
    const WorkingPrecision precision(bits);
    const bool last = bits == *std::rbegin(kPrecisions);
    size_t open = 0;
    try {
      Outputs<Interval> outputs = MakeOutputs<Interval>(c, slice);
      c.operation().Evaluate(inputs, outputs);
      for (size_t o = 0; o < outputs.size(); ++o) Settle(outputs[o], last, all[o], open);
    } catch (const Undecided&) {
      open = 1;
      if (last) std::ranges::for_each(all, GiveUp);
    }
    if (open == 0) break;
  }
  return all;
}

// The recipe must be followed by this thread.
Outputs<Counted> CountSlice(const Operation& operation, const Case& c, const Tensors& inputs,
                            const Slice& slice) {
  Outputs<Counted> outputs = MakeOutputs<Counted>(c, slice);
  operation.Evaluate(inputs, outputs);
  return outputs;
}

}  // namespace

std::vector<GoldenTensor> Prove(const Case& c, const Tensors& inputs, const Recipe& recipe,
                                const ProveOptions& options) {
  std::vector<GoldenTensor> golden;
  for (const TensorSpec& spec : c.info().signature.outputs) {
    const Tensor<double> empty(c.ShapeOf(spec));
    golden.push_back({spec.name, c.DTypeOf(spec), empty, empty, empty, empty, empty});
  }
  ForEachSlice(c, options, [&](const Slice& slice) {
    const Tensors part = TakeInputs(c, inputs, slice);
    const std::vector<Decisions> decisions = ProveSlice(c, part, slice);
    const Following following(recipe, c.dtype());
    const auto counted = CountSlice(c.operation(), c, part, slice);
    for (size_t o = 0; o < golden.size(); ++o) {
      GoldenTensor& g = golden[o];
      const auto indices = IndicesIn(g.value.shape, c.info().signature.outputs[o], slice);
      for (size_t i = 0; i < indices.size(); ++i) {
        const Decision& found = decisions[o].found[i];
        g.value.data[indices[i]] = found.value;
        g.high.data[indices[i]] = found.high;
        g.low.data[indices[i]] = found.low;
        g.radius.data[indices[i]] = decisions[o].radius[i];
        g.permitted.data[indices[i]] =
            std::isnan(found.high) ? kNaN : counted[o].values.data[i].Permitted();
      }
    }
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
    permitted.push_back(
        {spec.name, c.DTypeOf(spec), Tensor<double>(shape), std::vector<bool>(CountOf(shape))});
  }
  std::mutex mutex;  // bits of `vacuous` share bytes
  ForEachSlice(c, options, [&](const Slice& slice) {
    const Following following(recipe, c.dtype());
    const auto counted = CountSlice(operation, c, TakeInputs(c, inputs, slice), slice);
    const std::lock_guard lock(mutex);
    for (size_t o = 0; o < permitted.size(); ++o) {
      const auto indices =
          IndicesIn(permitted[o].error.shape, c.info().signature.outputs[o], slice);
      for (size_t i = 0; i < indices.size(); ++i) {
        const Counted& x = counted[o].values.data[i];
        permitted[o].error.data[indices[i]] = x.Permitted();
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
      const double units = distance == 0 ? 0 : distance / scale * 0x1p100;
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
