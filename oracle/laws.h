// What the laws of several operations are made of.
#pragma once

#include <string>

#include "oracle/property.h"

namespace sextant::oracle {

// The printed value of an attribute, empty if the operation has none of that name; and of a number.
std::string TextOf(const Case& c, const std::string& attribute);
double NumberOf(const Case& c, const std::string& attribute, double otherwise);
size_t ExtentOf(const Case& c, const std::string& letter);

// The values of the input of that name.
Tensor<double>& In(Tensors& inputs, const std::string& name);
Tensor<double> Times(const Tensor<double>& tensor, double factor);

// Both answers are the same, element by element.
void Same(const Response& a, const Response& b, Findings& findings);

// Laws of every operation that has independent axes (reference/slices.h): what stands last along
// them is answered alone as among the others; in reverse order everything is answered in reverse
// order.
Property AloneAsAmongOthers();
Property InAnyOrder();

}  // namespace sextant::oracle
