#include "reference/prove/enclosed_slices.h"

#include "reference/prove/prover.h"

namespace sextant {

struct EnclosedSlices::State {
  Prover MakeProver() { return {Traced(), slice, reference, memory}; }
  Evaluation Traced() const {
    return {evaluation.c,         evaluation.inputs, evaluation.recipe,
            evaluation.operation, outputs,           outputs ? &slice : nullptr};
  }

  const Evaluation evaluation;
  const bool has_level_1 = HasLevel1(evaluation.c);
  Slice slice{};
  const Tensors* outputs = nullptr;
  ProvenAndPermitted reference{};
  CountedOutput memory{CountedArrays(0)};
};

EnclosedSlices::EnclosedSlices(const Evaluation& evaluation) : state_(new State{evaluation}) {
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
}

void EnclosedSlices::ProveMarked(const ElementMarks& marks) {
  state_->MakeProver().ProveMarked(state_->slice, marks);
}

const ProvenAndPermitted& EnclosedSlices::reference() const { return state_->reference; }

}  // namespace sextant
