// Functions of the right positions by which implementations take wrong ones, without a number
// that would have to be measured first.
#pragma once

#include <functional>
#include <string>
#include <vector>

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

// Formats, usual numbers, and indices of tokens. `right`: [B,S], in sequences of `length` tokens.
std::vector<PositionFunction> UsualPositionFunctions(const std::vector<double>& right,
                                                     size_t length);

}  // namespace sextant::oracle
