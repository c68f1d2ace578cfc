// Operations whose definition contains the rounding of an intermediate.
//
// If the definition says that one part reads the rounded result of another part, every number type
// performs this rounding: a recipe cannot omit it. The struct of such an operation has a member
// `DType rounded_dtype`, which is not an attribute: the dtype of the rounded output, which a case
// may override. So has one whose formula depends on the type of an output (`quantize`: the largest
// code), and it may have `scale_dtype`, that of its first output.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string_view>
#include <vector>

#include "reference/case/operation.h"

namespace sextant {

// The permitted error of powers of two: how far those that may be chosen are from the number that
// decides.
inline void SetErrorsOfPowers(Choice choice, Output<Counted>& output) {
  if (!IsPower(choice)) return;
  for (size_t i = 0; i < output.values.data.size(); ++i) {
    Counted& x = output.values.data[i];
    const double t = x.center().high, bound = output.before_rounding[i];
    double error = std::isnan(t) ? kNaN : 0;
    for (const double end : {t - bound, t + bound})
      error = std::max(error, std::abs(Chosen(choice, output.dtype, end) - t));
    error += (std::abs(t) + bound) * 0x1p-50;  // of the two ends
    if (std::isfinite(error)) x = x.WithError({error, error});
  }
}

// Wrapped<Op> that sets op.rounded_dtype to the dtype of the output with index Op::kRoundedOutput.
template <class Op, bool provable = true>
class RoundingOperation final : public TypedOperation<Op> {
 public:
  RoundingOperation() = default;
  explicit RoundingOperation(const Op& op) : TypedOperation<Op>(op), wrapped_(op) {}
  const OperationInfo& info() const override { return wrapped_.info(); }
  std::unique_ptr<Operation> Clone() const override {
    return std::make_unique<RoundingOperation>(op_);
  }
  std::vector<Attribute> Attributes() const override { return wrapped_.Attributes(); }
  void Set(std::string_view name, std::string_view text) override {
    SetAttribute(op_, Op::kName, name, text);
    wrapped_ = Wrapped<Op, provable>(op_);
  }
  void Check() const override { wrapped_.Check(); }
  bool Reads(std::string_view optional_input) const override {
    return wrapped_.Reads(optional_input);
  }
  void Evaluate(const Tensors& in, Outputs<Interval>& out) const override { Apply(in, out); }
  void Evaluate(const Tensors& in, Outputs<Counted>& out) const override { Apply(in, out); }
  void Evaluate(const Tensors& in, Outputs<Rounded>& out) const override { Apply(in, out); }
  void Evaluate(const Tensors& in, Outputs<BoostReal>& out) const override { Apply(in, out); }
  std::vector<std::unique_ptr<Operation>> Alternatives() const override {
    std::vector<std::unique_ptr<Operation>> all;
    if constexpr (requires { AlternativesOf(op_); })
      for (const Op& other : AlternativesOf(op_))
        all.push_back(std::make_unique<RoundingOperation>(other));
    return all;
  }

 private:
  using TypedOperation<Op>::op_;

  template <class Real>
  void Apply(const Tensors& in, Outputs<Real>& out) const {
    Op op = op_;
    op.rounded_dtype = out[Op::kRoundedOutput].dtype;
    if constexpr (requires { op.scale_dtype; }) op.scale_dtype = out[0].dtype;
    Wrapped<Op, provable>(op).Evaluate(in, out);
    if constexpr (std::same_as<Real, Counted>)
      for (size_t o = 0; o < out.size(); ++o) SetErrorsOfPowers(this->ChoiceOf(o), out[o]);
  }

  Wrapped<Op, provable> wrapped_;
};

}  // namespace sextant
