// Operation, the interface for drivers, and Wrapped, its implementation for a struct.
//
// An operation is a struct with
//   kName       "rms_norm"
//   kSignature  reference/case/signature.h
//   kSlices     letters of the axes along which elements are independent ("BHS")
//   kSteps      names of the steps that its formula marks ("square sum rsqrt scale weigh")
//   kDraw       how an input is drawn by default: "x=normal weight=near_one" (case/draw.h)
//   kChoices    relevant values of attributes and dimensions: "eps=1e-05|0.1 M=1|2|7|64"
//   kFormula    the definition
//   kSource     the source of the definition
//   Visit       its attributes (reference/case/attribute.h)
//   Check()     optional: throws Error for invalid combinations of attributes and dimensions
//   with        for optional inputs: which ones the case has (OptionalInputs); or
//   Reads(name) for optional inputs: whether the attributes make the formula read that one
//   CheckTypes(dtypes)  optional: throws Error for invalid dtypes that a line gives to tensors
//   Stored(dtype, x)  optional: what an output stores of the number x. Then that is the definition,
//               for every number type and recipe, and NaN, infinities and the sign of 0 in an
//               output are specified
//   kKeepsNonfinite  optional: true if an element that depends on a NaN or an infinity among the
//               inputs is unspecified, but no finite number
//   ChoiceOf(i)  optional: how output i is chosen, if it is (reference/prove/golden.h); every
//               output of role code is
//   AlternativesOf(op)  optional function: see Operation::Alternatives
//   operator()  the formula, over any number type Real:
//                 void operator()(const Tensor<Real>& x, ..., Tensor<Real>& y) const
//               inputs by const reference, outputs by reference (already allocated with their
//               final shapes), in the order of the signature; integer and real inputs are
//               Tensor<double>, and large inputs that are only multiplied by may be Weights<Real>.
//               Optional inputs are `const Tensor<Real>*`, null if they are absent.
//               The last inputs may be one parameter, and the outputs too: a struct that takes
//               them by name. Its Visit names its members, v("wq", wq); these are Tensor<Real>,
//               Weights<Real> or, if the input is optional, std::optional<Tensor<Real>>; an output
//               is Tensor<Real>*.
// reference/<family>/<op>.cc ends with
//   template <> std::unique_ptr<Operation> MakeOperation<RmsNorm>() { return Wrap<RmsNorm>(); }
#pragma once

#include <algorithm>
#include <cassert>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "reference/case/attribute.h"
#include "reference/case/intermediate.h"
#include "reference/case/operation_info.h"
#include "reference/number/real.h"
#include "reference/number/recipe/evaluation_context.h"
#include "reference/number/rounded/choice.h"
#include "reference/number/tensor/tensor.h"
#include "reference/number/weights.h"

namespace sextant {

template <class Real>
struct Output {
  DType dtype;
  Tensor<Real> values;
  // Of chosen outputs, by Counted: the permitted error of each number before it is chosen.
  std::vector<double> before_rounding{};
};
template <class Real>
using Outputs = std::vector<Output<Real>>;

// One operation with its attributes set.
class Operation {
 public:
  virtual ~Operation() = default;
  virtual const OperationInfo& info() const = 0;
  virtual std::unique_ptr<Operation> Clone() const = 0;
  virtual std::vector<Attribute> Attributes() const = 0;
  virtual void Set(std::string_view name, std::string_view text) = 0;  // throws Error
  virtual void Check() const = 0;                                      // throws Error
  // Whether the formula reads this optional input: by the attribute `with`, or by other attributes.
  virtual bool Reads(std::string_view optional_input) const = 0;
  // Of the tensors whose dtype the line of a case gives. Throws Error.
  virtual void CheckTypes(const std::map<std::string, DType>& given) const = 0;

  // How that output is chosen.
  virtual Choice ChoiceOf(size_t) const { return Choice::kNone; }

  // Evaluates the formula. Inputs are in the order of the signature, without those that are absent;
  // outputs have dtype and shape.
  // Counted and Rounded follow the thread's recipe (ScopedRecipe), Interval its precision.
  virtual void Evaluate(const Tensors& inputs, Outputs<Interval>& outputs) const = 0;
  virtual void Evaluate(const Tensors& inputs, Outputs<Counted>& outputs) const = 0;
  virtual void Evaluate(const Tensors& inputs, Outputs<Rounded>& outputs) const = 0;
  virtual void Evaluate(const Tensors& inputs, Outputs<BoostReal>& outputs) const = 0;

  // Rounding by the thread's recipe may change a decision of the formula (a floor). These are the
  // operations that a correct implementation may then compute, as a whole, instead of this one.
  virtual std::vector<std::unique_ptr<Operation>> Alternatives() const = 0;
};

// An operation that holds its struct.
template <class Op>
class TypedOperation : public Operation {
 public:
  TypedOperation() = default;
  explicit TypedOperation(const Op& op) : op_(op) {}
  const Op& op() const { return op_; }
  void CheckTypes(const std::map<std::string, DType>& given) const override {
    if constexpr (requires { op_.CheckTypes(given); }) op_.CheckTypes(given);
  }
  Choice ChoiceOf(size_t output) const override {
    if constexpr (requires { op_.ChoiceOf(output); }) return op_.ChoiceOf(output);
    return Choice::kNone;
  }

 protected:
  Op op_;
};

template <class Op>
std::unique_ptr<Operation> MakeOperation();  // specialised in <op>.cc

template <class Op>
concept KeepsNonfinite = requires {
  requires Op::kKeepsNonfinite;
};

template <class Op>
concept DefinesStore = requires(const Op& op, const Rounded& x) {
  op.Stored(DType(), x);
};

// Implementation of Operation for a struct. A mutated formula is not `provable`: it is never
// evaluated for proven values or for a second opinion, and not compiled for Interval and BoostReal.
template <class Op, bool provable = true>
class Wrapped final : public TypedOperation<Op> {
 public:
  using TypedOperation<Op>::TypedOperation;
  const OperationInfo& info() const override {
    static const OperationInfo kInfo(OperationTexts{.name = Op::kName,
                                                    .signature_text = Op::kSignature,
                                                    .slices = Op::kSlices,
                                                    .steps = Op::kSteps,
                                                    .draw = Op::kDraw,
                                                    .choices = Op::kChoices,
                                                    .formula = Op::kFormula,
                                                    .source = Op::kSource,
                                                    .bitwise = DefinesStore<Op>,
                                                    .keeps_nonfinite = KeepsNonfinite<Op>});
    return kInfo;
  }
  std::unique_ptr<Operation> Clone() const override { return std::make_unique<Wrapped>(op_); }
  std::vector<Attribute> Attributes() const override { return AttributesOf(op_); }
  void Set(std::string_view name, std::string_view text) override {
    SetAttribute(op_, Op::kName, name, text);
  }
  void Check() const override {
    if constexpr (requires { op_.Check(); }) op_.Check();
  }
  bool Reads(std::string_view optional_input) const override {
    if constexpr (requires { op_.Reads(optional_input); }) return op_.Reads(optional_input);
    if constexpr (requires { op_.with; }) return op_.with.Has(optional_input);
    return false;
  }
  void Evaluate(const Tensors& in, Outputs<Interval>& out) const override { ApplyExactly(in, out); }
  void Evaluate(const Tensors& in, Outputs<Counted>& out) const override { Apply(in, out); }
  void Evaluate(const Tensors& in, Outputs<Rounded>& out) const override { Apply(in, out); }
  void Evaluate(const Tensors& in, Outputs<BoostReal>& out) const override {
    ApplyExactly(in, out);
  }
  std::vector<std::unique_ptr<Operation>> Alternatives() const override {
    std::vector<std::unique_ptr<Operation>> all;
    if constexpr (requires { AlternativesOf(op_); }) {
      for (const Op& other : AlternativesOf(op_)) all.push_back(std::make_unique<Wrapped>(other));
    }
    return all;
  }

 private:
  using TypedOperation<Op>::op_;

  template <class Real>
  void ApplyExactly(const Tensors& inputs, Outputs<Real>& outputs) const {
    if constexpr (provable) {
      Apply(inputs, outputs);
    } else {
      assert(!"a mutated formula is never proven");
    }
  }
  template <class Real>
  void Apply(const Tensors& inputs, Outputs<Real>& outputs) const {
    {
      ScopedOutputs traced;
      for (size_t o = 0; o < outputs.size(); ++o)
        traced.Add(info().signature.outputs[o].name, &outputs[o].values);
      Call<Real>(&Op::template operator()<Real>, inputs, outputs);
    }
    for (size_t o = 0; o < outputs.size(); ++o) {
      Output<Real>& output = outputs[o];
      if (info().signature.outputs[o].role == Role::kChoice) continue;
      if constexpr (DefinesStore<Op>) {
        for (Real& x : output.values.data) x = op_.Stored(output.dtype, x);
      } else {
        const ScopedStore at(output.dtype);
        const Choice choice = this->ChoiceOf(o);
        const bool is_chosen = choice != Choice::kNone;
        if constexpr (std::same_as<Real, Counted>)
          for (const Counted& x : output.values.data)
            if (is_chosen) output.before_rounding.push_back(x.Permitted());
        if constexpr (std::same_as<Real, Rounded>) {
          // A processor that flushes subnormal numbers leaves codes as they are.
          for (Rounded& x : output.values.data)
            if (is_chosen) x = Rounded(Chosen(choice, output.dtype, x.value()), output.dtype);
          if (is_chosen) continue;
        }
        ConvertAll(std::span<Real>(output.values.data));
        if constexpr (std::same_as<Real, Counted>)
          if (is_chosen) LimitErrors(output);
      }
    }
  }

  // A chosen number is limited before it is rounded: it does not overflow.
  static void LimitErrors(Output<Counted>& output) {
    for (size_t i = 0; i < output.values.data.size(); ++i) {
      Counted& x = output.values.data[i];
      if (std::isfinite(x.error()) || !std::isfinite(output.before_rounding[i])) continue;
      const double most = output.before_rounding[i] + UlpOf(output.dtype, MaxFinite(output.dtype));
      x = x.WithError({most, most});
    }
  }

  template <class Real, class... Parameters>
  void Call(void (Op::*formula)(Parameters...) const, const Tensors& inputs,
            Outputs<Real>& outputs) const {
    size_t input = 0, output = 0;
    const std::vector<TensorSpec>& declared = info().signature.inputs;
    size_t parameter = 0;  // index into `declared`
    const auto next = [&]() -> const NamedTensor& { return ++parameter, inputs[input++]; };
    // A mutation may read fewer inputs than the case has.
    const auto optional = [&] {
      const std::string& name = declared[parameter++].name;
      input += input < inputs.size() && inputs[input].name == name ? 1 : 0;
      return Reads(name) ? std::make_optional(Lift<Real>(Find(inputs, name))) : std::nullopt;
    };
    const auto argument = [&]<class P>(std::type_identity<P>) {
      using Plain = std::remove_cvref_t<std::remove_pointer_t<P>>;
      if constexpr (requires(Plain named) { named.Visit([](const char*, auto&) {}); }) {
        return Named<Plain>(inputs, outputs);
      } else if constexpr (std::is_pointer_v<P>) {
        return optional();
      } else if constexpr (!std::is_const_v<std::remove_reference_t<P>>) {
        return std::ref(outputs[output++].values);
      } else if constexpr (std::is_same_v<Plain, Weights<Real>>) {
        return Weights<Real>(next());
      } else if constexpr (std::is_same_v<typename Plain::Element, double>) {
        return std::cref(next().values);
      } else {
        return Lift<Real>(next());
      }
    };
    // Braces guarantee evaluation from left to right.
    std::tuple arguments{argument(std::type_identity<Parameters>())...};
    std::apply([&](auto&... a) { (op_.*formula)(Unwrapped(a)...); }, arguments);
  }

  // A struct with the inputs or outputs that its Visit names.
  template <class Struct, class Real>
  Struct Named(const Tensors& inputs, Outputs<Real>& outputs) const {
    Struct named{};
    named.Visit([&]<class Member>(const char* name, Member& member) {
      if constexpr (std::is_same_v<Member, Tensor<Real>*>) {
        const std::vector<TensorSpec>& declared = info().signature.outputs;
        const auto at = std::ranges::find(declared, name, &TensorSpec::name);
        member = &outputs.at(static_cast<size_t>(at - declared.begin())).values;
      } else if constexpr (std::is_same_v<Member, std::optional<Tensor<Real>>>) {
        if (Reads(name)) member = Lift<Real>(Find(inputs, name));
      } else if constexpr (std::is_same_v<Member, Weights<Real>>) {
        member = Weights<Real>(Find(inputs, name));
      } else {
        member = Lift<Real>(Find(inputs, name));
      }
    });
    return named;
  }
  template <class Real>
  static Tensor<Real> Lift(const NamedTensor& tensor) {
    Tensor<Real> lifted;
    lifted.shape = tensor.values.shape;
    lifted.data.clear();
    lifted.data.reserve(tensor.values.data.size());
    for (const double x : tensor.values.data) lifted.data.emplace_back(x, tensor.dtype);
    return lifted;
  }
  template <class T>
  static T& Unwrapped(std::reference_wrapper<T>& x) {
    return x.get();
  }
  template <class T>
  static const T* Unwrapped(std::optional<T>& x) {
    return x ? &*x : nullptr;
  }
  template <class T>
  static T& Unwrapped(T& x) {
    return x;
  }
};

template <class Op>
std::unique_ptr<Operation> Wrap() {
  return std::make_unique<Wrapped<Op>>();
}

}  // namespace sextant
