// Properties that several operations share, and comparisons of whole answers.
#pragma once

#include <functional>
#include <string>

#include "oracle/property/changed_inputs.h"
#include "oracle/property/property.h"

namespace sextant::oracle {

// Compares two answers, element by element: they must be equal.
void ExpectEqual(const Response& a, const Response& b, Comparisons& comparisons);

// Compares one output of y with `factor` times the same output of `other`.
void ExpectProportional(const Response& y, double factor, const Response& other,
                        Comparisons& comparisons, size_t output = 0);

// Checks that every element i of the first output of y is expected(i).
Comparisons EachEqual(const Response& y, const std::function<Measured(size_t i)>& expected);

// Checks that the first output is the same for both inputs.
Comparisons SameAnswer(const Case& c, const Tensors& a, const Tensors& b, const Ask& ask);

// Checks that a function of one input is monotone: x in ascending order gives y in ascending order.
Comparisons Monotone(const Case& c, const Tensors& inputs, const Ask& ask);

// Property: if the sign of these inputs changes, the sign of every output changes.
Property OddIn(Names names, std::string sentence);

// Property of operations on rows of M columns: if the columns of all inputs are reversed, the
// columns of y are reversed.
Property ColumnsAlike();

// Properties of every operation with independent axes (reference/prove/slices.h).
// BatchInvariance: the last slice along these axes has the same answer alone as in the batch.
// PermutationEquivariance: inputs in reverse order along these axes give outputs in reverse order.
Property BatchInvariance();
Property PermutationEquivariance();

}  // namespace sextant::oracle
