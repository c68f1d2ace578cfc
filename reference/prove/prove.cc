#include "reference/prove/prove.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "reference/base/parallel.h"
#include "reference/prove/budget.h"
#include "reference/prove/case_slices.h"
#include "reference/prove/proof.h"

namespace sextant {
namespace {

constexpr size_t kSliceElements = size_t{1} << 15;  // a few MiB of big numbers

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

Tensor<double> LeftOut(const Shape& shape) {
  return {shape, std::vector<double>(CountOf(shape), kNaN)};
}

// Calls make(0) .. make(count - 1), on all cores if they make large tensors: the first touch of
// memory takes as much time as the proof of a cheap element.
template <class Make>
void MakeTensors(size_t count, const Case& c, const ProveOptions& options, Make make) {
  size_t elements = 0;
  for (const TensorSpec& spec : c.info().signature.outputs) elements += CountOf(c.ShapeOf(spec));
  InParallel(count, elements > kSliceElements ? options.threads : 1, make);
}

// The golden of a case of which no slice is proven.
std::vector<GoldenTensor> MakeGolden(const Case& c, const ProveOptions& options) {
  std::vector<GoldenTensor> golden;
  for (const TensorSpec& spec : c.info().signature.outputs)
    golden.push_back({spec.name, c.DTypeOf(spec), {}, {}, {}, {}, {}});
  constexpr Tensor<double> GoldenTensor::*kParts[] = {&GoldenTensor::value, &GoldenTensor::high,
                                                      &GoldenTensor::low, &GoldenTensor::permitted,
                                                      &GoldenTensor::radius};
  constexpr size_t kCount = std::size(kParts);
  MakeTensors(kCount * golden.size(), c, options, [&](size_t i) {
    const TensorSpec& spec = c.info().signature.outputs[i / kCount];
    golden[i / kCount].*kParts[i % kCount] = LeftOut(c.ShapeOf(spec));
  });
  return golden;
}

// True if the tensors have no NaN and no infinity.
bool AreFinite(const Tensors& tensors) {
  return std::ranges::all_of(tensors, [](const NamedTensor& tensor) {
    return std::ranges::all_of(tensor.values.data, [](double x) { return std::isfinite(x); });
  });
}

// The errors of a slice. `encloses`: centre +- drift of every element encloses its exact value.
struct CountedSlice {
  Outputs<Counted> outputs;
  bool encloses;
};
CountedSlice CountSlice(const AppliedFormula& formula, const Recipe& recipe, const Slice& slice) {
  const ScopedRecipe following(recipe, formula.c.dtype());
  const Scoped<&EvaluationContext::uncertain> decisions(false);
  Outputs<Counted> outputs = Evaluated<Counted>(formula, slice);
  return {std::move(outputs), !this_context.uncertain};
}

// Whether all numbers that a slice reads are finite. An element that depends on a NaN or an
// infinity is unspecified, which only level 3 finds.
bool HasFiniteInputs(const AppliedFormula& formula, const Slice& slice) {
  return AreFinite(ExtractInputs(formula.c, formula.inputs, slice)) &&
         AreFinite(ExtractOutputs(formula.c, formula.subject_outputs, slice));
}

// The permitted errors of a slice, all NaN.
std::vector<PermittedTensor> MakePermitted(const Case& c, const Slice& slice,
                                           const ProveOptions& options) {
  std::vector<PermittedTensor> permitted;
  for (const TensorSpec& spec : c.info().signature.outputs)
    permitted.push_back({spec.name, c.DTypeOf(spec), {}, {}, {}});
  MakeTensors(2 * permitted.size(), c, options, [&](size_t i) {
    PermittedTensor& p = permitted[i / 2];
    const TensorSpec& spec = c.info().signature.outputs[i / 2];
    (i % 2 == 0 ? p.error : p.likely) = LeftOut(ShapeIn(c.ShapeOf(spec), spec, slice));
  });
  for (PermittedTensor& p : permitted) p.vacuous.resize(p.error.data.size());
  return permitted;
}

void Set(PermittedTensor& permitted, size_t i, const Counted& x) {
  permitted.error.data[i] = x.Permitted();
  permitted.likely.data[i] = x.Likely();
  permitted.vacuous[i] = x.saturated();
}

// Writes the errors of a slice into the tensors of the whole case. Elements of `vacuous` share
// bytes: threads write them one after another.
void SetSlice(const Case& c, const Outputs<Counted>& counted, const Slice& slice,
              std::vector<PermittedTensor>& permitted, std::mutex& mutex) {
  for (size_t o = 0; o < permitted.size(); ++o) {
    PermittedTensor& p = permitted[o];
    const Counted* x = counted[o].values.data.data();
    for (const auto& [first, count] : RunsIn(p.error.shape, c.info().signature.outputs[o], slice)) {
      bool saturated = false;
      for (size_t i = 0; i < count; ++i) {
        p.error.data[first + i] = x[i].Permitted();
        p.likely.data[first + i] = x[i].Likely();
        saturated = saturated || x[i].saturated();
      }
      if (saturated) {
        const std::lock_guard lock(mutex);
        for (size_t i = 0; i < count; ++i) p.vacuous[first + i] = x[i].saturated();
      }
      x += count;
    }
  }
}

void SetPermitted(const ProofState& proof, const Outputs<Counted>& counted, const Slice& slice) {
  for (size_t o = 0; o < proof.golden.size(); ++o) {
    GoldenTensor& g = proof.golden[o];
    const Counted* x = counted[o].values.data.data();
    for (const auto& [first, count] : proof.RunsOf(o, slice)) {
      for (size_t at = first; at < first + count; ++at, ++x) {
        g.permitted.data[at] = std::isnan(g.high.data[at])     ? kNaN
                               : std::isinf(g.radius.data[at]) ? kInfinity
                                                               : x->Permitted();
      }
    }
  }
}

// Proves all slices in the budget. Fills `permitted`, if it is given, with the errors that the
// recipe permits.
std::vector<GoldenTensor> Proven(const AppliedFormula& formula, const Recipe& recipe,
                                 const ProveOptions& options,
                                 std::vector<PermittedTensor>* permitted) {
  std::vector<GoldenTensor> golden = MakeGolden(formula.c, options);
  const ProofState proof{formula, golden};
  const bool climbs = options.engine == Engine::kLadder;
  const bool finite = AreFinite(formula.inputs) &&
                      (!formula.subject_outputs || AreFinite(*formula.subject_outputs));
  std::mutex mutex;
  ForEachSlice(formula.c, options, [&](const Slice& slice) {
    const CountedSlice counted = CountSlice(formula, recipe, slice);
    size_t open = 1;
    if (climbs && counted.encloses && (finite || HasFiniteInputs(formula, slice)))
      open = SettleBy(counted.outputs, proof, slice);
    else
      Open(proof, slice);
    if (open > 0) ProveOpen(proof, slice);
    SetPermitted(proof, counted.outputs, slice);
    if (permitted) SetSlice(formula.c, counted.outputs, slice, *permitted, mutex);
  });
  return golden;
}

}  // namespace

std::vector<GoldenTensor> Prove(const Case& c, const Tensors& inputs, const Recipe& recipe,
                                const ProveOptions& options) {
  return Prove(c.operation(), c, inputs, recipe, options);
}

std::vector<GoldenTensor> Prove(const Operation& operation, const Case& c, const Tensors& inputs,
                                const Recipe& recipe, const ProveOptions& options) {
  return Proven({operation, c, inputs, options.subject_outputs}, recipe, options, nullptr);
}

ProvenAndPermitted ProveAndPermit(const Operation& operation, const Case& c, const Tensors& inputs,
                                  const Recipe& recipe, const ProveOptions& options) {
  ProvenAndPermitted reference{{}, MakePermitted(c, {}, options)};
  reference.golden = Proven({operation, c, inputs, options.subject_outputs}, recipe, options,
                            &reference.permitted);
  return reference;
}

std::vector<PermittedTensor> PermittedErrors(const Case& c, const Tensors& inputs,
                                             const Recipe& recipe, const ProveOptions& options) {
  return PermittedErrors(c.operation(), c, inputs, recipe, options);
}

std::vector<PermittedTensor> PermittedErrors(const Operation& operation, const Case& c,
                                             const Tensors& inputs, const Recipe& recipe,
                                             const ProveOptions& options) {
  std::vector<PermittedTensor> permitted = MakePermitted(c, {}, options);
  std::mutex mutex;
  ForEachSlice(c, options, [&](const Slice& slice) {
    const auto counted = CountSlice({operation, c, inputs, options.subject_outputs}, recipe, slice);
    SetSlice(c, counted.outputs, slice, permitted, mutex);
  });
  return permitted;
}

std::vector<PermittedTensor> PermittedErrors(const Operation& operation, const Case& c,
                                             const Tensors& inputs, const Recipe& recipe,
                                             const Slice& slice) {
  std::vector<PermittedTensor> permitted = MakePermitted(c, slice, {});
  const auto counted = CountSlice({operation, c, inputs, nullptr}, recipe, slice);
  for (size_t o = 0; o < permitted.size(); ++o) {
    const auto& numbers = counted.outputs[o].values.data;
    for (size_t i = 0; i < numbers.size(); ++i) Set(permitted[o], i, numbers[i]);
  }
  return permitted;
}

bool ContinuesFrom(const Operation& operation, const Case& c, const Tensors& inputs,
                   const Recipe& recipe, const Tensors& subject_outputs) {
  Slice slice;
  while (const auto halves = Halve(c, slice)) slice = halves->first;
  const ScopedRecipe following(recipe, c.dtype());
  const ScopedSlice in(&slice);
  const Tensors own = ExtractOutputs(c, &subject_outputs, slice);
  const ScopedTrace tracing(own);
  Outputs<Rounded> outputs = MakeOutputs<Rounded>(c, slice);
  operation.Evaluate(ExtractInputs(c, inputs, slice), outputs);
  return tracing.used();
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
