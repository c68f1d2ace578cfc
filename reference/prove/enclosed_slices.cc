#include "reference/prove/enclosed_slices.h"

#include "reference/prove/prover.h"

namespace sextant {

struct EnclosedSlices::State {
  Prover MakeProver() { return {Traced(), slice, reference, memory}; }
  Evaluation Traced() const {
    return {evaluation.c,         evaluation.inputs, evaluation.recipe,
            evaluation.operation, outputs,           outputs ? &slice : nullptr};
  }

  // Keeps the permitted errors: of the golden they are those of another recipe.
  void TakeStored() {
    for (size_t o = 0; o < reference.golden.size(); ++o) {
      GoldenTensor& golden = reference.golden[o];
      GoldenTensor read = stored->Read(o, slice);
      golden.value = std::move(read.value);
      golden.high = std::move(read.high);
      golden.low = std::move(read.low);
      golden.radius = std::move(read.radius);
    }
  }

  const Evaluation evaluation;
  const GoldenSource* const stored;
  const bool has_level_1 = HasLevel1(evaluation.c);
  Slice slice{};
  const Tensors* outputs = nullptr;
  ProvenAndPermitted reference{};
  CountedOutput memory{CountedArrays(0)};
};

EnclosedSlices::EnclosedSlices(const Evaluation& evaluation, const GoldenSource* stored)
    : state_(new State{evaluation, stored}) {
  const Case& c = evaluation.c;
  const std::vector<TensorSpec>& outputs = c.info().signature.outputs;
  for (size_t o = 0; o < outputs.size(); ++o) {
    state_->reference.golden.push_back(EmptyGolden(evaluation, o));
    state_->reference.permitted.push_back({outputs[o].name, c.DTypeOf(outputs[o]), {}, {}, {}});
  }
}

EnclosedSlices::~EnclosedSlices() = default;

void EnclosedSlices::Enclose(const Slice& slice, const Tensors* outputs) {
  state_->slice = slice;
  state_->outputs = outputs;
  const Case& c = state_->evaluation.c;
  const bool takes_stored = state_->stored && !outputs;
  if (takes_stored && !state_->has_level_1) {  // a proof would take long, permitted errors do not
    state_->reference.permitted = PermittedErrors(state_->evaluation, slice);
    return state_->TakeStored();
  }
  for (size_t o = 0; o < c.info().signature.outputs.size(); ++o) {
    const TensorSpec& spec = c.info().signature.outputs[o];
    const Shape shape = ShapeIn(c.ShapeOf(spec), spec, slice);
    GoldenTensor& g = state_->reference.golden[o];
    PermittedTensor& p = state_->reference.permitted[o];
    for (Tensor<double>* const part :
         {&g.value, &g.high, &g.low, &g.permitted, &g.radius, &p.error, &p.likely}) {
      part->shape = shape;
      part->data.resize(CountOf(shape));
    }
    p.vacuous.resize(CountOf(shape));
    if (g.choice != Choice::kNone) p.before_rounding.resize(CountOf(shape));
  }
  Prover prover = state_->MakeProver();
  state_->has_level_1 && !outputs ? prover.EncloseSlice(slice) : prover.ProveSlice(slice);
  if (takes_stored) state_->TakeStored();
}

void EnclosedSlices::ProveMarked(const ElementMarks& marks) {
  state_->MakeProver().ProveMarked(state_->slice, marks);
}

const ProvenAndPermitted& EnclosedSlices::reference() const { return state_->reference; }

}  // namespace sextant
