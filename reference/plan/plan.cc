#include "reference/plan/plan.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "reference/number/real.h"
#include "reference/number/value_of.h"

namespace sextant {

Stage Plan::Input(const std::string& noun, const std::string& axes) {
  const auto place = static_cast<double>(nodes_.size());
  nodes_.push_back({.noun = noun, .function = Function::kInput, .number = place, .axes = axes});
  for (const char letter : axes)
    if (order_.find(letter) == std::string::npos) order_ += letter;
  return nodes_.size() - 1;
}

Stage Plan::Number(const std::string& noun, double number) {
  nodes_.push_back({.noun = noun, .function = Function::kNumber, .number = number});
  return nodes_.size() - 1;
}

Stage Plan::Of(const std::string& noun, Step step, Function function, std::vector<Stage> uses) {
  nodes_.push_back({.noun = noun, .step = step, .function = function, .uses = std::move(uses)});
  return nodes_.size() - 1;
}

Stage Plan::Along(char axis, const std::string& noun, Step step, Function function, Stage of) {
  nodes_.push_back({.noun = noun, .step = step, .function = function, .uses = {of}, .axis = axis});
  return nodes_.size() - 1;
}

Stage Plan::Stacked(char axis, const std::string& noun, std::vector<Stage> stages) {
  extents_[axis] = stages.size();
  if (order_.find(axis) == std::string::npos) order_ += axis;
  const Stage made = Of(noun, Step::kStore, Function::kStack, std::move(stages));
  nodes_[made].axis = axis;
  return made;
}

Stage Plan::Reordered(Stage of, char axis, std::function<size_t(size_t i)> from) {
  const Stage made = Along(axis, nodes_[of].noun, nodes_[of].step, Function::kReorder, of);
  nodes_[made].from = std::move(from);
  return made;
}

Stage Plan::Changed(Stage of, std::function<double(double x)> other) {
  const Stage made = Of(nodes_[of].noun, nodes_[of].step, Function::kOther, {of});
  nodes_[made].other = std::move(other);
  return made;
}

std::string Plan::AxesOf(Stage stage) const {
  return AxesFrom(stage, [this](Stage use) { return AxesOf(use); });
}

void Plan::Replace(Stage stage, Stage other) {
  for (Stage reader = 0; reader < nodes_.size(); ++reader) {
    if (std::ranges::find(nodes_[reader].uses, stage) == nodes_[reader].uses.end()) continue;
    if (!DependsOn(other, reader)) std::ranges::replace(Edit(reader).uses, stage, other);
  }
  std::ranges::replace(results_, stage, other);
}

bool Plan::DependsOn(Stage stage, Stage from) const {
  return stage == from ||
         std::ranges::any_of(nodes_[stage].uses, [&](Stage use) { return DependsOn(use, from); });
}

bool Plan::IsEdited(Stage stage) const {
  return nodes_[stage].is_edited ||
         std::ranges::any_of(nodes_[stage].uses, [this](Stage use) { return IsEdited(use); });
}

Stage Plan::CopyWith(Stage stage, Stage from, Stage other, bool with_sums) {
  if (stage == from) return other;
  if (!DependsOn(stage, from)) return stage;
  if (nodes_[stage].axis != ' ' && !with_sums) return stage;
  Node copy = nodes_[stage];
  for (Stage& use : copy.uses) use = CopyWith(use, from, other, with_sums);
  nodes_.push_back(std::move(copy));
  return nodes_.size() - 1;
}

namespace {

double Sqrt(double x) { return std::sqrt(x); }
double Exp(double x) { return std::exp(x); }
double Log(double x) { return std::log(x); }
double Converted(double x) { return x; }
double SumOf(const std::vector<double>& terms) {
  double sum = 0;
  for (const double term : terms) sum += term;
  return sum;
}

template <class Real>
bool IsMasked(const Real& x) {
  return ValueOf(x) == -kInfinity;
}

template <class Real>
bool IsLess(const Real& a, const Real& b) {
  return ValueOf(a) < ValueOf(b);
}

template <class Real>
Real Applied(const Node& node, const Real& a, const Real* b) {
  switch (node.function) {
    case Function::kSqrt:
      return Sqrt(a);
    case Function::kExp:
      return IsMasked(a) ? Real(0.0) : Exp(a);
    case Function::kLog:
      return Log(a);
    case Function::kOther:
      return Real(node.other(ValueOf(a)));
    case Function::kAdd:
      return a + *b;
    case Function::kSubtract:
      return IsMasked(a) ? a : a - *b;
    case Function::kMultiply:
      return a * *b;
    case Function::kDivide:
      return a / *b;
    case Function::kLarger:
      return IsLess(a, *b) ? *b : a;
    case Function::kSmaller:
      return IsLess(*b, a) ? *b : a;
    default:
      return Converted(a);
  }
}

// Calls use(flat, place in each operand) for every element of the shape. Operands lack axes along
// which they are the same.
template <class Use>
void ForEach(const std::string& axes, const Shape& shape, const std::string& a,
             const std::string& b, const Use& use) {
  const auto strides_of = [&](const std::string& operand) {
    std::vector<size_t> strides(axes.size(), 0);
    size_t stride = 1;
    for (size_t axis = axes.size(); axis-- > 0;) {
      if (operand.find(axes[axis]) == std::string::npos) continue;
      strides[axis] = stride;
      stride *= shape[axis];
    }
    return strides;
  };
  if (axes.empty()) return use(0, 0, 0);
  const std::vector<size_t> in_a = strides_of(a), in_b = strides_of(b);
  const size_t width = shape.back(), last = axes.size() - 1, count = CountOf(shape);
  for (size_t flat = 0; flat < count;) {
    size_t at_a = 0, at_b = 0;
    for (size_t axis = last, rest = flat / width; axis-- > 0; rest /= shape[axis]) {
      at_a += rest % shape[axis] * in_a[axis];
      at_b += rest % shape[axis] * in_b[axis];
    }
    for (size_t j = 0; j < width; ++j, ++flat, at_a += in_a[last], at_b += in_b[last])
      use(flat, at_a, at_b);
  }
}

template <class Real>
Real Reduced(Function function, const std::vector<Real>& terms) {
  if (function == Function::kCount) return Real(static_cast<double>(terms.size()));
  if (function == Function::kSum) return SumOf(terms);
  if (terms.empty()) return Real(-kInfinity);
  return *std::ranges::max_element(terms, IsLess<Real>);
}

template <class Real>
class Interpreter {
 public:
  // `before`: the values of stages of a plan that was edited since; null: inputs alone are known.
  Interpreter(const Plan& plan, const std::vector<Tensor<Real>>& inputs,
              const std::vector<Tensor<Real>>* before = nullptr)
      : plan_(plan), inputs_(inputs), before_(before), values_(plan.size()), axes_(plan.size()) {}

  const Tensor<Real>& Of(Stage stage) {
    if (before_ && !HasChanged(stage)) return (*before_)[stage];
    if (values_[stage]) return *values_[stage];
    const Node& node = plan_.at(stage);
    if (node.function == Function::kInput)
      return inputs_[static_cast<size_t>(node.number)];  // before[i] is input i, too
    for (const Stage use : node.uses) Of(use);
    const ScopedStep at(node.step);
    std::optional<ScopedStore> stored;
    if constexpr (!std::same_as<Real, double>)
      if (node.stored) stored.emplace(*node.stored);
    const std::string& axes = AxesOf(stage);
    Tensor<Real>& made = values_[stage].emplace(ShapeOf(axes));
    if (node.function == Function::kNumber) {
      made.data[0] = Real(node.number);
    } else if (node.function == Function::kStack) {
      Stack(node, axes, made);
    } else if (node.axis == ' ') {
      Apply(node, axes, made);
    } else {
      AlongAxis(node, axes, made);
    }
    if constexpr (std::same_as<Real, double>)
      if (node.stored)
        for (double& x : made.data) x = RoundTo(*node.stored, x);
    return made;
  }

  Tensor<Real> Result(size_t i) {
    const Tensor<Real>& value = Of(plan_.results()[i]);
    const std::string& axes = plan_.AxesOfResult(i);
    if (AxesOf(plan_.results()[i]) == axes) return value;
    Tensor<Real> made(ShapeOf(axes));
    ForEach(axes, made.shape, AxesOf(plan_.results()[i]), "",
            [&](size_t flat, size_t at, size_t) { made.data[flat] = value.data[at]; });
    return made;
  }

 private:
  bool HasChanged(Stage stage) const {
    const Node& node = plan_.at(stage);
    return stage >= before_->size() || node.is_edited ||
           std::ranges::any_of(node.uses, [&](Stage use) { return HasChanged(use); });
  }
  const std::string& AxesOf(Stage stage) {
    if (!axes_[stage])
      axes_[stage] = plan_.AxesFrom(stage, [this](Stage use) { return AxesOf(use); });
    return *axes_[stage];
  }
  Shape ShapeOf(const std::string& axes) const {
    Shape shape;
    for (const char letter : axes) shape.push_back(plan_.ExtentOf(letter));
    return shape;
  }
  void Apply(const Node& node, const std::string& axes, Tensor<Real>& made) {
    const Tensor<Real>& a = Of(node.uses[0]);
    const Tensor<Real>* const b = node.uses.size() > 1 ? &Of(node.uses[1]) : nullptr;
    const auto apply = [&](size_t flat, size_t at_a, size_t at_b) {
      made.data[flat] = Applied(node, a.data[at_a], b ? &b->data[at_b] : nullptr);
    };
    ForEach(axes, made.shape, AxesOf(node.uses[0]), b ? AxesOf(node.uses[1]) : "", apply);
  }
  void Stack(const Node& node, const std::string& axes, Tensor<Real>& made) {
    const size_t count = node.uses.size();  // the axis is the last one
    for (size_t k = 0; k < count; ++k)
      ForEach(axes, made.shape, AxesOf(node.uses[k]), "", [&](size_t flat, size_t at, size_t) {
        if (flat % count == k) made.data[flat] = Of(node.uses[k]).data[at];
      });
  }
  // The operand is the same for all indices of the axis.
  void AlongConstant(const Node& node, const std::string& axes, const Tensor<Real>& source,
                     const std::string& from, Tensor<Real>& made) {
    const size_t extent = plan_.ExtentOf(node.axis), at_axis = axes.find(node.axis);
    const size_t inner =
        at_axis == std::string::npos
            ? 1
            : CountOf({made.shape.begin() + static_cast<ptrdiff_t>(at_axis) + 1, made.shape.end()});
    ForEach(axes, made.shape, from, "", [&](size_t flat, size_t at, size_t) {
      const size_t j = at_axis == std::string::npos ? 0 : flat / inner % extent;
      if (node.from) {
        made.data[flat] = ElementOf(node, source.data[at], j);
        return;
      }
      size_t count = 0;
      for (const Span& span : node.of              ? node.of(j)
                              : node.spans.empty() ? Spans{{0, extent}}
                                                   : node.spans)
        for (size_t k = span.first; k < std::min(span.last, extent); k += span.stride) ++count;
      made.data[flat] = Reduced(node.function, std::vector<Real>(count, source.data[at]));
    });
  }
  static Real ElementOf(const Node& node, const Real& element, size_t j) {
    return node.chosen && !node.chosen(j) ? Real(node.number) : element;
  }
  void AlongAxis(const Node& node, const std::string& axes, Tensor<Real>& made) {
    const Tensor<Real>& source = Of(node.uses[0]);
    const std::string from = AxesOf(node.uses[0]);
    const size_t axis = from.find(node.axis);
    if (axis == std::string::npos) return AlongConstant(node, axes, source, from, made);
    const size_t extent = source.shape[axis];
    size_t stride = 1;
    for (size_t a = axis + 1; a < from.size(); ++a) stride *= source.shape[a];
    std::map<Spans, Real> known;  // of one line along the axis
    const auto reduced = [&](size_t begin, const Spans& spans) {
      if (const auto found = known.find(spans); found != known.end()) return found->second;
      std::vector<Real> terms;
      for (const Span& span : spans)
        for (size_t k = span.first; k < std::min(span.last, extent); k += span.stride)
          terms.push_back(source.data[begin + k * stride]);
      return known.emplace(spans, Reduced(node.function, terms)).first->second;
    };
    const Spans spans = node.spans.empty() ? Spans{{0, extent}} : node.spans;
    const size_t kept = axes.find(node.axis) == std::string::npos ? 1 : extent;
    for (size_t outer = 0; outer * extent * stride < source.data.size(); ++outer) {
      for (size_t inner = 0; inner < stride; ++inner) {
        const size_t begin = outer * extent * stride + inner;
        known.clear();
        for (size_t j = 0; j < kept; ++j)
          made.data[(outer * kept + j) * stride + inner] =
              node.from ? ElementOf(node, source.data[begin + node.from(j) * stride], j)
                        : reduced(begin, node.of ? node.of(j) : spans);
      }
    }
  }

  const Plan& plan_;
  const std::vector<Tensor<Real>>& inputs_;
  const std::vector<Tensor<Real>>* const before_;
  std::vector<std::optional<Tensor<Real>>> values_;
  std::vector<std::optional<std::string>> axes_;
};

}  // namespace

template <class Real>
std::vector<Tensor<Real>> Plan::Evaluate(const std::vector<Tensor<Real>>& inputs) const {
  Interpreter<Real> interpreter(*this, inputs);
  std::vector<Tensor<Real>> results;
  for (size_t i = 0; i < results_.size(); ++i) results.push_back(interpreter.Result(i));
  return results;
}
Plan::Values Plan::EvaluateAll(const std::vector<Tensor<double>>& inputs) const {
  Interpreter<double> interpreter(*this, inputs);
  Values values;
  for (Stage stage = 0; stage < size(); ++stage) values.push_back(interpreter.Of(stage));
  return values;
}

Plan::Values Plan::EvaluateAfter(const Values& before) const {
  Interpreter<double> interpreter(*this, before, &before);
  Values results;
  for (size_t i = 0; i < results_.size(); ++i) results.push_back(interpreter.Result(i));
  return results;
}

void Plan::TakeResult(size_t i, const Plan& other) {
  const size_t shift = nodes_.size();
  for (Node node : other.nodes_) {
    for (Stage& use : node.uses) use += shift;
    nodes_.push_back(std::move(node));
  }
  results_[i] = other.results_[i] + shift;
}

void Plan::ForgetEdits() {
  for (Node& node : nodes_) node.is_edited = false;
}

template std::vector<Tensor<Rounded>> Plan::Evaluate(
    const std::vector<Tensor<Rounded>>& inputs) const;
template std::vector<Tensor<Counted>> Plan::Evaluate(
    const std::vector<Tensor<Counted>>& inputs) const;

}  // namespace sextant
