// Functions of the right positions by which implementations take wrong ones, without a constant
// that would have to be measured first.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "oracle/diagnosis/vocabulary/index_maps.h"

namespace sextant::oracle {

// How much has to be assumed; simpler functions win.
enum class PositionRank { kNothing, kUsualNumber, kAnyNumber };

// A function of the right position p of token s of batch b.
using PositionOf = std::function<double(double p, size_t b, size_t s)>;

struct PositionFunction {
  PositionRank rank;
  std::string name, sentence;
  PositionOf of;
};

// Formats, and indices of tokens. `right`: [B,S], in sequences of `length` tokens.
std::vector<PositionFunction> UsualPositionFunctions(const std::vector<double>& right,
                                                     size_t length);

// Wraps, blocks and divisions by usual numbers: for answers in which the frequencies are wrong too,
// so that no token says which number it is.
std::vector<PositionFunction> PositionFunctionsOfUsualNumbers();
// Multiples of a number.
const std::vector<NamedIndexMap>& PositionsInBlocks();

}  // namespace sextant::oracle
