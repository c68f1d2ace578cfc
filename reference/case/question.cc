#include "reference/case/question.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

#include "reference/case/aliases.h"
#include "reference/case/operations.h"
#include "reference/case/optional_inputs.h"
#include "reference/case/solved_shapes.h"
#include "reference/case/words_that_read.h"

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

// Bytes that the question states to be of a type of 8 or 4 bits are the bit patterns of its
// elements, unless it is i8. Integers of 8 bits are integers like others where no codes are.
void SetStatedTypes(const Signature& signature, const QuestionWords& words, GivenTensors& given) {
  for (auto& [name, tensor] : given) {
    const std::string* stated = words.Find("dtype." + name);
    if (tensor.dtype == DType::kI8 && !MayBeCodes(FindTensor(signature, name)->role))
      tensor.dtype = DType::kI64;
    if (!stated || tensor.view.type != ElementType::kU8) continue;
    for (const DType dtype : kDTypes) {
      if (SizeOf(dtype) != 1 || dtype == DType::kI8 || *stated != NameOf(dtype)) continue;
      tensor.view.type = ElementTypeOf(dtype);
      tensor.dtype = dtype;
    }
  }
}

void RequireInputs(const OperationInfo& info, const GivenTensors& given) {
  for (const TensorSpec& input : info.signature.inputs) {
    if (input.optional || given.contains(input.name)) continue;
    throw Error(info.name, " needs the input ", input.name, "; its signature is ",
                info.signature_text);
  }
}

void CheckKind(const TensorSpec& spec, const GivenTensor& given) {
  if (spec.role == Role::kReal) return;
  const bool integers = given.dtype == DType::kI64;
  const bool is_byte = given.view.type == ElementType::kU8;   // may be bits or a number
  if (integers && MayBeCodes(spec.role) && !is_byte) return;  // of i8 or i4, which Read checks
  if (integers == (DTypeOf(spec.role, DType::kF32) == DType::kI64)) return;
  const std::string bits =
      given.view.type == ElementType::kU8
          ? ", or the bits of a type of 8 bits and its name in dtype." + spec.name + "="
          : "";
  throw Error(spec.name, " holds ", NameOf(given.dtype), ", expected ",
              integers ? "floating-point numbers" + bits : "integers");
}

void CheckKinds(const Signature& signature, const GivenTensors& given) {
  for (const auto& [name, tensor] : given) CheckKind(*FindTensor(signature, name), tensor);
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
    if (spec.role == Role::kInteger || spec.role == Role::kChoice || spec.role == Role::kReal ||
        has_type_of_case)
      return;
    if (dtype == DType::kI64) dtype = DType::kI8;  // codes
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
    const std::string words = has ? "" : WordsThatRead(c.operation(), input.name);
    throw Error(c.name(), has ? " needs the input " : " with these attributes has no input ",
                input.name, words.empty() ? "" : ", which it reads with " + words,
                "; its signature is ", c.info().signature_text);
  }
}

// The values of a given tensor, as a tensor of `dtype`: its own, or a narrower one that the
// question states, in which all values must be exact. `stated` is its word dtype.NAME=, or null.
NamedTensor Read(const std::string& name, const GivenTensor& given, DType dtype,
                 const std::string* stated) {
  NamedTensor tensor{name, dtype, Tensor<double>()};
  try {
    tensor.values = ValuesOf(given.view);
  } catch (const Error& e) {
    throw Error(name, " ", e.what());
  }
  tensor.values.shape = given.shape;
  if (dtype == given.dtype) return tensor;
  if (dtype != DType::kF64 && !Contains(given.dtype, dtype)) {
    throw Error(name, " holds ", NameOf(given.dtype), ", but the question states ", NameOf(dtype));
  }
  for (size_t i = 0; i < tensor.values.data.size(); ++i) {
    const double x = tensor.values.data[i];
    if (IsRepresentable(dtype, x)) continue;
    throw Error(IndexText(name, given.view.shape, i), " is ", PrintValue(x),
                ", expected a value of ", NameOf(dtype),
                stated ? ", as dtype." + name + "=" + *stated + " says"
                       : ", or dtype." + name + "= in the question");
  }
  return tensor;
}

// The tensors that were given for one side of the signature, in its order.
Tensors ReadAll(const Case& c, const std::vector<TensorSpec>& specs, const GivenTensors& given,
                const QuestionWords& words) {
  Tensors tensors;
  for (const TensorSpec& spec : specs) {
    const auto at = given.find(spec.name);
    if (at == given.end()) continue;
    if (c.ShapeOf(spec) != at->second.shape) {
      throw Error(spec.name, " has shape ", ToString(at->second.shape), ", expected ",
                  ToString(c.ShapeOf(spec)));
    }
    tensors.push_back(
        Read(spec.name, at->second, c.DTypeOf(spec), words.Find("dtype." + spec.name)));
  }
  return tensors;
}

}  // namespace

std::string LineOfQuestion(const Case& c) {
  const std::string line = c.ToString();
  return line.substr(0, line.rfind(" seed="));  // the distributions follow it
}

std::string Question::Text() const { return LineOfQuestion(c); }

Shape Question::OwnShape(const TensorSpec& output) const {
  const auto given = std::ranges::find(outputs, output.name, &NamedTensor::name);
  if (given != outputs.end())
    return output_axes[static_cast<size_t>(given - outputs.begin())].shape;
  Shape shape = c.ShapeOf(output);
  if (output.extents.empty()) return shape;
  const auto axes = folded.find(output.extents[0]);
  if (axes == folded.end()) return shape;
  shape.erase(shape.begin());
  shape.insert(shape.begin(), axes->second.begin(), axes->second.end());
  return shape;
}

Question ParseQuestion(std::string_view text, const std::vector<OwnTensor>& tensors) {
  LineInOurWords ours = InOurWords(text);
  const QuestionWords words = WordsOfQuestion(ours.line);
  const std::unique_ptr<Operation> operation = MakeOperationNamed(words.operation, ours.line);
  const Signature& signature = operation->info().signature;
  GivenTensors given = Arrange(operation->info(), tensors);
  SetStatedTypes(signature, words, given);
  RequireInputs(operation->info(), given);
  CheckKinds(signature, given);
  const ShapeSolver solver = SolvedShapes(*operation, words.values, given, tensors);
  std::string line = words.operation + words.text;
  if (!words.Find(kWith)) line += WithWord(*operation, given);
  for (const std::string& word : solver.Solved()) line += " " + word;
  for (const std::string& word : DTypeWords(operation->info(), words, given)) line += " " + word;
  // Values are read last, when all shapes are known to fit.
  Question question{.c = Case::Parse(line), .inputs = {}, .outputs = {}, .defaults = {}};
  CheckInputs(question.c, given);
  question.inputs = ReadAll(question.c, question.c.signature().inputs, given, words);
  question.outputs = ReadAll(question.c, signature.outputs, given, words);
  for (const NamedTensor& output : question.outputs)
    question.output_axes.push_back(given.at(output.name).axes);
  question.folded = FoldedAxes(signature, given);
  question.notes = std::move(ours.notes);
  question.defaults = solver.Defaults();
  if (line.find(" dtype=") == line.npos)
    question.defaults.push_back("dtype=" + std::string(NameOf(question.c.dtype())));
  return question;
}

}  // namespace sextant
