#include "oracle/defect/planned_operation.h"

#include <cassert>

namespace sextant::oracle {
namespace {

class PlannedOperation final : public Operation {
 public:
  PlannedOperation(std::shared_ptr<const Operation> right, PlanMaker maker)
      : right_(std::move(right)), maker_(std::move(maker)) {}
  std::vector<PlanChange> edits;

  const OperationInfo& info() const override { return right_->info(); }
  std::unique_ptr<Operation> Clone() const override {
    return std::make_unique<PlannedOperation>(*this);
  }
  std::vector<Attribute> Attributes() const override { return right_->Attributes(); }
  void Set(std::string_view name, std::string_view text) override {
    std::shared_ptr<Operation> changed = right_->Clone();
    changed->Set(name, text);
    right_ = std::move(changed);
  }
  void Check() const override { right_->Check(); }
  bool Reads(std::string_view optional_input) const override {
    return right_->Reads(optional_input);
  }
  void CheckTypes(const std::map<std::string, DType>& given) const override {
    right_->CheckTypes(given);
  }
  void Evaluate(const Tensors&, Outputs<Interval>&) const override { NeverProven(); }
  void Evaluate(const Tensors&, Outputs<BoostReal>&) const override { NeverProven(); }
  void Evaluate(const Tensors& in, Outputs<Counted>& out) const override { Apply(in, out); }
  void Evaluate(const Tensors& in, Outputs<Rounded>& out) const override { Apply(in, out); }
  std::vector<std::unique_ptr<Operation>> Alternatives() const override { return {}; }

 private:
  static void NeverProven() { assert(!"a plan is never proven"); }
  template <class Real>
  void Apply(const Tensors& inputs, Outputs<Real>& outputs) const {
    std::vector<Shape> shapes;
    std::vector<Tensor<Real>> lifted;
    for (const auto& [name, dtype, values] : inputs) {
      shapes.push_back(values.shape);
      Tensor<Real>& made = lifted.emplace_back(values.shape);
      for (size_t i = 0; i < made.data.size(); ++i) made.data[i] = Real(values.data[i], dtype);
    }
    std::vector<DType> dtypes;
    for (const Output<Real>& output : outputs) dtypes.push_back(output.dtype);
    Plan plan = maker_(*right_, shapes, dtypes);
    for (const PlanChange& edit : edits) edit(plan);
    std::vector<Tensor<Real>> results = plan.Evaluate(lifted);
    for (size_t o = 0; o < outputs.size(); ++o) {
      outputs[o].values = std::move(results[o]);
      const ScopedStore at(outputs[o].dtype);
      ConvertAll(std::span<Real>(outputs[o].values.data));
    }
  }

  std::shared_ptr<const Operation> right_;
  PlanMaker maker_;
};

}  // namespace

Plan PlanOfCase(const PlanMaker& maker, const Case& c, const Tensors& inputs) {
  std::vector<Shape> shapes;
  std::vector<DType> dtypes;
  for (const NamedTensor& input : inputs) shapes.push_back(input.values.shape);
  for (const TensorSpec& output : c.info().signature.outputs) dtypes.push_back(c.DTypeOf(output));
  Plan plan = maker(c.operation(), shapes, dtypes);
  plan.ForgetEdits();
  return plan;
}

std::map<char, size_t> ExtentsOf(const Operation& operation, const std::vector<Shape>& inputs) {
  std::map<char, size_t> extents;
  const auto& declared = operation.info().signature.inputs;
  for (size_t i = 0; i < inputs.size(); ++i)
    for (size_t axis = 0; axis < inputs[i].size(); ++axis)
      extents[declared[i].extents[axis][0]] = inputs[i][axis];
  return extents;
}

std::shared_ptr<const Operation> WithEdit(std::shared_ptr<const Operation> base,
                                          const PlanMaker& maker, PlanChange edit) {
  const auto* const planned = dynamic_cast<const PlannedOperation*>(base.get());
  auto made = planned ? std::make_shared<PlannedOperation>(*planned)
                      : std::make_shared<PlannedOperation>(std::move(base), maker);
  made->edits.push_back(std::move(edit));
  return made;
}

}  // namespace sextant::oracle
