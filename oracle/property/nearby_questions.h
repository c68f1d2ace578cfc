// Questions near another one, whose answers have the same shapes: for subjects that know an answer
// instead of computing it. Whatever they know it by stays, and the answer changes.
#pragma once

#include <optional>
#include <vector>

#include "reference/base/splitmix64.h"
#include "reference/case/case.h"

namespace sextant::oracle {

// `others`, in which the first and the last numbers of each tensor (a quarter of it, at most 64)
// are those of `inputs`.
Tensors WithEndsOf(const Tensors& inputs, Tensors others);

// `inputs`, in which one number of one tensor, chosen at random, is that of `others`; of a large
// tensor one in 2048: a single one may change no bit of the answer.
Tensors WithFewOf(Tensors inputs, const Tensors& others, SplitMix64& random);

// Numbers that may be any of the case's type are in reverse order: the same ones, with equal sums.
Tensors Reversed(const Case& c, Tensors inputs);

// Those numbers times a power of two, another one for each tensor, where all products are exact.
Tensors Scaled(const Case& c, Tensors inputs, SplitMix64& random);

// The case with another value of one attribute, for each attribute, in random order: another
// choice, or a number that no list has. Cases in which it is not valid are left out.
std::vector<Case> WithOneOtherAttribute(const Case& c, SplitMix64& random);

// The case with half or twice as many rows along one axis; its inputs are drawn if those of the
// case do not fit. Empty if there is none, or if an output would have more than 2^22 elements.
enum class Rows { kFewer, kMore };
std::optional<Case> WithOtherRows(const Case& c, Rows rows);

}  // namespace sextant::oracle
