// Helpers for properties, and properties that several operations share.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>

#include "oracle/property/property.h"

namespace sextant::oracle {

// The printed value of an attribute; empty if the operation has no such attribute.
std::string TextOf(const Case& c, const std::string& attribute);
// The value of a numeric attribute; `otherwise` if it is not set or does not exist.
double NumberOf(const Case& c, const std::string& attribute, double otherwise);
size_t ExtentOf(const Case& c, const std::string& letter);

// The case with a numeric attribute multiplied by `factor`; `otherwise` is its value if not set.
Case Multiplied(const Case& c, const std::string& attribute, double factor, double otherwise = 0);

bool HasInput(const Tensors& inputs, const std::string& name);
// The values of the input of that name. Throws Error if there is none.
Tensor<double>& In(Tensors& inputs, const std::string& name);
const Tensor<double>& In(const Tensors& inputs, const std::string& name);
Tensor<double> Times(const Tensor<double>& tensor, double factor);

// A double that was rounded once to nearest, from many more digits: its error is half an ulp.
Measured Nearest(double value);
// ln x. Precondition: x > 0.
Measured LogOf(double x);

// Copies of the inputs in which the named inputs are changed: multiplied by `factor` (exact for a
// power of two), filled with one value, or with `change` applied to every element.
using Names = std::initializer_list<const char*>;
Tensors Multiplied(Tensors inputs, Names names, double factor);
Tensors Filled(Tensors inputs, Names names, double value);
Tensors Mapped(Tensors inputs, const std::string& name,
               const std::function<double(double)>& change);

// Reverses the order of the blocks of `width` elements in each of `rows` rows.
void ReverseBlocks(Tensor<double>& tensor, size_t rows, size_t width);

// Adds to the findings: both answers are equal, element by element.
void Same(const Response& a, const Response& b, Findings& findings);

// Adds to the findings: one output of y is `factor` times the same output of `other`.
void Proportional(const Response& y, double factor, const Response& other, Findings& findings,
                  size_t output = 0);

// Checks that the first output is the same for both inputs.
Findings SameAnswer(const Case& c, const Tensors& a, const Tensors& b, const Ask& ask);

// Checks that a function of one input is monotone: x in ascending order gives y in ascending order.
Findings Monotone(const Case& c, const Tensors& inputs, const Ask& ask);

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
