#include "reference/prove/prove.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "reference/base/parallel.h"
#include "reference/prove/budget.h"
#include "reference/prove/case_slices.h"
#include "reference/prove/prover.h"

namespace sextant {
namespace {

// The numbers that the slices of about this many elements read.
size_t InputsOfSlice(const Case& c, size_t elements) {
  const Slice slice = CutCase(c, elements).front();
  size_t count = 0;
  for (const TensorSpec& spec : c.signature().inputs)
    count += CountOf(ShapeIn(c.ShapeOf(spec), spec, slice));
  return count;
}

// Runs `work` on every slice in the budget, and reports progress.
template <class Work>
void ForEachSlice(const Case& c, const ProveOptions& options, Work work) {
  ForEachSliceInBudget(c, SliceElements(c), options.threads, work, options.progress);
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
  InParallel(count, elements > SliceElements(c) ? options.threads : 1, make);
}

// The permitted errors of a slice, all NaN.
std::vector<PermittedTensor> MakePermitted(const Evaluation& evaluation, const Slice& slice,
                                           const ProveOptions& options) {
  const Case& c = evaluation.c;
  std::vector<PermittedTensor> permitted;
  for (const TensorSpec& spec : c.info().signature.outputs)
    permitted.push_back({spec.name, c.DTypeOf(spec), {}, {}, {}});
  MakeTensors(2 * permitted.size(), c, options, [&](size_t i) {
    PermittedTensor& p = permitted[i / 2];
    const TensorSpec& spec = c.info().signature.outputs[i / 2];
    (i % 2 == 0 ? p.error : p.likely) = LeftOut(ShapeIn(c.ShapeOf(spec), spec, slice));
  });
  for (size_t o = 0; o < permitted.size(); ++o) {
    const size_t count = permitted[o].error.data.size();
    permitted[o].vacuous.resize(count);
    if (evaluation.operation.ChoiceOf(o) != Choice::kNone)
      permitted[o].before_rounding.assign(count, kNaN);
  }
  return permitted;
}

}  // namespace

GoldenTensor EmptyGolden(const Evaluation& evaluation, size_t o) {
  const Case& c = evaluation.c;
  const TensorSpec& spec = c.info().signature.outputs[o];
  return {.name = spec.name,
          .dtype = c.DTypeOf(spec),
          .value = {},
          .high = {},
          .low = {},
          .permitted = {},
          .radius = {},
          .bitwise = c.info().bitwise,
          .choice = evaluation.operation.ChoiceOf(o),
          .keeps_nonfinite = c.info().keeps_nonfinite};
}

std::vector<GoldenTensor> MakeGolden(const Evaluation& evaluation, const Slice& part,
                                     const ProveOptions& options) {
  const Case& c = evaluation.c;
  const std::vector<TensorSpec>& outputs = c.info().signature.outputs;
  std::vector<GoldenTensor> golden;
  for (size_t o = 0; o < outputs.size(); ++o) golden.push_back(EmptyGolden(evaluation, o));
  constexpr Tensor<double> GoldenTensor::*kParts[] = {&GoldenTensor::value, &GoldenTensor::high,
                                                      &GoldenTensor::low, &GoldenTensor::permitted,
                                                      &GoldenTensor::radius};
  constexpr size_t kCount = std::size(kParts);
  MakeTensors(kCount * golden.size(), c, options, [&](size_t i) {
    const TensorSpec& spec = outputs[i / kCount];
    golden[i / kCount].*kParts[i % kCount] = LeftOut(ShapeIn(c.ShapeOf(spec), spec, part));
  });
  return golden;
}

// Level 1 is for 16- and 32-bit numbers: the others would climb. A case that cannot be cut is
// evaluated once, not again for each of its elements that climb. Choices are proven: a radius would
// have to be part of every one.
bool HasLevel1(const Case& c) {
  return !c.info().HasChoices() && c.dtype() != DType::kF64 && Halve(c, {}).has_value();
}

// The numbers of small slices stay in the cache of a core. The inputs that
// slices share (keys) are read once for each, so where these are most of what a slice reads, slices
// have a few MiB of big numbers.
size_t SliceElements(const Case& c) {
  constexpr size_t kSmall = size_t{1} << 13, kInputs = 3;  // per element: two operands, a weight
  constexpr size_t kLeast = size_t{1} << 15, kMost = size_t{1} << 17, kSlices = 64;
  size_t count = 0;
  for (const TensorSpec& spec : c.info().signature.outputs) count += CountOf(c.ShapeOf(spec));
  if (count > kLeast && InputsOfSlice(c, kSmall) <= kInputs * kSmall) return kSmall;
  return std::clamp(count / kSlices, kLeast, kMost);
}

std::vector<GoldenTensor> Prove(const Evaluation& evaluation, const ProveOptions& options) {
  std::vector<GoldenTensor> golden = MakeGolden(evaluation, {}, options);
  Prover prover(evaluation, options.engine, golden, nullptr);
  ForEachSlice(evaluation.c, options, [&](const Slice& slice) { prover.ProveSlice(slice); });
  return golden;
}

ProvenAndPermitted ProveAndPermit(const Evaluation& evaluation, const ProveOptions& options) {
  const Case& c = evaluation.c;
  ProvenAndPermitted reference{MakeGolden(evaluation, {}, options),
                               MakePermitted(evaluation, {}, options)};
  Prover prover(evaluation, options.engine, reference.golden, &reference.permitted);
  ForEachSlice(c, options, [&](const Slice& slice) { prover.ProveSlice(slice); });
  return reference;
}

ProvenAndPermitted Enclose(const Evaluation& evaluation, const ProveOptions& options) {
  const Case& c = evaluation.c;
  if (options.engine == Engine::kMpfr || !HasLevel1(c)) return ProveAndPermit(evaluation, options);
  ProvenAndPermitted reference{MakeGolden(evaluation, {}, options),
                               MakePermitted(evaluation, {}, options)};
  Prover prover(evaluation, options.engine, reference.golden, &reference.permitted);
  ForEachSlice(c, options, [&](const Slice& slice) { prover.EncloseSlice(slice); });
  return reference;
}

void ProveMarked(const Evaluation& evaluation, const ProveOptions& options,
                 const ElementMarks& marks, ProvenAndPermitted& reference) {
  Prover prover(evaluation, options.engine, reference.golden, &reference.permitted);
  ForEachSlice(evaluation.c, options,
               [&](const Slice& slice) { prover.ProveMarked(slice, marks); });
}

std::vector<PermittedTensor> PermittedErrors(const Evaluation& evaluation,
                                             const ProveOptions& options) {
  const Case& c = evaluation.c;
  std::vector<PermittedTensor> permitted = MakePermitted(evaluation, {}, options);
  ForEachSlice(c, options, [&](const Slice& slice) {
    SetSlice(c, CountSlice(evaluation, slice).outputs, slice, permitted);
  });
  return permitted;
}

std::vector<PermittedTensor> PermittedErrors(const Evaluation& evaluation, const Slice& slice) {
  std::vector<PermittedTensor> permitted = MakePermitted(evaluation, slice, {});
  const auto counted = CountSlice(evaluation, slice);
  for (size_t o = 0; o < permitted.size(); ++o) {
    const Output<Counted>& output = counted.outputs[o];
    for (size_t i = 0; i < output.values.data.size(); ++i)
      evaluation.c.info().bitwise ? Set(permitted[o], i, kNoError)
                                  : Set(permitted[o], i, output, i);
  }
  return permitted;
}

bool CanBeTraced(const Evaluation& evaluation) {
  const Case& c = evaluation.c;
  Slice slice;
  while (const auto halves = Halve(c, slice)) slice = halves->first;
  const ScopedRecipe following(evaluation.recipe, c.dtype());
  const Tensors own = OutputsIn(evaluation, slice);
  const ScopedTrace tracing(own);
  Evaluated<Rounded>({c, evaluation.inputs, evaluation.recipe, evaluation.operation}, slice);
  return tracing.used();
}

Tensors EvaluateByRecipe(const Evaluation& evaluation, const Slice& slice) {
  const Case& c = evaluation.c;
  const ScopedRecipe following(evaluation.recipe, c.dtype());
  const auto outputs = Evaluated<Rounded>(evaluation, slice);
  Tensors answer;
  for (size_t o = 0; o < outputs.size(); ++o) {
    Tensor<double> values(outputs[o].values.shape);
    std::ranges::transform(outputs[o].values.data, values.data.begin(), &Rounded::value);
    answer.push_back({c.info().signature.outputs[o].name, outputs[o].dtype, std::move(values)});
  }
  return answer;
}

Tensors EvaluateByRecipe(const Evaluation& evaluation) {
  // A trace has whole tensors.
  if (!HasBudget() || this_context.trace) return EvaluateByRecipe(evaluation, Slice());
  const Case& c = evaluation.c;
  Tensors answer;
  for (const TensorSpec& spec : c.info().signature.outputs)
    answer.push_back({spec.name, c.DTypeOf(spec), LeftOut(c.ShapeOf(spec))});
  for (const Slice& slice : SlicesInBudget(c, SliceElements(c))) {
    const Tensors part = EvaluateByRecipe(evaluation, slice);
    for (size_t o = 0; o < part.size(); ++o)
      InsertSlice(part[o].values, c.info().signature.outputs[o], slice, answer[o].values);
  }
  return answer;
}

}  // namespace sextant
