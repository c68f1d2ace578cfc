#include "oracle/defect/input_defects.h"

#include <algorithm>

#include "oracle/property/changed_inputs.h"

namespace sextant::oracle {
namespace {

size_t IndexOf(const Tensors& inputs, const std::string& name) {
  return static_cast<size_t>(std::ranges::find(inputs, name, &NamedTensor::name) - inputs.begin());
}

// Input `to` has the numbers of input `from`, which are read there: nothing is copied.
SharedInputs WithNumbersOf(const SharedInputs& inputs, const Tensors& of_case,
                           const std::string& to, const std::string& from) {
  const std::vector<double>& numbers = InputNamed(of_case, from).data;
  return inputs.Changed(IndexOf(of_case, to),
                        [&numbers](size_t flat, double) { return numbers[flat]; });
}

// The second input of each pair has the numbers of the first one; if `both`, the first has those of
// the second, too.
Defect WithOthers(std::string name, std::string why, InputPairs pairs, bool both) {
  return {
      std::move(name), std::move(why),
      [=](const Case& c, const Tensors& inputs, const Recipe& recipe) -> std::optional<Hypothesis> {
        SharedInputs changed = SharedInputs::Of(inputs);
        for (const auto& [a, b] : pairs) {
          if (!HasInput(inputs, a) || !HasInput(inputs, b)) return std::nullopt;
          if (InputNamed(inputs, a).shape != InputNamed(inputs, b).shape) return std::nullopt;
          changed = WithNumbersOf(changed, inputs, b, a);
          if (both) changed = WithNumbersOf(changed, inputs, a, b);
        }
        return Hypothesis{c.operation().Clone(), std::move(changed), recipe};
      }};
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
  return WithOthers(std::move(name), std::move(why), std::move(pairs), true);
}

Defect RepeatedInputs(std::string name, std::string why, InputPairs pairs) {
  return WithOthers(std::move(name), std::move(why), std::move(pairs), false);
}

}  // namespace sextant::oracle
