#include "reference/prove/prove.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "reference/base/parallel.h"
#include "reference/number/in_parallel_here.h"
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
    const ScopedThreads inside(slices.size() == 1 ? options.threads : 1);
    work(slices[i]);
    if (!options.progress) return;
    const std::lock_guard lock(mutex);
    options.progress(static_cast<double>(++done) / static_cast<double>(slices.size()));
  });
}

Tensor<double> LeftOut(const Shape& shape) {
  Tensor<double> numbers(shape);
  std::ranges::fill(numbers.data, kNaN);
  return numbers;
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

// Writes the errors of a slice into the tensors of the whole case.
void SetSlice(const Case& c, const Outputs<Counted>& counted, const Slice& slice,
              std::vector<PermittedTensor>& permitted) {
  for (size_t o = 0; o < permitted.size(); ++o) {
    const auto indices = IndicesIn(permitted[o].error.shape, c.info().signature.outputs[o], slice);
    for (size_t i = 0; i < indices.size(); ++i)
      Set(permitted[o], indices[i], counted[o].values.data[i]);
  }
}

void SetPermitted(const ProofState& proof, const Outputs<Counted>& counted, const Slice& slice) {
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

// True for a case without slices whose inputs are so many that level 3 would take hours: what
// level 2 leaves open is only enclosed.
bool IsOnlyEnclosed(const Case& c) {
  constexpr size_t kMostNumbers = size_t{1} << 22;  // minutes of level 3
  size_t numbers = 0;
  for (const TensorSpec& spec : c.info().signature.inputs) numbers += CountOf(c.ShapeOf(spec));
  return c.info().slices.empty() && numbers > kMostNumbers;
}

// Proves all slices in the budget. Fills `permitted`, if it is given, with the errors that the
// recipe permits.
std::vector<GoldenTensor> Proven(const AppliedFormula& formula, const Recipe& recipe,
                                 const ProveOptions& options,
                                 std::vector<PermittedTensor>* permitted) {
  std::vector<GoldenTensor> golden;
  for (const TensorSpec& spec : formula.c.info().signature.outputs) {
    const Tensor<double> none = LeftOut(formula.c.ShapeOf(spec));
    golden.push_back({spec.name, formula.c.DTypeOf(spec), none, none, none, none, none});
  }
  const ProofState proof{formula, golden};
  const bool climbs = options.engine == Engine::kLadder;
  const bool only_encloses = climbs && IsOnlyEnclosed(formula.c);
  const bool finite = AreFinite(formula.inputs) &&
                      (!formula.subject_outputs || AreFinite(*formula.subject_outputs));
  std::mutex mutex;  // elements of `vacuous` share bytes
  ForEachSlice(formula.c, options, [&](const Slice& slice) {
    const CountedSlice counted = CountSlice(formula, recipe, slice);
    Open(proof, slice);
    const bool settles = climbs && counted.encloses && (finite || HasFiniteInputs(formula, slice));
    if (settles) SettleBy(counted.outputs, proof, slice);
    if (settles && only_encloses) {
      EncloseBy(counted.outputs, proof, slice);
    } else {
      ProveOpen(proof, slice);
    }
    SetPermitted(proof, counted.outputs, slice);
    if (!permitted) return;
    const std::lock_guard lock(mutex);
    SetSlice(formula.c, counted.outputs, slice, *permitted);
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
  ProvenAndPermitted reference{{}, MakePermitted(c, {})};
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
  EvaluateOn(operation, c, inputs, slice, outputs);
  return tracing.used();
}

Tensors EvaluateByRecipe(const Operation& operation, const Case& c, const Tensors& inputs,
                         const Recipe& recipe, const Slice& slice) {
  const ScopedRecipe following(recipe, c.dtype());
  const ScopedSlice in(&slice);
  Outputs<Rounded> outputs = MakeOutputs<Rounded>(c, slice);
  EvaluateOn(operation, c, inputs, slice, outputs);
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
