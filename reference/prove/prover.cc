#include "reference/prove/prover.h"

#include <algorithm>
#include <cmath>

#include "reference/case/array_operation.h"
#include "reference/number/tensor/element_vectors.h"
#include "reference/number/value_of.h"

namespace sextant {
namespace {

// True if the tensors have no NaN and no infinity.
bool AreFinite(const Tensors& tensors) {
  return std::ranges::all_of(
      tensors, [](const NamedTensor& tensor) { return sextant::AreFinite(tensor.values.data); });
}

// Whether all numbers that a slice reads are finite. An element that depends on a NaN or an
// infinity is unspecified, which only level 3 finds.
bool HasFiniteInputs(const Evaluation& evaluation, const Slice& slice) {
  return AreFinite(InputsIn(evaluation, slice)) && AreFinite(OutputsIn(evaluation, slice));
}

// The same for the whole case; false if its inputs are read.
bool HasFiniteInputs(const Evaluation& evaluation) {
  return evaluation.inputs.whole && AreFinite(*evaluation.inputs.whole) &&
         (!evaluation.subject_outputs || AreFinite(*evaluation.subject_outputs));
}

// True for a case without slices whose inputs are so many that level 3 would take hours: what
// level 2 leaves undecided is only enclosed.
bool IsTooLarge(const Case& c) {
  constexpr size_t kMostNumbers = size_t{1} << 22;  // minutes of level 3
  size_t numbers = 0;
  for (const TensorSpec& spec : c.signature().inputs) numbers += CountOf(c.ShapeOf(spec));
  return c.info().slices.empty() && numbers > kMostNumbers;
}

}  // namespace

CountedSlice CountSlice(const Evaluation& evaluation, const Slice& slice) {
  const ScopedRecipe following(evaluation.recipe, evaluation.c.dtype());
  const Scoped<&EvaluationContext::uncertain> decisions(false);
  Outputs<Counted> outputs = Evaluated<Counted>(evaluation, slice);
  return {std::move(outputs), !this_context.uncertain};
}

void Set(PermittedTensor& permitted, size_t i, const Counted& x) {
  permitted.error.data[i] = x.Permitted();
  permitted.likely.data[i] = x.Likely();
  permitted.vacuous[i] = x.saturated();
}

void Set(PermittedTensor& permitted, size_t i, const Output<Counted>& output, size_t k) {
  Set(permitted, i, output.values.data[k]);
  if (!output.before_rounding.empty()) permitted.before_rounding[i] = output.before_rounding[k];
}

void SetSlice(const Case& c, const Outputs<Counted>& counted, const Slice& slice,
              std::vector<PermittedTensor>& permitted) {
  for (size_t o = 0; o < permitted.size(); ++o) {
    size_t k = 0;
    const TensorSpec& spec = c.info().signature.outputs[o];
    for (const auto& [first, count] : RunsIn(permitted[o].error.shape, spec, slice)) {
      for (size_t i = first; i < first + count; ++i, ++k)
        c.info().bitwise ? Set(permitted[o], i, kNoError) : Set(permitted[o], i, counted[o], k);
    }
  }
}

Prover::Prover(const Evaluation& evaluation, Engine engine, std::vector<GoldenTensor>& golden,
               std::vector<PermittedTensor>* permitted)
    : climbs_(engine == Engine::kLadder),
      finite_(HasFiniteInputs(evaluation)),
      only_encloses_(climbs_ && IsTooLarge(evaluation.c)),
      proof_{evaluation, golden},
      permitted_(permitted) {}

Prover::Prover(const Evaluation& evaluation, Engine engine, const Slice& window,
               std::vector<GoldenTensor>& golden)
    : climbs_(engine == Engine::kLadder),
      finite_(HasFiniteInputs(evaluation)),
      only_encloses_(climbs_ && IsTooLarge(evaluation.c)),
      proof_{evaluation, golden, window},
      permitted_(nullptr) {}

Prover::Prover(const Evaluation& evaluation, const Slice& window, ProvenAndPermitted& part,
               CountedOutput& memory)
    : climbs_(true),
      finite_(false),
      only_encloses_(IsTooLarge(evaluation.c)),
      proof_{evaluation, part.golden, window},
      permitted_(&part.permitted),
      memory_(&memory) {}

bool Prover::Encloses(const CountedSlice& counted, const Slice& slice) const {
  return climbs_ && counted.encloses && (finite_ || HasFiniteInputs(proof_, slice));
}

std::optional<size_t> Prover::SettleInArrays(const Slice& slice, bool encloses) {
  const Case& c = proof_.c;
  const TensorSpec& spec = c.info().signature.outputs[0];
  const auto* const in_arrays = dynamic_cast<const EvaluatesInArrays*>(&proof_.operation);
  if (!in_arrays || !climbs_ || only_encloses_ || proof_.subject_outputs) return {};
  const ScopedRecipe following(proof_.recipe, c.dtype());
  const ScopedSlice in(&slice);
  const Tensors inputs = InputsIn(proof_, slice);
  if (!finite_ && !AreFinite(inputs)) return {};
  const size_t count = CountOf(ShapeIn(c.ShapeOf(spec), spec, slice));
  CountedOutput own{CountedArrays(0)};
  CountedOutput& y = memory_ && encloses ? *memory_ : own;  // the memory is for whole slices
  if (y.numbers.size() != count) y.numbers = CountedArrays(count);
  if (!in_arrays->EvaluateInArrays(inputs, c.DTypeOf(spec), y)) return {};
  return SettleBy(y, encloses, proof_, slice, permitted_ ? &(*permitted_)[0] : nullptr);
}

template <class Real>
void Prover::SetStored(const Slice& slice) {
  const ScopedRecipe following(proof_.recipe, proof_.c.dtype());
  const auto outputs = Evaluated<Real>(proof_, slice);
  for (size_t o = 0; o < outputs.size(); ++o) {
    GoldenTensor& g = proof_.golden[o];
    const Real* x = outputs[o].values.data.data();
    for (const auto& [first, count] : proof_.RunsOf(o, slice)) {
      for (size_t at = first; at < first + count; ++at) {
        g.value.data[at] = g.high.data[at] = ValueOf(*x++);
        g.low.data[at] = g.permitted.data[at] = g.radius.data[at] = 0;
        if (permitted_) Set((*permitted_)[o], at, kNoError);
      }
    }
  }
}

void Prover::ProveSlice(const Slice& slice) {
  if (proof_.c.info().bitwise)
    return climbs_ ? SetStored<Counted>(slice) : SetStored<Interval>(slice);
  if (const auto undecided = SettleInArrays(slice, false)) {
    if (*undecided == 0) return;
    ProveUndecided(proof_, slice);
    GoldenTensor& g = proof_.golden[0];
    for (const size_t i : proof_.IndicesOf(0, slice)) {
      if (std::isnan(g.high.data[i])) g.permitted.data[i] = kNaN;
      if (std::isinf(g.radius.data[i])) g.permitted.data[i] = kInfinity;
    }
    return;
  }
  const CountedSlice counted = CountSlice(proof_, slice);
  if (Encloses(counted, slice)) {
    const size_t undecided = SettleBy(counted.outputs, proof_, slice);
    if (undecided > 0 && only_encloses_) EncloseUndecidedBy(counted.outputs, proof_, slice);
    if (undecided > 0 && !only_encloses_) ProveUndecided(proof_, slice);
  } else {
    MakeUndecided(proof_, slice);
    ProveUndecided(proof_, slice);
  }
  SetPermitted(counted.outputs, slice);
}

void Prover::EncloseSlice(const Slice& slice) {
  if (proof_.c.info().bitwise) return ProveSlice(slice);
  const Scoped<&EvaluationContext::double_centers> level_1(true);
  auto undecided = SettleInArrays(slice, true);
  if (!undecided) {
    const CountedSlice counted = CountSlice(proof_, slice);
    const Scoped<&EvaluationContext::double_centers> level_2(false);
    if (!Encloses(counted, slice)) return ProveSlice(slice);
    undecided = EncloseBy(counted.outputs, proof_, slice);
    SetPermitted(counted.outputs, slice);
  }
  const Scoped<&EvaluationContext::double_centers> level_2(false);
  if (*undecided == 0) return;
  for (const Slice& part : UndecidedParts(proof_, slice)) ProveSlice(part);
}

void Prover::ProveMarked(const Slice& slice, const ElementMarks& marks) {
  if (!MakeUndecided(proof_, slice, marks)) return;
  for (const Slice& part : UndecidedParts(proof_, slice)) ProveSlice(part);
}

void Prover::SetPermitted(const Outputs<Counted>& counted, const Slice& slice) {
  for (size_t o = 0; o < proof_.golden.size(); ++o) {
    GoldenTensor& g = proof_.golden[o];
    size_t k = 0;
    for (const auto& [first, count] : proof_.RunsOf(o, slice)) {
      for (size_t at = first; at < first + count; ++at, ++k) {
        g.permitted.data[at] = std::isnan(g.high.data[at]) ? kNaN
                               : std::isinf(g.radius.data[at])
                                   ? kInfinity
                                   : counted[o].values.data[k].Permitted();
        if (permitted_) Set((*permitted_)[o], at, counted[o], k);
      }
    }
  }
}

}  // namespace sextant
