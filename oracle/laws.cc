#include "oracle/laws.h"

#include <algorithm>

#include "reference/slices.h"

namespace sextant::oracle {
namespace {

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

Tensor<double>& In(Tensors& inputs, const std::string& name) {
  const auto at = std::ranges::find(inputs, name, &NamedTensor::name);
  if (at == inputs.end()) throw Error("there is no input '", name, "'");
  return at->values;
}

Tensor<double> Times(const Tensor<double>& tensor, double factor) {
  Tensor<double> product = tensor;
  for (double& x : product.data) x *= factor;
  return product;
}

void Same(const Response& a, const Response& b, Findings& findings) {
  for (size_t o = 0; o < a.outputs.size(); ++o) {
    if (!a.Has(o) || !b.Has(o)) continue;
    for (size_t i = 0; i < a.outputs[o].values.data.size(); ++i) {
      findings.Equal(a(o, i), b(o, i), {a, o, i});
    }
  }
}

Property AloneAsAmongOthers() {
  return {"alone_as_among_others", "what else is in the batch changes nothing",
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

Property InAnyOrder() {
  return {"in_any_order", "rows in reverse order are answered in reverse order",
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
