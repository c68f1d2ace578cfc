#include "oracle/property/common_properties.h"

#include <algorithm>
#include <cmath>

#include "reference/number/boost_real.h"
#include "reference/prove/slices.h"

namespace sextant::oracle {
namespace {

// In constant inputs or others.
auto& Found(auto& inputs, const std::string& name) {
  const auto at = std::ranges::find(inputs, name, &NamedTensor::name);
  if (at == inputs.end()) throw Error("there is no input '", name, "'");
  return at->values;
}

bool IsSliced(const Case& c, const std::string& extent) {
  return extent.size() == 1 && IsIndependent(c.operation(), extent[0]);
}

// The tensor with the axes that the operation is cut along in reverse order.
Tensor<double> Reversed(const Case& c, const TensorSpec& spec, const Tensor<double>& tensor) {
  Tensor<double> reversed(tensor.shape);
  std::vector<bool> cut;
  for (const std::string& extent : spec.extents) cut.push_back(IsSliced(c, extent));
  for (size_t flat = 0; flat < tensor.data.size(); ++flat) {
    size_t rest = flat, source = 0, stride = 1;
    for (size_t axis = tensor.shape.size(); axis-- > 0;) {
      const size_t extent = tensor.shape[axis], index = rest % extent;
      source += stride * (cut[axis] ? extent - 1 - index : index);
      stride *= extent;
      rest /= extent;
    }
    reversed.data[flat] = tensor.data[source];
  }
  return reversed;
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

Tensor<double>& In(Tensors& inputs, const std::string& name) { return Found(inputs, name); }

const Tensor<double>& In(const Tensors& inputs, const std::string& name) {
  return Found(inputs, name);
}

Tensor<double> Times(const Tensor<double>& tensor, double factor) {
  Tensor<double> product = tensor;
  for (double& x : product.data) x *= factor;
  return product;
}

// Half an ulp of a normal number is at most 2^-53 of it; the margin is for the digits before.
Measured Nearest(double value) {
  return {value, std::abs(value) * 0x1p-53 * (1 + 0x1p-50) + 0x1p-1074};
}

Measured LogOf(double x) { return Nearest(Log(BoostReal(x)).High()); }

Tensors Multiplied(Tensors inputs, Names names, double factor) {
  for (const char* name : names) In(inputs, name) = Times(In(inputs, name), factor);
  return inputs;
}

Tensors Filled(Tensors inputs, Names names, double value) {
  for (const char* name : names) std::ranges::fill(In(inputs, name).data, value);
  return inputs;
}

Tensors Mapped(Tensors inputs, const std::string& name,
               const std::function<double(double)>& change) {
  for (double& x : In(inputs, name).data) x = change(x);
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

void Same(const Response& a, const Response& b, Findings& findings) {
  for (size_t o = 0; o < a.outputs.size(); ++o) {
    if (!a.Has(o) || !b.Has(o)) continue;
    for (size_t i = 0; i < a.outputs[o].values.data.size(); ++i) {
      findings.Equal(a(o, i), b(o, i), {a, o, i});
    }
  }
}

void Proportional(const Response& y, double factor, const Response& other, Findings& findings,
                  size_t output) {
  for (size_t i = 0; i < y.outputs[output].values.data.size(); ++i) {
    findings.Equal(y(output, i), other(output, i) * factor, {y, output, i});
  }
}

Findings SameAnswer(const Case& c, const Tensors& a, const Tensors& b, const Ask& ask) {
  const Response first = ask(c, a), second = ask(c, b);
  Findings findings;
  for (size_t i = 0; i < first.outputs[0].values.data.size(); ++i) {
    findings.Equal(second(0, i), first(0, i), {second, 0, i});
  }
  return findings;
}

Findings Monotone(const Case& c, const Tensors& inputs, const Ask& ask) {
  Tensors sorted = inputs;
  std::ranges::sort(sorted[0].values.data);
  const Response y = ask(c, sorted);
  Findings findings;
  for (size_t i = 1; i < y.outputs[0].values.data.size(); ++i) {
    findings.AtMost(y(0, i - 1), y(0, i), {y, 0, i});
  }
  return findings;
}

Property OddIn(Names names, std::string sentence) {
  return {"odd", std::move(sentence),
          [names = std::vector<std::string>(names.begin(), names.end())](
              const Case& c, const Tensors& inputs, const Ask& ask) {
            Tensors others = inputs;
            for (const std::string& name : names) In(others, name) = Times(In(inputs, name), -1);
            const Response y = ask(c, inputs), negative = ask(c, others);
            Findings findings;
            for (size_t o = 0; o < y.outputs.size(); ++o) {
              if (y.Has(o) && negative.Has(o)) Proportional(negative, -1, y, findings, o);
            }
            return findings;
          }};
}

Property ColumnsAlike() {
  return {"columns_alike", "columns in reverse order give y in reverse order",
          [](const Case& c, const Tensors& inputs, const Ask& ask) {
            const size_t M = ExtentOf(c, "M");
            Tensors turned = inputs;
            if (M == 0) return Findings();
            for (NamedTensor& input : turned) {
              ReverseBlocks(input.values, input.values.data.size() / M, 1);
            }
            const Response y = ask(c, inputs), other = ask(c, turned);
            Findings findings;
            for (size_t i = 0; i < y.outputs[0].values.data.size(); ++i) {
              findings.Equal(other(0, i / M * M + (M - 1 - i % M)), y(0, i), {y, 0, i});
            }
            return findings;
          }};
}

Property BatchInvariance() {
  return {"batch_invariance", "what else is in the batch changes nothing",
          [](const Case& c, const Tensors& inputs, const Ask& ask) {
            Case alone = c;
            Slice last;
            Findings findings;
            for (const char letter : c.info().slices) {
              if (!IsIndependent(c.operation(), letter)) continue;
              const std::string name(1, letter);
              if (ExtentOf(c, name) == 0) return findings;
              last.ranges[name] = {ExtentOf(c, name) - 1, 1};
              alone = alone.With(name + "=1");
            }
            Tensors part = inputs;
            for (size_t i = 0; i < part.size(); ++i) {
              part[i].values = Take(inputs[i].values, c.info().signature.inputs[i], last);
            }
            const Response whole = ask(c, inputs), single = ask(alone, part);
            for (size_t o = 0; o < whole.outputs.size(); ++o) {
              if (!whole.Has(o) || !single.Has(o)) continue;
              const auto at = IndicesIn(whole.shape(o), c.info().signature.outputs[o], last);
              for (size_t i = 0; i < at.size(); ++i) {
                findings.Equal(whole(o, at[i]), single(o, i), {whole, o, at[i]});
              }
            }
            return findings;
          }};
}

Property PermutationEquivariance() {
  return {"permutation_equivariance", "rows in reverse order are answered in reverse order",
          [](const Case& c, const Tensors& inputs, const Ask& ask) {
            Tensors reversed = inputs;
            for (size_t i = 0; i < inputs.size(); ++i) {
              reversed[i].values = Reversed(c, c.info().signature.inputs[i], inputs[i].values);
            }
            const Response whole = ask(c, inputs);
            Response back = ask(c, reversed);
            for (size_t o = 0; o < back.outputs.size(); ++o) {
              if (!back.Has(o)) continue;
              const TensorSpec& spec = c.info().signature.outputs[o];
              back.outputs[o].values = Reversed(c, spec, back.outputs[o].values);
              back.permitted[o].error = Reversed(c, spec, back.permitted[o].error);
            }
            Findings findings;
            Same(whole, back, findings);
            return findings;
          }};
}

}  // namespace sextant::oracle
