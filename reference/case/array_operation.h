// Operations of rows and of single elements that can also be evaluated by Counted in arrays,
// instead of tensors of Counted: the same bits in less time and memory. reference/<family>/<op>.cc
// then ends with
//   template <> std::unique_ptr<Operation> MakeOperation<Softmax>() {
//     return std::make_unique<ArrayOperation<Softmax>>(EvaluateSoftmaxInArrays);
//   }
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "reference/case/operation.h"
#include "reference/number/counted/counted_span.h"
#include "reference/number/lanes/counted_lanes.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant {

// The numbers of an output, which have one format and are not saturated.
struct CountedOutput {
  CountedSpan Span() { return {numbers.numbers(), numbers.size(), format}; }

  CountedArrays numbers;
  std::optional<DType> format{};
  // Level 1: the errors differ from those of level 2 by up to 2^-40 of them, so that centre and
  // drift decide no number whose drift is not 0 (Enclose, reference/prove/prove.h).
  bool level_1 = false;
};

// The format of the results of a step.
inline std::optional<DType> FormatAt(Step step) {
  const ScopedStep at(step);
  return FormatOf(CurrentRule());
}

class EvaluatesInArrays {
 public:
  virtual ~EvaluatesInArrays() = default;
  // Sets the numbers of the only output, as Evaluate does for Counted. The inputs are finite. False
  // if the formula, these inputs or the recipe are not for arrays; then the numbers are undefined.
  virtual bool EvaluateInArrays(const Tensors& inputs, DType output, CountedOutput& y) const = 0;
};

// Wrapped<Op> with a second way to evaluate it.
template <class Op>
class ArrayOperation final : public TypedOperation<Op>, public EvaluatesInArrays {
 public:
  // As operator() of the struct, without the conversion to the dtype of the output.
  using Formula = bool (*)(const Op& op, const Tensors& inputs, CountedOutput& y);
  explicit ArrayOperation(Formula formula, const Op& op = {})
      : TypedOperation<Op>(op), formula_(formula), wrapped_(op) {}
  const OperationInfo& info() const override { return wrapped_.info(); }
  std::unique_ptr<Operation> Clone() const override {
    return std::make_unique<ArrayOperation>(formula_, op_);
  }
  std::vector<Attribute> Attributes() const override { return wrapped_.Attributes(); }
  void Set(std::string_view name, std::string_view text) override {
    SetAttribute(op_, Op::kName, name, text);
    wrapped_ = Wrapped<Op>(op_);
  }
  void Check() const override { wrapped_.Check(); }
  bool Reads(std::string_view optional_input) const override {
    return wrapped_.Reads(optional_input);
  }
  void Evaluate(const Tensors& in, Outputs<Interval>& y) const override {
    wrapped_.Evaluate(in, y);
  }
  void Evaluate(const Tensors& in, Outputs<Counted>& y) const override { wrapped_.Evaluate(in, y); }
  void Evaluate(const Tensors& in, Outputs<Rounded>& y) const override { wrapped_.Evaluate(in, y); }
  void Evaluate(const Tensors& in, Outputs<BoostReal>& y) const override {
    wrapped_.Evaluate(in, y);
  }
  std::vector<std::unique_ptr<Operation>> Alternatives() const override {
    return wrapped_.Alternatives();
  }
  bool EvaluateInArrays(const Tensors& inputs, DType output, CountedOutput& y) const override {
    if (!formula_(op_, inputs, y)) return false;
    const ScopedStore at(output);
    const StepRule rule = CurrentRule();
    if (rule.exact) return true;
    if (rule.flushes || !y.format || !Contains(rule.format, *y.format)) ConvertAll(y.Span());
    y.format = rule.format;
    return true;
  }

 private:
  using TypedOperation<Op>::op_;
  Formula formula_;
  Wrapped<Op> wrapped_;
};

}  // namespace sextant
