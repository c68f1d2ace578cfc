// Operations whose formula rounds a tensor that it hands on, whatever computes the rest.
//
// Where a definition says that one part reads another's rounded result, the rounded number is the
// truth for every number type, not a rounding that a recipe may leave out. Such a struct has a
// member `DType kept`, which is no attribute: the dtype of the output of that name, which a case
// may override.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "reference/case/operation.h"

namespace sextant {

// Wrapped<Op> with op.kept set to the dtype of the output Op::kKeptOutput (its index).
template <class Op>
class Keeping final : public TypedOperation<Op> {
 public:
  Keeping() = default;
  explicit Keeping(const Op& op) : TypedOperation<Op>(op), wrapped_(op) {}
  const OperationInfo& info() const override { return wrapped_.info(); }
  std::unique_ptr<Operation> Clone() const override { return std::make_unique<Keeping>(op_); }
  std::vector<Attribute> Attributes() const override { return wrapped_.Attributes(); }
  void Set(std::string_view name, std::string_view text) override {
    SetAttribute(op_, Op::kName, name, text);
    wrapped_ = Wrapped<Op>(op_);
  }
  void Check() const override { wrapped_.Check(); }
  void Evaluate(const Tensors& in, Outputs<Interval>& out) const override { Apply(in, out); }
  void Evaluate(const Tensors& in, Outputs<Counted>& out) const override { Apply(in, out); }
  void Evaluate(const Tensors& in, Outputs<Rounded>& out) const override { Apply(in, out); }
  void Evaluate(const Tensors& in, Outputs<BoostReal>& out) const override { Apply(in, out); }
  std::vector<std::unique_ptr<Operation>> Alternatives() const override {
    return wrapped_.Alternatives();
  }

 private:
  using TypedOperation<Op>::op_;

  template <class Real>
  void Apply(const Tensors& in, Outputs<Real>& out) const {
    Op op = op_;
    op.kept = out[Op::kKeptOutput].dtype;
    Wrapped<Op>(op).Evaluate(in, out);
  }

  Wrapped<Op> wrapped_;
};

}  // namespace sextant
