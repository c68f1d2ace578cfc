#include "reference/case/signature.h"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <sstream>
#include <utility>

#include "reference/base/error.h"

namespace sextant {
namespace {

TensorSpec ParseTensor(std::string_view word) {
  TensorSpec tensor;
  const size_t open = word.find('[');
  assert(open != word.npos && word.ends_with(']'));
  std::string_view head = word.substr(0, open);
  if (head.ends_with('?')) {
    tensor.optional = true;
    head.remove_suffix(1);
  }
  const size_t colon = head.find(':');
  tensor.name = head.substr(0, colon);
  if (colon != head.npos) {
    const std::string_view role = head.substr(colon + 1);
    constexpr std::pair<std::string_view, Role> kRoles[] = {
        {"i64", Role::kInteger},  {"wide", Role::kWide},   {"real", Role::kReal},
        {"code", Role::kCode},    {"scale", Role::kScale}, {"operand", Role::kOperand},
        {"choice", Role::kChoice}};
    const auto* const at =
        std::ranges::find(kRoles, role, &std::pair<std::string_view, Role>::first);
    assert(at != std::end(kRoles));
    tensor.role = at->second;
  }
  std::istringstream axes{std::string(word.substr(open + 1, word.size() - open - 2))};
  for (std::string axis; std::getline(axes, axis, ',');) tensor.extents.push_back(axis);
  return tensor;
}

}  // namespace

Signature ParseSignature(std::string_view text) {
  Signature signature;
  std::vector<TensorSpec>* side = &signature.inputs;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    if (word == "->") {
      side = &signature.outputs;
    } else {
      side->push_back(ParseTensor(word));
    }
  }
  return signature;
}

DType DTypeOf(Role role, DType of_case) {
  switch (role) {
    case Role::kCase:
    case Role::kOperand:
      return of_case;
    case Role::kInteger:
    case Role::kChoice:
      return DType::kI64;
    case Role::kReal:
      return DType::kF64;
    case Role::kCode:
      return DType::kF8E4M3FN;
    case Role::kWide:
    case Role::kScale:
      break;
  }
  return of_case == DType::kF64 ? DType::kF64 : DType::kF32;
}

std::span<const DType> TypesOf(Role role) {
  if (role == Role::kCode) return kCodeTypes;
  if (role == Role::kScale) return kScaleTypes;
  if (role == Role::kOperand) return kOperandTypes;
  return kTensorTypes;
}

std::vector<std::string> LettersOf(std::string_view extent) {
  std::vector<std::string> letters;
  for (const char c : extent) {
    if (std::isupper(static_cast<unsigned char>(c))) letters.emplace_back(1, c);
  }
  return letters;
}

std::set<std::string> AttributesIn(std::string_view extent) {
  std::set<std::string> names;
  const auto is_lower = [](unsigned char c) { return std::islower(c) != 0; };
  if (std::ranges::none_of(extent, is_lower)) return names;  // the usual case
  std::string name;
  for (const char c : std::string(extent) + " ") {
    if (std::islower(static_cast<unsigned char>(c)) || c == '_') {
      name += c;
    } else if (!name.empty()) {
      names.insert(std::exchange(name, ""));
    }
  }
  return names;
}

const TensorSpec* FindTensor(const Signature& signature, std::string_view name) {
  for (const auto* side : {&signature.inputs, &signature.outputs}) {
    const auto at = std::ranges::find(*side, name, &TensorSpec::name);
    if (at != side->end()) return &*at;
  }
  return nullptr;
}

std::string TextOf(const TensorSpec& tensor) {
  std::string text = tensor.name;
  const char* separator = "[";
  for (const std::string& extent : tensor.extents) {
    text += separator + extent;
    separator = ",";
  }
  return text + (tensor.extents.empty() ? "[]" : "]");
}

ExtentFormula ParseExtent(std::string_view extent) {
  ExtentFormula formula{.text = std::string(extent), .names = {}};
  formula.halved = extent.ends_with("/2");
  formula.added = extent.ends_with("+1") ? 1 : 0;
  if (formula.halved || formula.added > 0) extent.remove_suffix(2);
  while (!extent.empty()) {
    const size_t end = std::min(extent.find('*'), extent.size());
    const std::string factor(extent.substr(0, end));
    extent.remove_prefix(std::min(end + 1, extent.size()));
    if (std::isdigit(static_cast<unsigned char>(factor[0]))) {
      formula.number *= std::stoll(factor);
    } else {
      formula.names.push_back(factor);
    }
  }
  return formula;
}

size_t Extent(std::string_view extent, const Dimensions& dimensions) {
  const bool is_letter = extent.size() == 1 && std::isupper(static_cast<unsigned char>(extent[0]));
  if (is_letter) return static_cast<size_t>(dimensions.at(std::string(extent)));
  const ExtentFormula formula = ParseExtent(extent);
  int64_t product = formula.number;
  for (const std::string& name : formula.names) {
    const int64_t value = dimensions.at(name);
    if (formula.halved && !LettersOf(name).empty() && value % 2 != 0)
      throw Error("dimension ", name, " is ", value, ", expected a multiple of 2");
    if (__builtin_mul_overflow(product, value, &product))
      throw Error("the extent ", extent, " does not fit into 64 bits");
  }
  return static_cast<size_t>(formula.halved ? product / 2 : product + formula.added);
}

Shape ShapeOf(const TensorSpec& tensor, const Dimensions& dimensions) {
  Shape shape;
  for (const std::string& extent : tensor.extents) shape.push_back(Extent(extent, dimensions));
  return shape;
}

}  // namespace sextant
