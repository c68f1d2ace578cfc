#include "reference/prove/prove.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "reference/case/intermediate.h"
#include "reference/prove/budget.h"
#include "reference/prove/case_slices.h"
#include "reference/prove/parallel.h"

namespace sextant {
namespace {

constexpr size_t kSliceElements = size_t{1} << 15;  // a few MiB of big numbers
// 184 bits decide nearly all roundings (below 192 bits MPFR has special code for three words).
// Exact sums of products of doubles need up to 4200 bits.
constexpr int kPrecisions[] = {184, 384, 768, 1536, 3072, 6144};

// The part of a subject's outputs that lies in a slice.
Tensors ExtractOutputs(const Case& c, const Tensors* subject_outputs, const Slice& slice) {
  Tensors part;
  if (!subject_outputs) return part;
  for (const TensorSpec& spec : c.info().signature.outputs) {
    const auto at = std::ranges::find(*subject_outputs, spec.name, &NamedTensor::name);
    if (at != subject_outputs->end())
      part.push_back({at->name, at->dtype, ExtractSlice(at->values, spec, slice)});
  }
  return part;
}

// Runs `work` on every slice in the budget, and reports progress.
template <class Work>
void ForEachSlice(const Case& c, const ProveOptions& options, Work work) {
  const std::vector<Slice> slices = SlicesInBudget(c, kSliceElements);
  std::mutex mutex;
  size_t done = 0;
  InParallel(slices.size(), options.threads, [&](size_t i) {
    work(slices[i]);
    if (!options.progress) return;
    const std::lock_guard lock(mutex);
    options.progress(static_cast<double>(++done) / static_cast<double>(slices.size()));
  });
}

// The arguments of an evaluation; `own` as in ProveOptions.
struct Question {
  const Operation& operation;
  const Case& c;
  const Tensors& inputs;
  const Tensors* subject_outputs;
};

template <class Real>
Outputs<Real> Evaluated(const Question& question, const Slice& slice) {
  const ScopedSlice in(&slice);
  const Tensors own = ExtractOutputs(question.c, question.subject_outputs, slice);
  const ScopedTrace tracing(own);
  Outputs<Real> outputs = MakeOutputs<Real>(question.c, slice);
  question.operation.Evaluate(ExtractInputs(question.c, question.inputs, slice), outputs);
  return outputs;
}

// The state of a proof. An element is open until its radius is 0. The golden of an open element has
// the enclosure of the highest precision that gave one, or an infinite radius if none did.
struct Proof : Question {
  std::vector<GoldenTensor>& golden;

  std::vector<size_t> IndicesOf(size_t output, const Slice& slice) const {
    return IndicesIn(golden[output].value.shape, c.info().signature.outputs[output], slice);
  }
};

// An element is left out until the slice that contains it is opened.
void Open(const Proof& proof, const Slice& slice) {
  for (size_t o = 0; o < proof.golden.size(); ++o) {
    GoldenTensor& g = proof.golden[o];
    for (const size_t i : proof.IndicesOf(o, slice)) {
      g.value.data[i] = g.high.data[i] = g.low.data[i] = 0;
      g.radius.data[i] = kInfinity;
    }
  }
}

// Updates element i by the enclosure x.
void Settle(const Interval& x, GoldenTensor& g, size_t i) {
  if (g.radius.data[i] == 0) return;
  const auto set = [&](const Decision& found, double radius) {
    g.value.data[i] = found.value;
    g.high.data[i] = found.high;
    g.low.data[i] = found.low;
    g.radius.data[i] = radius;
  };
  if (!x.IsSpecified()) return set({kNaN, kNaN, 0}, 0);
  if (const auto decision = Decide(x, g.dtype)) return set(*decision, 0);
  const double middle = Middle(x);
  set({RoundTo(g.dtype, middle), middle, 0}, RadiusAround(x, middle, 0));
}

// Evaluates the slice at that precision. Throws Undecided if the precision does not suffice.
void Enclose(const Proof& proof, const Slice& slice, int bits) {
  const ScopedPrecision precision(bits);
  const auto outputs = Evaluated<Interval>(proof, slice);
  for (size_t o = 0; o < outputs.size(); ++o) {
    const auto indices = proof.IndicesOf(o, slice);
    for (size_t i = 0; i < indices.size(); ++i)
      Settle(outputs[o].values.data[i], proof.golden[o], indices[i]);
  }
}

// The number of elements of a slice: all, the open ones, and those without an enclosure.
struct Openness {
  size_t all = 0, open = 0, unknown = 0;
};
Openness OpennessOf(const Proof& proof, const Slice& slice) {
  Openness count;
  for (size_t o = 0; o < proof.golden.size(); ++o) {
    for (const size_t i : proof.IndicesOf(o, slice)) {
      const double radius = proof.golden[o].radius.data[i];
      ++count.all;
      count.open += radius != 0;
      count.unknown += radius == kInfinity;
    }
  }
  return count;
}

// Parts of a slice that contain all open elements. At least half of the elements of a part are
// open, unless the part cannot be cut.
std::vector<Slice> OpenParts(const Proof& proof, const Slice& slice) {
  constexpr size_t kPerOpen = 2;  // a further part costs as much as proving 2 elements again
  const Openness count = OpennessOf(proof, slice);
  if (count.open == 0) return {};
  const auto halves = count.all > kPerOpen * count.open ? Halve(proof.c, slice) : std::nullopt;
  if (!halves) return {slice};
  std::vector<Slice> parts = OpenParts(proof, halves->first);
  std::ranges::copy(OpenParts(proof, halves->second), std::back_inserter(parts));
  return parts;
}

// Proves a slice, beginning with precision number `level`. The parts that stay open are proven
// again at the next precision. The formula either encloses all elements of a slice or throws. If it
// throws at every precision, the slice is cut until only elements without an enclosure are left
// out.
void ProveSlice(const Proof& proof, const Slice& slice, size_t level = 0) {
  if (level == std::size(kPrecisions)) {
    if (OpennessOf(proof, slice).unknown == 0) return;
    if (const auto halves = Halve(proof.c, slice)) {
      ProveSlice(proof, halves->first);
      ProveSlice(proof, halves->second);
    }
    return;
  }
  std::vector<Slice> open = {slice};
  try {
    Enclose(proof, slice, kPrecisions[level]);
    open = OpenParts(proof, slice);
  } catch (const Undecided&) {  // the next precision may suffice
  }
  for (const Slice& part : open) ProveSlice(proof, part, level + 1);
}

Tensor<double> LeftOut(const Shape& shape) {
  Tensor<double> numbers(shape);
  std::ranges::fill(numbers.data, kNaN);
  return numbers;
}

Outputs<Counted> CountSlice(const Question& question, const Recipe& recipe, const Slice& slice) {
  const ScopedRecipe following(recipe, question.c.dtype());
  return Evaluated<Counted>(question, slice);
}

void CountInto(const Proof& proof, const Recipe& recipe, const Slice& slice) {
  const auto counted = CountSlice(proof, recipe, slice);
  for (size_t o = 0; o < proof.golden.size(); ++o) {
    GoldenTensor& g = proof.golden[o];
    const auto indices = proof.IndicesOf(o, slice);
    for (size_t i = 0; i < indices.size(); ++i) {
      const size_t at = indices[i];
      g.permitted.data[at] = std::isnan(g.high.data[at]) ? kNaN
                             : std::isinf(g.radius.data[at])
                                 ? kInfinity
                                 : counted[o].values.data[i].Permitted();
    }
  }
}

// The permitted errors of a slice, all NaN.
std::vector<PermittedTensor> MakePermitted(const Case& c, const Slice& slice) {
  std::vector<PermittedTensor> permitted;
  for (const TensorSpec& spec : c.info().signature.outputs) {
    const Tensor<double> none = LeftOut(ShapeIn(c.ShapeOf(spec), spec, slice));
    permitted.push_back(
        {spec.name, c.DTypeOf(spec), none, none, std::vector<bool>(none.data.size())});
  }
  return permitted;
}

void Set(PermittedTensor& permitted, size_t i, const Counted& x) {
  permitted.error.data[i] = x.Permitted();
  permitted.likely.data[i] = x.Likely();
  permitted.vacuous[i] = x.saturated();
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
    const Tensor<double> none = LeftOut(c.ShapeOf(spec));
    golden.push_back({spec.name, c.DTypeOf(spec), none, none, none, none, none});
  }
  const Proof proof{{operation, c, inputs, options.subject_outputs}, golden};
  ForEachSlice(c, options, [&](const Slice& slice) {
    Open(proof, slice);
    ProveSlice(proof, slice);
    CountInto(proof, recipe, slice);
  });
  return golden;
}

std::vector<PermittedTensor> PermittedErrors(const Case& c, const Tensors& inputs,
                                             const Recipe& recipe, const ProveOptions& options) {
  return PermittedErrors(c.operation(), c, inputs, recipe, options);
}

std::vector<PermittedTensor> PermittedErrors(const Operation& operation, const Case& c,
                                             const Tensors& inputs, const Recipe& recipe,
                                             const ProveOptions& options) {
  std::vector<PermittedTensor> permitted = MakePermitted(c, {});
  std::mutex mutex;  // elements of `vacuous` share bytes
  ForEachSlice(c, options, [&](const Slice& slice) {
    const auto counted = CountSlice({operation, c, inputs, options.subject_outputs}, recipe, slice);
    const std::lock_guard lock(mutex);
    for (size_t o = 0; o < permitted.size(); ++o) {
      const auto indices =
          IndicesIn(permitted[o].error.shape, c.info().signature.outputs[o], slice);
      for (size_t i = 0; i < indices.size(); ++i)
        Set(permitted[o], indices[i], counted[o].values.data[i]);
    }
  });
  return permitted;
}

std::vector<PermittedTensor> PermittedErrors(const Operation& operation, const Case& c,
                                             const Tensors& inputs, const Recipe& recipe,
                                             const Slice& slice) {
  std::vector<PermittedTensor> permitted = MakePermitted(c, slice);
  const auto counted = CountSlice({operation, c, inputs, nullptr}, recipe, slice);
  for (size_t o = 0; o < permitted.size(); ++o) {
    for (size_t i = 0; i < counted[o].values.data.size(); ++i)
      Set(permitted[o], i, counted[o].values.data[i]);
  }
  return permitted;
}

Tensors EvaluateByRecipe(const Operation& operation, const Case& c, const Tensors& inputs,
                         const Recipe& recipe, const Slice& slice) {
  const ScopedRecipe following(recipe, c.dtype());
  const ScopedSlice in(&slice);
  Outputs<Rounded> outputs = MakeOutputs<Rounded>(c, slice);
  const bool whole = slice.ranges.empty();
  operation.Evaluate(whole ? inputs : ExtractInputs(c, inputs, slice), outputs);
  Tensors answer;
  for (size_t o = 0; o < outputs.size(); ++o) {
    Tensor<double> values(outputs[o].values.shape);
    std::ranges::transform(outputs[o].values.data, values.data.begin(), &Rounded::value);
    answer.push_back({c.info().signature.outputs[o].name, outputs[o].dtype, std::move(values)});
  }
  return answer;
}

Tensors EvaluateByRecipe(const Operation& operation, const Case& c, const Tensors& inputs,
                         const Recipe& recipe) {
  // A trace has whole tensors.
  if (!HasBudget() || this_context.trace)
    return EvaluateByRecipe(operation, c, inputs, recipe, Slice());
  Tensors answer;
  for (const TensorSpec& spec : c.info().signature.outputs)
    answer.push_back({spec.name, c.DTypeOf(spec), LeftOut(c.ShapeOf(spec))});
  for (const Slice& slice : SlicesInBudget(c, kSliceElements)) {
    const Tensors part = EvaluateByRecipe(operation, c, inputs, recipe, slice);
    for (size_t o = 0; o < part.size(); ++o)
      InsertSlice(part[o].values, c.info().signature.outputs[o], slice, answer[o].values);
  }
  return answer;
}

Tensors EvaluateByRecipe(const Case& c, const Tensors& inputs, const Recipe& recipe) {
  return EvaluateByRecipe(c.operation(), c, inputs, recipe);
}

}  // namespace sextant
