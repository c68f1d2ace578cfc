#include "oracle/defect/input_defects.h"

#include <algorithm>

#include "oracle/property/changed_inputs.h"

namespace sextant::oracle {
namespace {

bool AllFit(Tensors& inputs, const InputPairs& pairs) {
  return std::ranges::all_of(pairs, [&](const auto& pair) {
    return InputNamed(inputs, pair.first).shape == InputNamed(inputs, pair.second).shape;
  });
}

std::vector<std::string> NamesIn(const InputPairs& pairs) {
  std::vector<std::string> names;
  for (const auto& [a, b] : pairs) names.insert(names.end(), {a, b});
  return names;
}

}  // namespace

Defect ChangedInput(std::string name, std::string why, std::string input,
                    void (*change)(Tensor<double>&)) {
  return ChangedInputs(std::move(name), std::move(why), {input},
                       [input, change](const Case&, Tensors& inputs) {
                         change(InputNamed(inputs, input));
                         return true;
                       });
}

Defect FilledInput(std::string name, std::string why, std::string input, double value) {
  return ChangedInputs(std::move(name), std::move(why), {input},
                       [input, value](const Case&, Tensors& inputs) {
                         std::ranges::fill(InputNamed(inputs, input).data, value);
                         return true;
                       });
}

Defect ShiftedInput(std::string name, std::string why, std::string input, double by) {
  return ChangedInputs(std::move(name), std::move(why), {input},
                       [input, by](const Case&, Tensors& inputs) {
                         for (double& p : InputNamed(inputs, input).data) p += by;
                         return true;
                       });
}

Defect CountedInput(std::string name, std::string why, std::string input) {
  return ChangedInput(std::move(name), std::move(why), std::move(input),
                      [](Tensor<double>& position) {
                        for (size_t i = 0; i < position.data.size(); ++i) {
                          position.data[i] = static_cast<double>(i % position.shape.back());
                        }
                      });
}

Defect ClampedInput(std::string name, std::string why, std::string input) {
  return ChangedInputs(std::move(name), std::move(why), {input},
                       [input](const Case&, Tensors& inputs) {
                         Tensor<double>& tensor = InputNamed(inputs, input);
                         const std::vector<double> before = tensor.data;
                         for (double& x : tensor.data) x = std::max(x, 0.0);
                         return tensor.data != before;
                       });
}

Defect DoubledInput(std::string name, std::string why, std::string input) {
  return ChangedInput(std::move(name), std::move(why), std::move(input),
                      [](Tensor<double>& tensor) { tensor = Times(tensor, 2); });
}

Defect RoundedInput(std::string name, std::string why, std::string input, DType format) {
  return ChangedInputs(std::move(name), std::move(why), {input},
                       [input, format](const Case&, Tensors& inputs) {
                         Tensor<double>& tensor = InputNamed(inputs, input);
                         const std::vector<double> before = tensor.data;
                         for (double& x : tensor.data) x = RoundTo(format, x);
                         return tensor.data != before;
                       });
}

Defect TransposedInput(std::string name, std::string why, std::string input) {
  return ChangedInputs(std::move(name), std::move(why), {input},
                       [input](const Case&, Tensors& inputs) {
                         Tensor<double>& matrix = InputNamed(inputs, input);
                         const Tensor<double> memory = matrix;
                         const size_t rows = matrix.shape[0], columns = matrix.shape[1];
                         for (size_t i = 0; i < memory.data.size(); ++i) {
                           matrix.data[i] = memory.data[i % columns * rows + i / columns];
                         }
                         return rows > 1 && columns > 1;
                       });
}

Defect ExchangedInputs(std::string name, std::string why, InputPairs pairs) {
  return ChangedInputs(std::move(name), std::move(why), NamesIn(pairs),
                       [pairs](const Case&, Tensors& inputs) {
                         if (!AllFit(inputs, pairs)) return false;
                         for (const auto& [a, b] : pairs)
                           std::swap(InputNamed(inputs, a), InputNamed(inputs, b));
                         return true;
                       });
}

Defect RepeatedInputs(std::string name, std::string why, InputPairs pairs) {
  return ChangedInputs(std::move(name), std::move(why), NamesIn(pairs),
                       [pairs](const Case&, Tensors& inputs) {
                         if (!AllFit(inputs, pairs)) return false;
                         for (const auto& [a, b] : pairs)
                           InputNamed(inputs, b) = InputNamed(inputs, a);
                         return true;
                       });
}

}  // namespace sextant::oracle
