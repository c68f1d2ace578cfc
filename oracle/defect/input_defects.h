// Bugs of inputs: the right formula on wrong ones. All of them name inputs as signatures do.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "oracle/defect/defect.h"

namespace sextant::oracle {

// One input changed, whatever the case.
Defect ChangedInput(std::string name, std::string why, std::string input,
                    void (*change)(Tensor<double>&));

// Every element of an input taken for that number: a weight that is not read is 1, a bias 0.
Defect FilledInput(std::string name, std::string why, std::string input, double value);
inline Defect MissingInput(std::string name, std::string why, std::string input) {
  return FilledInput(std::move(name), std::move(why), std::move(input), 0);
}

// Positions that are `by` later, or counted 0, 1, 2 .. along the last axis, whatever was given.
Defect ShiftedInput(std::string name, std::string why, std::string input, double by);
Defect CountedInput(std::string name, std::string why, std::string input);

// Numbers below 0 taken for 0.
Defect ClampedInput(std::string name, std::string why, std::string input);

// Counted twice.
Defect DoubledInput(std::string name, std::string why, std::string input);

// Kept in a format that is not its own.
Defect RoundedInput(std::string name, std::string why, std::string input, DType format);

// The memory of a matrix [rows,columns] read as if it were [columns,rows].
Defect TransposedInput(std::string name, std::string why, std::string input);

// Pairs of inputs in each other's place; not where one would not fit there.
using InputPairs = std::vector<std::pair<std::string, std::string>>;
Defect ExchangedInputs(std::string name, std::string why, InputPairs pairs);

// Each `first` in place of the `second` too; not where it would not fit there.
Defect RepeatedInputs(std::string name, std::string why, InputPairs pairs);

}  // namespace sextant::oracle
