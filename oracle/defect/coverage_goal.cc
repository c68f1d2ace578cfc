#include "oracle/defect/coverage_goal.h"

#include <algorithm>
#include <map>

#include "oracle/property/changed_inputs.h"
#include "reference/case/choices.h"
#include "reference/case/extents.h"
#include "reference/case/operations.h"

namespace sextant::oracle {
namespace {

// A condition on a case: "dtype=bf16".
struct Condition {
  std::string text;
  std::function<bool(const Case&)> holds;
  std::string attribute{};            // the attribute of the condition, if any,
  std::vector<std::string> values{};  // and its values for which the condition holds
};
using Factor = std::vector<Condition>;  // alternatives: every case fulfils exactly one

Factor DTypes() {
  Factor factor;
  for (const DType dtype : kFloatTypes) {
    factor.push_back({"dtype=" + std::string(NameOf(dtype)),
                      [dtype](const Case& c) { return c.dtype() == dtype; }});
  }
  return factor;
}

// For an attribute with a list of values: one condition per value. Otherwise two conditions: the
// default, and any other value.
Factor ValuesOf(const Attribute& attribute, const std::vector<std::string>& choices) {
  const std::string name = attribute.name, usual = attribute.text;
  const auto is_call = [](const std::string& value) { return value.find('(') != value.npos; };
  Factor factor;
  if (std::ranges::none_of(attribute.values, is_call)) {
    for (const std::string& value : attribute.values) {
      factor.push_back({name + "=" + value,
                        [name, value](const Case& c) { return TextOf(c, name) == value; },
                        name,
                        {value}});
    }
  }
  const auto usual_choices = std::ranges::count(choices, usual);
  if (factor.empty() && !attribute.required && usual_choices > 0 &&
      static_cast<size_t>(usual_choices) < choices.size()) {
    std::vector<std::string> others = choices;
    std::erase(others, usual);
    factor = {
        {name + "=" + usual,
         [=](const Case& c) { return TextOf(c, name) == usual; },
         name,
         {usual}},
        {name + "!=" + usual, [=](const Case& c) { return TextOf(c, name) != usual; }, name,
         others},
    };
  }
  return factor;
}

Factor WholeVectorsOrNot(const std::string& letter) {
  const auto whole = [letter](const Case& c) { return c.dimensions().at(letter) % kLanes == 0; };
  const std::string lanes = letter + "%" + std::to_string(kLanes);
  return {{lanes + "=0", whole}, {lanes + "!=0", std::not_fn(whole)}};
}

Condition AtLeast(const std::string& letter, int64_t extent) {
  return {letter + ">=" + std::to_string(extent),
          [=](const Case& c) { return c.dimensions().at(letter) >= extent; }};
}

// Replaces the last vector of every row, whole or not, by the elements of `instead` or by zeros.
Tensors LostEndsOfRows(const Tensors& correct, const Tensor<double>* instead) {
  Tensors lost = correct;
  for (NamedTensor& tensor : lost) {
    Tensor<double>& y = tensor.values;
    if (y.shape.empty() || (instead && instead->shape != y.shape)) continue;
    const size_t width = RowWidth(y.shape);
    const size_t first = (width - 1) / kLanes * kLanes;
    for (size_t i = 0; i < y.data.size(); ++i) {
      if (i % width >= first) y.data[i] = instead ? instead->data[i] : 0;
    }
  }
  return lost;
}

// The input that an in-place computation would overwrite; null if there is none.
const Tensor<double>* InPlaceOf(const Tensors& inputs, const Tensors& correct) {
  for (const NamedTensor& x : inputs) {
    for (const NamedTensor& y : correct) {
      if (x.values.shape == y.values.shape && x.dtype == y.dtype) return &x.values;
    }
  }
  return nullptr;
}

// Two wrong answers: along the axis `letter`, the elements from `index` on are zero, or equal to
// those of index 0.
std::vector<Tensors> LostFrom(size_t index, const std::string& letter, const Case& c,
                              const Tensors& correct) {
  Tensors zero = correct, first = correct;
  const auto& specs = c.info().signature.outputs;
  for (size_t o = 0; o < correct.size(); ++o) {
    const Shape& shape = correct[o].values.shape;
    const size_t axis = std::ranges::find(specs[o].extents, letter) - specs[o].extents.begin();
    size_t stride = 1;
    for (size_t a = axis + 1; a < shape.size(); ++a) stride *= shape[a];
    for (size_t i = 0; i < correct[o].values.data.size(); ++i) {
      const size_t at = i / stride % shape[axis];
      if (at < index) continue;
      zero[o].values.data[i] = 0;
      first[o].values.data[i] = correct[o].values.data[i - at * stride];
    }
  }
  return {zero, first};
}

// The ends of rows that are not computed: zero, or equal to the input if the operation can be
// computed in place (else zero).
enum class Ends { kZero, kAsInput };
CoverageGoal LongRows(const std::vector<Condition>& conditions, Ends ends) {
  std::string name, sentence;
  for (const Condition& condition : conditions) {
    name += (name.empty() ? "" : ",") + condition.text;
    sentence += (sentence.empty() ? "" : " and ") + condition.text;
  }
  return {
      name, "the ends of rows are not computed where " + sentence,
      [=](const Case& c, const Tensors& inputs, const Tensors& correct) -> std::vector<Tensors> {
        for (const Condition& condition : conditions) {
          if (!condition.holds(c)) return {};
        }
        const auto* instead = ends == Ends::kZero ? nullptr : InPlaceOf(inputs, correct);
        return {LostEndsOfRows(correct, instead)};
      },
      conditions.size() > 2};
}

CoverageGoal ManySlices(const std::string& letter) {
  const Condition many = AtLeast(letter, kManySlices);
  return {many.text,
          "slices from number " + std::to_string(kManySlices) +
              " on are not computed, or equal the first, where " + many.text,
          [=](const Case& c, const Tensors&, const Tensors& correct) {
            return many.holds(c) ? LostFrom(kManySlices - 1, letter, c, correct)
                                 : std::vector<Tensors>();
          }};
}

bool Allows(const Operation& operation,
            const std::vector<std::pair<std::string, std::string>>& set) {
  const auto changed = operation.Clone();
  try {
    for (const auto& [name, value] : set) changed->Set(name, value);
    changed->Check();
  } catch (const Error&) {
    return false;
  }
  return true;
}

// True if two conditions on attributes exclude each other: no value of one is valid together with
// any value of the other, although a value of at least one is valid with the defaults. False for
// all other pairs.
bool Exclude(const Operation& operation, const Condition& a, const Condition& b) {
  const auto alone = [&](const Condition& one) {
    return std::ranges::any_of(one.values, [&](const std::string& value) {
      return Allows(operation, {{one.attribute, value}});
    });
  };
  if (a.attribute.empty() || b.attribute.empty() || !(alone(a) || alone(b))) return false;
  for (const std::string& x : a.values) {
    for (const std::string& y : b.values) {
      if (Allows(operation, {{a.attribute, x}, {b.attribute, y}})) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<CoverageGoal> CoverageGoalsOf(const Operation& operation) {
  const auto choices = ChoicesOf(operation.info());
  std::vector<Factor> factors = {DTypes()};
  for (const Attribute& attribute : operation.Attributes()) {
    const auto own = std::ranges::find(choices, attribute.name, &Choices::key);
    if (attribute.dimension || own == choices.end()) continue;
    Factor factor = ValuesOf(attribute, own->texts);
    if (!factor.empty()) factors.push_back(std::move(factor));
  }
  std::vector<CoverageGoal> goals;
  for (const auto& [letter, texts] : choices) {
    if (!IsDimension(letter)) continue;
    if (IsSlice(letter, operation.info())) goals.push_back(ManySlices(letter));
    if (!MakesRows(letter, operation.info())) continue;
    auto row_factors = factors;
    row_factors.push_back(WholeVectorsOrNot(letter));
    const Condition is_long = AtLeast(letter, LongExtent(letter, operation.info()));
    for (size_t f = 0; f < row_factors.size(); ++f) {
      for (const Condition& a : row_factors[f]) {
        goals.push_back(LongRows({is_long, a}, Ends::kAsInput));
        for (size_t g = f + 1; g < row_factors.size(); ++g) {
          for (const Condition& b : row_factors[g]) {
            if (Exclude(operation, a, b)) continue;
            goals.push_back(LongRows({is_long, a, b}, Ends::kZero));
          }
        }
      }
    }
  }
  return goals;
}

const std::vector<CoverageGoal>& CoverageGoalsOf(std::string_view operation) {
  static const auto kAll = [] {
    std::map<std::string, std::vector<CoverageGoal>, std::less<>> all;
    for (const auto& each : AllOperations()) all.emplace(each->info().name, CoverageGoalsOf(*each));
    return all;
  }();
  const auto at = kAll.find(operation);
  if (at == kAll.end()) throw Error("there is no operation '", operation, "'");
  return at->second;
}

}  // namespace sextant::oracle
