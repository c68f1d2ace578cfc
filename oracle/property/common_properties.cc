#include "oracle/property/common_properties.h"

#include <algorithm>

#include "reference/prove/slices.h"

namespace sextant::oracle {
namespace {

bool IsSliced(const Case& c, const std::string& extent) {
  return extent.size() == 1 && IsIndependent(c.operation(), extent[0]);
}

// The tensor in reverse order along the independent axes of the operation.
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

void ExpectEqual(const Response& a, const Response& b, Comparisons& comparisons) {
  for (size_t o = 0; o < a.outputs.size(); ++o) {
    if (!a.Has(o) || !b.Has(o)) continue;
    for (size_t i = 0; i < a.size(o); ++i) {
      comparisons.Equal(a(o, i), b(o, i), {a, o, i});
    }
  }
}

void ExpectProportional(const Response& y, double factor, const Response& other,
                        Comparisons& comparisons, size_t output) {
  for (size_t i = 0; i < y.size(output); ++i) {
    comparisons.Equal(y(output, i), other(output, i) * factor, {y, output, i});
  }
}

Comparisons EachEqual(const Response& y, const std::function<Measured(size_t i)>& expected) {
  Comparisons comparisons;
  for (size_t i = 0; i < y.size(); ++i) comparisons.Equal(y(0, i), expected(i), {y, 0, i});
  return comparisons;
}

Comparisons SameAnswer(const Case& c, const Tensors& a, const Tensors& b, const Ask& ask) {
  const Response first = ask(c, a), second = ask(c, b);
  return EachEqual(second, [&](size_t i) { return first(0, i); });
}

Comparisons Monotone(const Case& c, const Tensors& inputs, const Ask& ask) {
  Tensors sorted = inputs;
  std::ranges::sort(sorted[0].values.data);
  const Response y = ask(c, sorted);
  Comparisons comparisons;
  for (size_t i = 1; i < y.size(); ++i) {
    comparisons.AtMost(y(0, i - 1), y(0, i), {y, 0, i});
  }
  return comparisons;
}

Property OddIn(Names names, std::string sentence) {
  return {"odd", std::move(sentence),
          [names = std::vector<std::string>(names.begin(), names.end())](
              const Case& c, const Tensors& inputs, const Ask& ask) {
            Tensors negated = inputs;
            for (const std::string& name : names)
              InputNamed(negated, name) = Times(InputNamed(inputs, name), -1);
            const Response y = ask(c, inputs), negative = ask(c, negated);
            Comparisons comparisons;
            for (size_t o = 0; o < y.outputs.size(); ++o) {
              if (y.Has(o) && negative.Has(o)) ExpectProportional(negative, -1, y, comparisons, o);
            }
            return comparisons;
          }};
}

Property ColumnsAlike() {
  return {"columns_alike", "columns in reverse order give y in reverse order",
          [](const Case& c, const Tensors& inputs, const Ask& ask) {
            const size_t M = ExtentOf(c, "M");
            Tensors reversed = inputs;
            if (M == 0) return Comparisons();
            for (NamedTensor& input : reversed) {
              ReverseBlocks(input.values, input.values.data.size() / M, 1);
            }
            const Response y = ask(c, inputs), other = ask(c, reversed);
            return EachEqual(y, [&](size_t i) { return other(0, i / M * M + (M - 1 - i % M)); });
          }};
}

Property BatchInvariance() {
  return {"batch_invariance", "an answer does not depend on the rest of the batch",
          [](const Case& c, const Tensors& inputs, const Ask& ask) {
            Case alone = c;
            Slice last;
            Comparisons comparisons;
            for (const char letter : c.info().slices) {
              if (!IsIndependent(c.operation(), letter)) continue;
              const std::string name(1, letter);
              if (ExtentOf(c, name) == 0) return comparisons;
              last.ranges[name] = {ExtentOf(c, name) - 1, 1};
              alone = alone.With(name + "=1");
            }
            Tensors part = inputs;
            for (size_t i = 0; i < part.size(); ++i) {
              part[i].values = ExtractSlice(inputs[i].values, c.signature().inputs[i], last);
            }
            const Response whole = ask(c, inputs), single = ask(alone, part);
            for (size_t o = 0; o < whole.outputs.size(); ++o) {
              if (!whole.Has(o) || !single.Has(o)) continue;
              const auto at = IndicesIn(whole.shape(o), c.info().signature.outputs[o], last);
              for (size_t i = 0; i < at.size(); ++i) {
                comparisons.Equal(whole(o, at[i]), single(o, i), {whole, o, at[i]});
              }
            }
            return comparisons;
          }};
}

Property PermutationEquivariance() {
  return {"permutation_equivariance", "inputs in reverse order give outputs in reverse order",
          [](const Case& c, const Tensors& inputs, const Ask& ask) {
            Tensors reversed = inputs;
            for (size_t i = 0; i < inputs.size(); ++i) {
              reversed[i].values = Reversed(c, c.signature().inputs[i], inputs[i].values);
            }
            const Response whole = ask(c, inputs);
            Response back = ask(c, reversed);
            for (size_t o = 0; o < back.outputs.size(); ++o) {
              if (!back.Has(o)) continue;
              const TensorSpec& spec = c.info().signature.outputs[o];
              back.outputs[o].values = Reversed(c, spec, back.outputs[o].values);
              back.permitted[o].error = Reversed(c, spec, back.permitted[o].error);
            }
            Comparisons comparisons;
            ExpectEqual(whole, back, comparisons);
            return comparisons;
          }};
}

}  // namespace sextant::oracle
