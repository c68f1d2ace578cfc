// What the properties of several operations are made of.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>

#include "oracle/property/property.h"

namespace sextant::oracle {

// The printed value of an attribute, empty if the operation has none of that name; and of a number.
std::string TextOf(const Case& c, const std::string& attribute);
double NumberOf(const Case& c, const std::string& attribute, double otherwise);
size_t ExtentOf(const Case& c, const std::string& letter);

// The case with `factor` times a number among its attributes; `otherwise` where it has none.
Case Multiplied(const Case& c, const std::string& attribute, double factor, double otherwise = 0);

bool HasInput(const Tensors& inputs, const std::string& name);
// The values of the input of that name.
Tensor<double>& In(Tensors& inputs, const std::string& name);
const Tensor<double>& In(const Tensors& inputs, const std::string& name);
Tensor<double> Times(const Tensor<double>& tensor, double factor);

// A number that was rounded to the nearest double, once, from many more digits: half an ulp off.
Measured Nearest(double value);
// Of a number above 0.
Measured LogOf(double x);

// The same inputs, but for those of these names: multiplied, which a power of two does exactly, or
// all of one value; or but for one, every element changed.
using Names = std::initializer_list<const char*>;
Tensors Multiplied(Tensors inputs, Names names, double factor);
Tensors Filled(Tensors inputs, Names names, double value);
Tensors Mapped(Tensors inputs, const std::string& name,
               const std::function<double(double)>& change);

// Of each of `rows` rows the blocks of `width` elements in reverse order.
void ReverseBlocks(Tensor<double>& tensor, size_t rows, size_t width);

// Both answers are the same, element by element.
void Same(const Response& a, const Response& b, Findings& findings);

// One output of y is `factor` times that of another answer.
void Proportional(const Response& y, double factor, const Response& other, Findings& findings,
                  size_t output = 0);

// The first output is the same for both inputs.
Findings SameAnswer(const Case& c, const Tensors& a, const Tensors& b, const Ask& ask);

// A property of what has one input and never falls: x in rising order gives y in rising order.
Findings Monotone(const Case& c, const Tensors& inputs, const Ask& ask);

// These inputs with the other sign give every output with the other sign.
Property OddIn(Names names, std::string sentence);

// Of matrices and rows of M columns: all inputs in reverse order of columns give y so.
Property ColumnsAlike();

// Properties of every operation that has independent axes (reference/prove/slices.h): what stands
// last along them is answered alone as among the others; in reverse order everything is answered in
// reverse order.
Property BatchInvariance();
Property PermutationEquivariance();

}  // namespace sextant::oracle
