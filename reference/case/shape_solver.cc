#include "reference/case/shape_solver.h"

#include <algorithm>
#include <set>

#include "reference/case/dimensions.h"
#include "reference/case/extents.h"

namespace sextant {
namespace {

// Where a value is from, in messages.
constexpr std::string_view kStated = " is stated";
constexpr std::string_view kDefault = " is the default";

// The last `count` axes of the tensor, at least one: "S D".
std::string LastExtents(const TensorSpec& spec, size_t count) {
  const size_t rank = spec.extents.size();
  std::string text;
  for (size_t i = rank - std::clamp<size_t>(count, 1, rank); i < rank; ++i)
    text += (text.empty() ? "" : " ") + spec.extents[i];
  return text;
}

}  // namespace

ShapeSolver::ShapeSolver(const Operation& operation,
                         const std::map<std::string, std::string>& stated)
    : operation_(operation) {
  for (const Attribute& attribute : operation.Attributes()) {
    if (attribute.dimension || !IsInShapes(attribute.name)) continue;
    if (!attribute.required) {
      Set(attribute.name, attribute.text, kDefault);
    } else if (!attribute.values.empty() && !stated.contains(attribute.name)) {
      throw Error(operation.info().name, " needs ", attribute.name,
                  "= in the question, one of:", NamesText(attribute.values));
    }
  }
  for (const auto& [name, text] : stated) {
    if (IsDimension(name) || IsInShapes(name)) Set(name, text, kStated);
  }
}

bool ShapeSolver::IsInShapes(const std::string& attribute) const {
  const auto in = [&](const TensorSpec& spec) {
    return std::ranges::any_of(spec.extents, [&](const std::string& extent) {
      return AttributesIn(extent).contains(attribute);
    });
  };
  const Signature& signature = operation_.info().signature;
  return std::ranges::any_of(signature.inputs, in) || std::ranges::any_of(signature.outputs, in);
}

void ShapeSolver::Set(const std::string& name, const std::string& text, std::string_view from) {
  if (!IsDimension(name)) operation_.Clone()->Set(name, text);  // throws Error for a wrong value
  try {
    known_[name] = {NumberInExtents(text), text, std::string(from)};
  } catch (const Error& e) {
    throw Error(operation_.info().name, ": ", name, "=: ", e.what());
  }
}

void ShapeSolver::Add(const TensorSpec& spec, const Shape& shape) {
  if (shape.size() != spec.extents.size()) {
    throw Error(spec.name, " has shape ", ToString(shape), ", expected ", spec.extents.size(),
                spec.extents.size() == 1 ? " axis: " : " axes: ", TextOf(spec),
                shape.size() > spec.extents.size()
                    ? "; axes before them must have extent 1"
                    : "; if the others have extent 1, name those that it has: '" + spec.name +
                          " (" + LastExtents(spec, shape.size()) + ")'");
  }
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] > kLargestInteger) {
      throw Error(spec.name, " has extent ", shape[axis], " on axis ", axis, ", expected at most ",
                  kLargestInteger);
    }
    const ExtentFormula extent = ParseExtent(spec.extents[axis]);
    equations_.push_back({&spec, extent, static_cast<int64_t>(shape[axis])});
  }
}

void ShapeSolver::Solve() {
  while (SolveOne() || SetDefault()) {
  }
  for (const Equation& equation : equations_) Check(equation);
  for (const std::string& letter : DimensionsOf(operation_)) {
    if (known_.contains(letter)) continue;
    throw Error(operation_.info().name, ": no tensor gives the dimension ", letter, ", expected ",
                letter, "= in the question");
  }
}

std::vector<std::string> ShapeSolver::Solved() const {
  std::vector<std::string> words;
  for (const auto& [name, known] : known_) {
    const bool is_attribute_default = known.from == kDefault && !IsDimension(name);
    if (known.from != kStated && !is_attribute_default) words.push_back(name + "=" + known.text);
  }
  return words;
}

std::vector<std::string> ShapeSolver::Defaults() const {
  std::vector<std::string> words;
  for (const auto& [name, known] : known_) {
    if (known.from == kDefault && IsDimension(name)) words.push_back(name + "=" + known.text);
  }
  return words;
}

std::vector<std::string> ShapeSolver::UnknownOf(const ExtentFormula& extent) const {
  std::vector<std::string> unknown;
  for (const std::string& name : extent.names) {
    if (!known_.contains(name)) unknown.push_back(name);
  }
  return unknown;
}

// Finds a dimension that is the only unknown of an equation. False if there is none.
bool ShapeSolver::SolveOne() {
  for (const Equation& equation : equations_) {
    const std::vector<std::string> unknown = UnknownOf(equation.extent);
    if (unknown.size() != 1) continue;
    int64_t factor = equation.extent.number;
    for (const std::string& name : equation.extent.names) {
      if (name != unknown[0] && __builtin_mul_overflow(factor, known_.at(name).value, &factor))
        throw Error(operation_.info().name, ": ", name, " is too large");
    }
    if (factor == 0) continue;  // the equation does not give the dimension
    const int64_t product =
        equation.extent.halved ? 2 * equation.size : equation.size - equation.extent.added;
    if (product < 0 || product % factor != 0) {
      throw Error(equation.tensor->name, " has ", equation.size, " for the axis ",
                  equation.extent.text, " of ", TextOf(*equation.tensor),
                  ", expected a multiple of ", factor,
                  equation.extent.added > 0 ? " and 1 more" : "");
    }
    const int64_t value = product / factor;
    known_[unknown[0]] = {value, std::to_string(value), " by " + equation.tensor->name};
    return true;
  }
  return false;
}

// Gives one dimension its default: after that, the equations may give another one.
bool ShapeSolver::SetDefault() {
  const Dimensions before = Values();
  Dimensions after = before;
  BindDefaults(operation_, DimensionsOf(operation_), after);
  for (const auto& [letter, extent] : after) {
    if (before.contains(letter)) continue;
    known_[letter] = {extent, std::to_string(extent), std::string(kDefault)};
    return true;
  }
  return false;
}

Dimensions ShapeSolver::Values() const {
  Dimensions values;
  for (const auto& [name, known] : known_) values[name] = known.value;
  return values;
}

void ShapeSolver::Check(const Equation& equation) const {
  if (!UnknownOf(equation.extent).empty()) return;  // Solve names the unknown dimension
  const ExtentFormula& extent = equation.extent;
  if (Extent(extent.text, Values()) == static_cast<size_t>(equation.size)) return;
  std::string because;
  for (const std::string& name : extent.names) {
    const Known& known = known_.at(name);
    because += because.empty() ? "" : ", ";
    because += name + "=" + known.text + known.from;
  }
  throw Error(equation.tensor->name, " has ", equation.size, " for the axis ", extent.text, " of ",
              TextOf(*equation.tensor), ", but ", because.empty() ? "it is fixed" : because);
}

}  // namespace sextant
