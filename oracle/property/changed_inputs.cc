#include "oracle/property/changed_inputs.h"

#include <algorithm>

#include "reference/base/error.h"
#include "reference/base/value_text.h"

namespace sextant::oracle {
namespace {

// The values of an input, of const or non-const Tensors.
auto& Found(auto& inputs, const std::string& name) {
  const auto at = std::ranges::find(inputs, name, &NamedTensor::name);
  if (at == inputs.end()) throw Error("there is no input '", name, "'");
  return at->values;
}

}  // namespace

std::string TextOf(const Case& c, const std::string& attribute) {
  for (const Attribute& a : c.operation().Attributes()) {
    if (a.name == attribute) return a.text;
  }
  return "";
}

double NumberOf(const Case& c, const std::string& attribute, double otherwise) {
  const std::string text = TextOf(c, attribute);
  double number = otherwise;
  if (!text.empty()) ParseValue(text, number);
  return number;
}

size_t ExtentOf(const Case& c, const std::string& letter) {
  return static_cast<size_t>(c.dimensions().at(letter));
}

Case Multiplied(const Case& c, const std::string& attribute, double factor, double otherwise) {
  return c.With(attribute + "=" + PrintValue(factor * NumberOf(c, attribute, otherwise)));
}

bool HasInput(const Tensors& inputs, const std::string& name) {
  return std::ranges::find(inputs, name, &NamedTensor::name) != inputs.end();
}

Tensor<double>& InputNamed(Tensors& inputs, const std::string& name) { return Found(inputs, name); }

const Tensor<double>& InputNamed(const Tensors& inputs, const std::string& name) {
  return Found(inputs, name);
}

Tensor<double> Times(const Tensor<double>& tensor, double factor) {
  Tensor<double> product = tensor;
  for (double& x : product.data) x *= factor;
  return product;
}

Tensors Multiplied(Tensors inputs, Names names, double factor) {
  for (const char* name : names) InputNamed(inputs, name) = Times(InputNamed(inputs, name), factor);
  return inputs;
}

Tensors Filled(Tensors inputs, Names names, double value) {
  for (const char* name : names) std::ranges::fill(InputNamed(inputs, name).data, value);
  return inputs;
}

Tensors Mapped(Tensors inputs, const std::string& name,
               const std::function<double(double)>& change) {
  for (double& x : InputNamed(inputs, name).data) x = change(x);
  return inputs;
}

void ReverseBlocks(Tensor<double>& tensor, size_t rows, size_t width) {
  const std::vector<double> from = tensor.data;
  const size_t row = rows == 0 ? 0 : from.size() / rows;
  for (size_t i = 0; i < from.size(); ++i) {
    const size_t column = i % row, block = column / width, blocks = row / width;
    tensor.data[i - column + (blocks - 1 - block) * width + column % width] = from[i];
  }
}

}  // namespace sextant::oracle
