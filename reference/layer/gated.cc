#include "reference/layer/gated.h"

#include <limits>

#include "reference/case/array_operation.h"
#include "reference/number/clamp.h"
#include "reference/number/lanes/each_number.h"

namespace sextant {

void Gated::Check() const {
  if (limit && !(*limit > 0)) throw Error("limit is ", *limit, ", expected more than 0");
  if (alpha && beta != 1)
    throw Error("alpha is ", *alpha, " and beta ", beta, ", but they are one: expected beta=1");
  if (kind != GateKind::kSwiglu && (beta != 1 || alpha)) {
    throw Error(alpha ? "alpha" : "beta", " is ", Beta(), ", but kind=", PrintValue(kind),
                " has none");
  }
}

namespace {

auto FunctionOf(const Gated& op) {
  return [&op]<class Number>(std::type_identity<Number>) {
    return [&op, f = ActivationFunction<Number>(ActivationOf(op.kind), op.Beta())](
               const Number& own_gate, const Number& own_up) {
      Number g = own_gate, u = own_up;
      if (op.limit) {
        const ScopedStep at(Step::kGate);
        const Number most = Converted(Number(*op.limit)), any(-std::numeric_limits<double>::max());
        g = Clamp(g, any, most);
        u = Clamp(u, -most, most);
      }
      const Number activated = f(g);
      const ScopedStep at(Step::kGate);
      return activated * (op.plus_one ? u + Number(1.0) : u);
    };
  };
}

bool EvaluateGatedInArrays(const Gated& op, const Tensors& inputs, CountedOutput& y) {
  y.format = FormatAt(Step::kGate);
  y.level_1 = this_context.double_centers && op.kind == GateKind::kGeglu;  // erf of doubles
  return SetEach(y.Span(), FunctionOf(op), ExactSpan{inputs[0]}, ExactSpan{inputs[1]});
}

}  // namespace

template <class Real>
void Gated::operator()(const Tensor<Real>& gate, const Tensor<Real>& up, Tensor<Real>& y) const {
  SetEach(y.data, FunctionOf(*this), gate.data, up.data);
}

template void Gated::operator()(const Tensor<Interval>&, const Tensor<Interval>&,
                                Tensor<Interval>&) const;
template void Gated::operator()(const Tensor<Counted>&, const Tensor<Counted>&,
                                Tensor<Counted>&) const;
template void Gated::operator()(const Tensor<Rounded>&, const Tensor<Rounded>&,
                                Tensor<Rounded>&) const;
template void Gated::operator()(const Tensor<BoostReal>&, const Tensor<BoostReal>&,
                                Tensor<BoostReal>&) const;

template <>
std::unique_ptr<Operation> MakeOperation<Gated>() {
  return std::make_unique<ArrayOperation<Gated>>(EvaluateGatedInArrays);
}

}  // namespace sextant
