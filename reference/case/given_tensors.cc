#include "reference/case/given_tensors.h"

#include <algorithm>
#include <numeric>
#include <sstream>

#include "reference/base/error.h"
#include "reference/case/extents.h"

namespace sextant {
namespace {

// The axes in "x (B S H D)"; empty without parentheses. Leaves the name of the tensor.
std::vector<std::string> TakeLayout(std::string& name) {
  std::vector<std::string> axes;
  const size_t open = name.find('(');
  if (open == name.npos) return axes;
  if (!name.ends_with(')')) throw Error("'", name, "': expected ')' at the end");
  std::istringstream in(name.substr(open + 1, name.size() - open - 2));
  for (std::string axis; in >> axis;) axes.push_back(axis);
  name.resize(open);
  while (name.ends_with(' ')) name.pop_back();
  return axes;
}

// The place of each axis of the signature among `axes`, which names those of the tensor.
std::vector<size_t> OrderOf(const TensorSpec& spec, const std::vector<std::string>& axes) {
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto first = std::ranges::find(axes, axes[i]);
    const bool twice = first != axes.begin() + static_cast<ptrdiff_t>(i);
    if (!twice && std::ranges::count(spec.extents, axes[i]) == 1) continue;
    throw Error(spec.name, ": the layout has '", axes[i], twice ? "' twice" : "'",
                ", expected each axis of ", TextOf(spec), " at most once");
  }
  std::vector<size_t> order;
  for (const std::string& extent : spec.extents) {
    const auto at = std::ranges::find(axes, extent);
    order.push_back(at == axes.end() ? kNewAxis : static_cast<size_t>(at - axes.begin()));
  }
  return order;
}

bool HasOnlyAsFirst(const std::string& letter, const TensorSpec& spec) {
  for (size_t i = 1; i < spec.extents.size(); ++i) {
    if (std::ranges::count(LettersOf(spec.extents[i]), letter) > 0) return false;
  }
  return true;
}

bool MayFoldInto(const std::string& letter, const OperationInfo& info) {
  const auto only_first = [&](const TensorSpec& spec) { return HasOnlyAsFirst(letter, spec); };
  return IsDimension(letter) && IsSlice(letter, info) &&
         std::ranges::all_of(info.signature.inputs, only_first) &&
         std::ranges::all_of(info.signature.outputs, only_first);
}

// The axes that are folded into the first one of the signature, that one included.
Shape LeadingAxes(const TensorSpec& spec, const Shape& shape) {
  const size_t others = std::min(shape.size(), std::max<size_t>(spec.extents.size(), 1) - 1);
  return {shape.begin(), shape.end() - static_cast<ptrdiff_t>(others)};
}

Shape WithoutOnes(Shape shape) {
  std::erase(shape, size_t{1});
  return shape;
}

// The names of the leading axes that a layout gives them, without those of extent 1.
std::vector<std::string> NamesOfLeading(const TensorSpec& spec, const GivenTensor& given) {
  const size_t count = LeadingAxes(spec, given.view.shape).size();
  std::vector<std::string> names;
  if (count < 2 || given.axes.names.size() != given.view.shape.size()) return names;
  for (size_t i = 0; i < count; ++i) {
    if (given.view.shape[i] != 1) names.push_back(given.axes.names[i]);
  }
  return names;
}

// The view with a first axis of this extent in place of its `leading` ones, which repeats the rest.
TensorView Repeated(TensorView view, size_t leading, size_t extent) {
  const auto end = static_cast<ptrdiff_t>(leading);
  view.shape.erase(view.shape.begin(), view.shape.begin() + end);
  view.strides.erase(view.strides.begin(), view.strides.begin() + end);
  view.shape.insert(view.shape.begin(), extent);
  view.strides.insert(view.strides.begin(), 0);
  return view;
}

bool IsOfSequences(const TensorSpec& spec) {  // position[B,S]
  return (spec.role == Role::kInteger || spec.role == Role::kReal) && spec.extents.size() > 1 &&
         spec.extents[0] == "B";
}

// The tensor without a layout, or with the name of each axis in it.
GivenTensor ArrangeOne(const OperationInfo& info, const TensorSpec& spec, TensorView view,
                       std::vector<std::string> layout) {
  const size_t rank = spec.extents.size();
  if (!layout.empty() && layout.size() != view.shape.size()) {
    throw Error(spec.name, " has shape ", ToString(view.shape), ", but its layout has ",
                layout.size(), " axes");
  }
  const auto is_one = [](size_t extent) { return extent == 1; };
  const size_t more = view.shape.size() > rank ? view.shape.size() - rank : 0;
  const bool folds =
      more > 0 && rank > 0 &&
      (MayFoldInto(spec.extents[0], info) ||
       std::all_of(view.shape.begin(), view.shape.begin() + static_cast<ptrdiff_t>(more), is_one));
  GivenTensor given{.view = std::move(view), .dtype = {}, .shape = {}, .axes = {}};
  const bool names_all = layout.size() > rank && folds &&
                         std::equal(spec.extents.begin() + 1, spec.extents.end(),
                                    layout.end() - static_cast<ptrdiff_t>(rank - 1));
  std::vector<size_t> place;  // of each axis of the signature among the given ones
  if (!layout.empty() && !names_all) {
    place = OrderOf(spec, layout);
    given.view = Reordered(given.view, place);
  } else if (layout.empty()) {
    const bool lacks_sequences = IsOfSequences(spec) && given.view.shape.size() + 1 == rank;
    layout = spec.extents;
    if (lacks_sequences) layout.erase(layout.begin());
    if (lacks_sequences) given.view = Repeated(given.view, 0, 1);
    if (folds) layout.front().clear();
    if (folds) layout.insert(layout.begin(), more, "");
  }
  given.axes = {given.view.shape, layout, {}};
  for (size_t i = 0; i < layout.size(); ++i) {
    const auto at = std::ranges::find(place, i);
    const size_t added = given.view.shape.size() - std::min(given.view.shape.size(), layout.size());
    given.axes.order.push_back(at == place.end() ? i + (place.empty() ? added : 0)
                                                 : static_cast<size_t>(at - place.begin()));
  }
  given.shape = given.view.shape;
  if (folds && place.empty()) {
    given.shape = Shape(given.shape.begin() + static_cast<ptrdiff_t>(more), given.shape.end());
    given.shape[0] = CountOf(LeadingAxes(spec, given.view.shape));
  }
  return given;
}

void RequireSameLeadingAxes(const Signature& signature, const GivenTensors& given) {
  struct Leading {
    std::string tensor;
    Shape axes;
    std::vector<std::string> names;
  };
  std::map<std::string, Leading> seen;  // by dimension
  for (const auto* side : {&signature.inputs, &signature.outputs}) {
    for (const TensorSpec& spec : *side) {
      const auto at = given.find(spec.name);
      if (at == given.end() || spec.extents.empty()) continue;
      if (at->second.shape.size() != spec.extents.size()) continue;  // the solver refuses it
      const Shape axes = WithoutOnes(LeadingAxes(spec, at->second.view.shape));
      if (IsOfSequences(spec) && axes.empty()) continue;
      const auto names = NamesOfLeading(spec, at->second);
      const auto [first, is_new] = seen.emplace(spec.extents[0], Leading{spec.name, axes, names});
      const Shape& others = first->second.axes;
      const auto& other_names = first->second.names;
      const bool have_names =
          std::ranges::count(names, "") + std::ranges::count(other_names, "") == 0;
      if (have_names && names.size() == other_names.size() && names != other_names) {
        throw Error(spec.name, " has the leading axes", NamesText(names), ", but ",
                    first->second.tensor, " has", NamesText(other_names),
                    ", expected the same order");
      }
      if (is_new || axes == others || std::max(axes.size(), others.size()) < 2) continue;
      throw Error(spec.name, " has the leading axes ", ToString(axes), ", but ",
                  first->second.tensor, " has ", ToString(others), ", expected the same");
    }
  }
}

// Repeats positions of one sequence for every sequence of a batch that another input has.
void RepeatPositions(const Signature& signature, GivenTensors& given) {
  size_t batch = 1;
  std::vector<GivenTensor*> of_one;
  for (const TensorSpec& spec : signature.inputs) {
    const auto at = given.find(spec.name);
    const size_t rank = spec.extents.size();
    if (at == given.end() || rank < 2 || spec.extents[0] != "B") continue;
    GivenTensor& tensor = at->second;
    if (tensor.shape.size() != rank) continue;
    if (!IsOfSequences(spec)) {
      batch = tensor.shape[0];
    } else if (tensor.shape[0] == 1) {
      of_one.push_back(&tensor);
    }
  }
  for (GivenTensor* tensor : of_one) {
    const size_t leading = tensor->view.shape.size() - tensor->shape.size() + 1;
    tensor->view = Repeated(tensor->view, leading, batch);
    tensor->shape = tensor->view.shape;
  }
}

}  // namespace

std::string GivenAxes::PlaceOf(const std::string& tensor, size_t index) const {
  Shape at(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; index /= shape[axis]) at[axis] = index % shape[axis];
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : ",") + names[i] + (names[i].empty() ? "" : "=") +
            std::to_string(at[order[i]]);
  }
  return tensor + "[" + text + "]";
}

GivenTensors Arrange(const OperationInfo& info, std::vector<OwnTensor> tensors) {
  GivenTensors given;
  for (OwnTensor& tensor : tensors) {
    std::vector<std::string> layout = TakeLayout(tensor.name);
    const TensorSpec* spec = FindTensor(info.signature, tensor.name);
    if (!spec) {
      throw Error(info.name, " has no tensor '", tensor.name, "'; its signature is ",
                  info.signature_text);
    }
    const DType dtype = tensor.dtype.value_or(DTypeOf(tensor.view.type));
    const auto [at, is_new] = given.emplace(
        tensor.name, ArrangeOne(info, *spec, std::move(tensor.view), std::move(layout)));
    if (!is_new) throw Error(info.name, ": ", tensor.name, " is given twice");
    at->second.dtype = dtype;
  }
  RequireSameLeadingAxes(info.signature, given);
  RepeatPositions(info.signature, given);
  return given;
}

std::map<std::string, Shape> FoldedAxes(const Signature& signature, const GivenTensors& given) {
  std::map<std::string, Shape> folded;
  for (const auto* side : {&signature.inputs, &signature.outputs}) {
    for (const TensorSpec& spec : *side) {
      const auto at = given.find(spec.name);
      if (at == given.end()) continue;
      const Shape axes = LeadingAxes(spec, at->second.view.shape);
      if (WithoutOnes(axes).size() > 1) folded.emplace(spec.extents[0], axes);
    }
  }
  return folded;
}

}  // namespace sextant
