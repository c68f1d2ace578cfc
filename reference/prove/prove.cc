#include "reference/prove/prove.h"

#include <algorithm>
#include <mutex>

#include "reference/base/parallel.h"
#include "reference/prove/budget.h"
#include "reference/prove/case_slices.h"
#include "reference/prove/prover.h"

namespace sextant {
namespace {

// The elements of a slice: a few MiB of big numbers. The inputs that slices share (keys) are read
// once for each, so large cases have larger slices.
size_t SliceElements(const Case& c) {
  constexpr size_t kLeast = size_t{1} << 15, kMost = size_t{1} << 17, kSlices = 64;
  size_t count = 0;
  for (const TensorSpec& spec : c.info().signature.outputs) count += CountOf(c.ShapeOf(spec));
  return std::clamp(count / kSlices, kLeast, kMost);
}

// Runs `work` on every slice in the budget, and reports progress.
template <class Work>
void ForEachSlice(const Case& c, const ProveOptions& options, Work work) {
  const std::vector<Slice> slices = SlicesInBudget(c, SliceElements(c));
  std::mutex mutex;
  size_t done = 0;
  InParallel(slices.size(), options.threads, [&](size_t i) {
    work(slices[i]);
    if (!options.progress) return;
    const std::lock_guard lock(mutex);
    options.progress(static_cast<double>(++done) / static_cast<double>(slices.size()));
  });
}

// The values of all outputs, left out.
std::vector<GoldenTensor> MakeGolden(const Case& c) {
  std::vector<GoldenTensor> golden;
  for (const TensorSpec& spec : c.info().signature.outputs) {
    const Tensor<double> none = LeftOut(c.ShapeOf(spec));
    golden.push_back({spec.name, c.DTypeOf(spec), none, none, none, none, none});
  }
  return golden;
}

// Level 1 is for 16- and 32-bit numbers: the others would climb. A case that cannot be cut is
// evaluated once, not again for each of its elements that climb.
bool HasLevel1(const Case& c) { return c.dtype() != DType::kF64 && Halve(c, {}).has_value(); }

}  // namespace

std::vector<GoldenTensor> Prove(const Case& c, const Tensors& inputs, const Recipe& recipe,
                                const ProveOptions& options) {
  return Prove(c.operation(), c, inputs, recipe, options);
}

std::vector<GoldenTensor> Prove(const Operation& operation, const Case& c, const Tensors& inputs,
                                const Recipe& recipe, const ProveOptions& options) {
  const AppliedFormula formula{operation, c, inputs, options.subject_outputs};
  std::vector<GoldenTensor> golden = MakeGolden(c);
  Prover prover(formula, recipe, options.engine, golden, nullptr);
  ForEachSlice(c, options, [&](const Slice& slice) { prover.ProveSlice(slice); });
  return golden;
}

ProvenAndPermitted ProveAndPermit(const Operation& operation, const Case& c, const Tensors& inputs,
                                  const Recipe& recipe, const ProveOptions& options) {
  const AppliedFormula formula{operation, c, inputs, options.subject_outputs};
  ProvenAndPermitted reference{MakeGolden(c), MakePermitted(c, {})};
  Prover prover(formula, recipe, options.engine, reference.golden, &reference.permitted);
  ForEachSlice(c, options, [&](const Slice& slice) { prover.ProveSlice(slice); });
  return reference;
}

ProvenAndPermitted Enclose(const Operation& operation, const Case& c, const Tensors& inputs,
                           const Recipe& recipe, const ProveOptions& options) {
  if (options.engine == Engine::kMpfr || !HasLevel1(c))
    return ProveAndPermit(operation, c, inputs, recipe, options);
  const AppliedFormula formula{operation, c, inputs, options.subject_outputs};
  ProvenAndPermitted reference{MakeGolden(c), MakePermitted(c, {})};
  Prover prover(formula, recipe, options.engine, reference.golden, &reference.permitted);
  ForEachSlice(c, options, [&](const Slice& slice) { prover.EncloseSlice(slice); });
  return reference;
}

void ProveMarked(const Operation& operation, const Case& c, const Tensors& inputs,
                 const Recipe& recipe, const ProveOptions& options, const ElementMarks& marks,
                 ProvenAndPermitted& reference) {
  const AppliedFormula formula{operation, c, inputs, options.subject_outputs};
  Prover prover(formula, recipe, options.engine, reference.golden, &reference.permitted);
  ForEachSlice(c, options, [&](const Slice& slice) { prover.ProveMarked(slice, marks); });
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
    SetSlice(c, counted.outputs, slice, permitted);
  });
  return permitted;
}

std::vector<PermittedTensor> PermittedErrors(const Operation& operation, const Case& c,
                                             const Tensors& inputs, const Recipe& recipe,
                                             const Slice& slice) {
  std::vector<PermittedTensor> permitted = MakePermitted(c, slice);
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
  for (const Slice& slice : SlicesInBudget(c, SliceElements(c))) {
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
