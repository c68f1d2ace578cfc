// Defects of inputs: the right formula on wrong inputs. `input` is its name in the signature.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "oracle/defect/defect.h"

namespace sextant::oracle {

// Changes one input, in every case.
Defect ChangedInput(std::string name, std::string why, std::string input,
                    void (*change)(Tensor<double>&));

// Replaces every element of an input by `value`: a missing weight is 1, a missing bias is 0.
Defect FilledInput(std::string name, std::string why, std::string input, double value);
inline Defect MissingInput(std::string name, std::string why, std::string input) {
  return FilledInput(std::move(name), std::move(why), std::move(input), 0);
}

// ShiftedInput adds `by` to all positions; CountedInput replaces them by 0, 1, 2 .. along the last
// axis.
Defect ShiftedInput(std::string name, std::string why, std::string input, double by);
Defect CountedInput(std::string name, std::string why, std::string input);

// Replaces negative numbers by 0.
Defect ClampedInput(std::string name, std::string why, std::string input);

// Multiplies an input by 2.
Defect DoubledInput(std::string name, std::string why, std::string input);

// Rounds an input to another format.
Defect RoundedInput(std::string name, std::string why, std::string input, DType format);

// Reads the memory of a matrix [rows,columns] as if its shape were [columns,rows].
Defect TransposedInput(std::string name, std::string why, std::string input);

// Exchanges pairs of inputs. Does not apply if the shapes of a pair differ.
using InputPairs = std::vector<std::pair<std::string, std::string>>;
Defect ExchangedInputs(std::string name, std::string why, InputPairs pairs);

// Replaces each `second` by its `first`. Does not apply if the shapes of a pair differ.
Defect RepeatedInputs(std::string name, std::string why, InputPairs pairs);

}  // namespace sextant::oracle
