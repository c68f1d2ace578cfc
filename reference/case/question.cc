#include "reference/case/question.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

#include "reference/case/operations.h"
#include "reference/case/optional_inputs.h"
#include "reference/case/shape_solver.h"

namespace sextant {
namespace {

// The words of a question after the name of its operation.
struct QuestionWords {
  std::string operation, text;
  std::map<std::string, std::string> values;

  const std::string* Find(const std::string& key) const {
    const auto at = values.find(key);
    return at == values.end() ? nullptr : &at->second;
  }
};

QuestionWords WordsOfQuestion(std::string_view text) {
  QuestionWords words;
  std::istringstream in{std::string(text)};
  if (!(in >> words.operation)) throw Error("the question is empty, expected an operation");
  for (std::string word; in >> word;) {
    const auto [key, value] = SplitWord(word);
    if (key == "seed" || key.starts_with('@')) {
      throw Error(words.operation, ": ", key, "= draws inputs, but the inputs are given tensors");
    }
    if (key.starts_with('#')) throw Error(words.operation, ": a question has no comment: ", word);
    words.values[key] = value;
    words.text += " " + word;
  }
  return words;
}

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

// The view with its axes in the order of the signature. `axes` names its axes in memory; an axis of
// the signature that is not among them has extent 1.
TensorView InSignatureOrder(const TensorSpec& spec, const std::vector<std::string>& axes,
                            const TensorView& view) {
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto first = std::ranges::find(axes, axes[i]);
    const bool twice = first != axes.begin() + static_cast<ptrdiff_t>(i);
    if (!twice && std::ranges::count(spec.extents, axes[i]) == 1) continue;
    throw Error(spec.name, ": the layout has '", axes[i], twice ? "' twice" : "'",
                ", expected each axis of ", TextOf(spec), " at most once");
  }
  if (axes.size() != view.shape.size()) {
    throw Error(spec.name, " has shape ", ToString(view.shape), ", but its layout has ",
                axes.size(), " axes");
  }
  std::vector<size_t> order;
  for (const std::string& extent : spec.extents) {
    const auto at = std::ranges::find(axes, extent);
    order.push_back(at == axes.end() ? kNewAxis : static_cast<size_t>(at - axes.begin()));
  }
  return Reordered(view, order);
}

// A given tensor in the layout of the signature.
struct Given {
  TensorView view;
  DType dtype;
};
using GivenTensors = std::map<std::string, Given>;

// Bytes that the question states to be of a type of 8 bits are the bit patterns of its elements.
TensorView OfStatedType(const TensorView& view, const std::string* stated) {
  TensorView typed = view;
  for (const DType dtype : kTensorTypes) {
    if (view.type == ElementType::kU8 && SizeOf(dtype) == 1 && stated && *stated == NameOf(dtype))
      typed.type = ElementTypeOf(dtype);
  }
  return typed;
}

GivenTensors ByName(const OperationInfo& info, const QuestionWords& words,
                    std::vector<OwnTensor> tensors) {
  GivenTensors given;
  for (OwnTensor& tensor : tensors) {
    const std::vector<std::string> axes = TakeLayout(tensor.name);
    tensor.view = OfStatedType(tensor.view, words.Find("dtype." + tensor.name));
    const TensorSpec* spec = FindTensor(info.signature, tensor.name);
    if (!spec) {
      throw Error(info.name, " has no tensor '", tensor.name, "'; its signature is ",
                  info.signature_text);
    }
    const TensorView view = axes.empty() ? tensor.view : InSignatureOrder(*spec, axes, tensor.view);
    if (!given.emplace(tensor.name, Given{view, tensor.dtype.value_or(DTypeOf(view.type))}).second)
      throw Error(info.name, ": ", tensor.name, " is given twice");
  }
  for (const TensorSpec& input : info.signature.inputs) {
    if (input.optional || given.contains(input.name)) continue;
    throw Error(info.name, " needs the input ", input.name, "; its signature is ",
                info.signature_text);
  }
  return given;
}

// Repeats positions [1,...] for every row of a batch that another input has.
void RepeatPositions(const Signature& signature, GivenTensors& given) {
  size_t batch = 1;
  std::vector<TensorView*> of_one_row;
  for (const TensorSpec& spec : signature.inputs) {
    if (!given.contains(spec.name)) continue;
    TensorView& view = given.at(spec.name).view;
    const size_t rank = spec.extents.size();
    if (rank < 2 || spec.extents[0] != "B" || view.shape.size() != rank) continue;
    if (spec.role != Role::kInteger) {
      batch = view.shape[0];
    } else if (view.shape[0] == 1) {
      of_one_row.push_back(&view);
    }
  }
  for (TensorView* view : of_one_row) {
    view->shape[0] = batch;
    view->strides[0] = 0;
  }
}

void CheckKind(const TensorSpec& spec, const Given& given) {
  if (spec.role == Role::kReal) return;
  const bool integers = given.dtype == DType::kI64;
  if (integers == (spec.role == Role::kInteger)) return;
  const std::string bits =
      given.view.type == ElementType::kU8
          ? ", or the bits of a type of 8 bits and its name in dtype." + spec.name + "="
          : "";
  throw Error(spec.name, " holds ", NameOf(given.dtype), ", expected ",
              integers ? "floating-point numbers" + bits : "integers");
}

// The words dtype= and dtype.NAME= for the dtypes that the question does not state. Where the dtype
// of an output is part of the question (bitwise), it is always said.
std::vector<std::string> DTypeWords(const OperationInfo& info, const QuestionWords& words,
                                    const GivenTensors& given) {
  const Signature& signature = info.signature;
  std::vector<std::string> added;
  std::optional<DType> of_case;
  if (const std::string* stated = words.Find("dtype")) of_case = ParseDType(*stated);
  const auto for_each = [&](auto&& visit) {
    for (const auto* side : {&signature.inputs, &signature.outputs}) {
      for (const TensorSpec& spec : *side) {
        const auto at = given.find(spec.name);
        const bool stated = words.Find("dtype." + spec.name) != nullptr;
        if (at != given.end() && !stated) visit(spec, at->second.dtype);
      }
    }
  };
  const auto may_be_of_case = [](DType dtype) {
    return std::ranges::find(kFloatTypes, dtype) != std::end(kFloatTypes);
  };
  for_each([&](const TensorSpec& spec, DType dtype) {
    if (of_case || spec.role != Role::kCase || !may_be_of_case(dtype)) return;
    of_case = dtype;
    added.push_back("dtype=" + std::string(NameOf(dtype)));
  });
  for_each([&](const TensorSpec& spec, DType dtype) {
    const bool has_type_of_case =
        spec.role == Role::kCase && words.Find("dtype") && may_be_of_case(dtype);
    if (spec.role == Role::kInteger || spec.role == Role::kReal || has_type_of_case) return;
    const bool is_said =
        info.bitwise && std::ranges::count(signature.outputs, spec.name, &TensorSpec::name) > 0;
    if (is_said || dtype != DTypeOf(spec.role, of_case.value_or(DType::kF32)))
      added.push_back("dtype." + spec.name + "=" + std::string(NameOf(dtype)));
  });
  return added;
}

// The word with= for the optional inputs that are given; empty if other attributes choose them.
std::string WithWord(const Operation& operation, const GivenTensors& given) {
  std::string names;
  for (const TensorSpec& input : operation.info().signature.inputs) {
    if (input.optional && given.contains(input.name))
      names += (names.empty() ? "" : ",") + input.name;
  }
  return names.empty() || !Case::Has(operation, kWith) ? "" : " with=" + names;
}

// The given inputs must be those of the case.
void CheckInputs(const Case& c, const GivenTensors& given) {
  for (const TensorSpec& input : c.info().signature.inputs) {
    const bool has = std::ranges::count(c.signature().inputs, input.name, &TensorSpec::name) > 0;
    if (has == given.contains(input.name)) continue;
    throw Error(c.name(), has ? " needs the input " : " with these attributes has no input ",
                input.name, "; its signature is ", c.info().signature_text);
  }
}

// The values of a given tensor, as a tensor of `dtype`: its own, or a narrower one that the
// question states, in which all values must be exact.
NamedTensor Read(const std::string& name, const Given& given, DType dtype) {
  NamedTensor tensor{name, dtype, Tensor<double>()};
  try {
    tensor.values = ValuesOf(given.view);
  } catch (const Error& e) {
    throw Error(name, " ", e.what());
  }
  if (dtype == given.dtype) return tensor;
  if (dtype != DType::kF64 && !Contains(given.dtype, dtype)) {
    throw Error(name, " holds ", NameOf(given.dtype), ", but the question states ", NameOf(dtype));
  }
  for (size_t i = 0; i < tensor.values.data.size(); ++i) {
    const double x = tensor.values.data[i];
    if (IsRepresentable(dtype, x)) continue;
    throw Error(IndexText(name, tensor.values.shape, i), " is ", PrintValue(x),
                ", expected a value of ", NameOf(dtype), ", or dtype.", name, "= in the question");
  }
  return tensor;
}

// The tensors that were given for one side of the signature, in its order.
Tensors ReadAll(const Case& c, const std::vector<TensorSpec>& specs, const GivenTensors& given) {
  Tensors tensors;
  for (const TensorSpec& spec : specs) {
    const auto at = given.find(spec.name);
    if (at == given.end()) continue;
    if (c.ShapeOf(spec) != at->second.view.shape) {
      throw Error(spec.name, " has shape ", ToString(at->second.view.shape), ", expected ",
                  ToString(c.ShapeOf(spec)));
    }
    tensors.push_back(Read(spec.name, at->second, c.DTypeOf(spec)));
  }
  return tensors;
}

}  // namespace

std::string Question::Text() const {
  const std::string line = c.ToString();
  return line.substr(0, line.rfind(" seed="));
}

Question ParseQuestion(std::string_view text, std::vector<OwnTensor> tensors) {
  const QuestionWords words = WordsOfQuestion(text);
  const std::unique_ptr<Operation> operation = MakeOperationNamed(words.operation, text);
  const Signature& signature = operation->info().signature;
  GivenTensors given = ByName(operation->info(), words, std::move(tensors));
  RepeatPositions(signature, given);
  ShapeSolver solver(*operation, words.values);
  for (const auto& [name, tensor] : given) {
    const TensorSpec& spec = *FindTensor(signature, name);
    CheckKind(spec, tensor);
    solver.Add(spec, tensor.view.shape);
  }
  solver.Solve();
  std::string line = words.operation + words.text;
  if (!words.Find(kWith)) line += WithWord(*operation, given);
  for (const std::string& word : solver.Solved()) line += " " + word;
  for (const std::string& word : DTypeWords(operation->info(), words, given)) line += " " + word;
  // Values are read last, when all shapes are known to fit.
  Question question{.c = Case::Parse(line), .inputs = {}, .outputs = {}, .defaults = {}};
  CheckInputs(question.c, given);
  question.inputs = ReadAll(question.c, question.c.signature().inputs, given);
  question.outputs = ReadAll(question.c, signature.outputs, given);
  question.defaults = solver.Defaults();
  if (line.find(" dtype=") == line.npos)
    question.defaults.push_back("dtype=" + std::string(NameOf(question.c.dtype())));
  return question;
}

}  // namespace sextant
