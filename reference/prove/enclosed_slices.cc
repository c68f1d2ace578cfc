#include "reference/prove/enclosed_slices.h"

#include "reference/prove/prover.h"

namespace sextant {

struct EnclosedSlices::State {
  const Tensors none{};
  State(const Case& c, const TensorReaders& inputs, const Recipe& by)
      : formula{c.operation(), c, none, nullptr, &inputs}, recipe(by) {}

  AppliedFormula formula;
  const Recipe& recipe;
  Slice slice{};
  ProvenAndPermitted reference{};
  CountedOutput memory{CountedArrays(0)};
  Prover prover{formula, recipe, slice, reference, memory};
};

EnclosedSlices::EnclosedSlices(const Case& c, const TensorReaders& inputs, const Recipe& recipe)
    : state_(new State(c, inputs, recipe)) {
  for (const TensorSpec& spec : c.info().signature.outputs) {
    state_->reference.golden.push_back({spec.name, c.DTypeOf(spec), {}, {}, {}, {}, {}});
    state_->reference.permitted.push_back({spec.name, c.DTypeOf(spec), {}, {}, {}});
  }
}

EnclosedSlices::~EnclosedSlices() = default;

void EnclosedSlices::Enclose(const Slice& slice) {
  state_->slice = slice;
  const Case& c = state_->formula.c;
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
  }
  state_->prover.EncloseSlice(slice);
}

void EnclosedSlices::ProveMarked(const ElementMarks& marks) {
  state_->prover.ProveMarked(state_->slice, marks);
}

const ProvenAndPermitted& EnclosedSlices::reference() const { return state_->reference; }

}  // namespace sextant
