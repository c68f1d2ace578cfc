// Dimensions that a case line does not give: they follow from lists of numbers or have defaults.
#pragma once

#include <map>
#include <set>
#include <string>

#include "reference/case/operation.h"
#include "reference/case/signature.h"

namespace sextant {

// The letter of the number of key heads, in every operation.
inline constexpr char kKeyHeads[] = "K";

// The number that the value of an attribute stands for in extents (`2*clip+1`, `layout*R/2`): an
// integer stands for itself, a layout of a table for the columns of each pair. Throws Error for any
// other text.
int64_t NumberInExtents(const std::string& value);

// The letters of all dimensions of an operation: those in its shapes, and its own.
std::set<std::string> DimensionsOf(const Operation& operation);

// A list of numbers, "@position=0,1,8191", gives the last dimension of its tensor an extent, unless
// the line gives one. This needs every other axis to have extent 1: for a tensor with several rows
// the same numbers could be either the last axis or the whole tensor. `specs` has the specs of the
// inputs that the line gives. Returns, for each dimension that stays unknown because of this
// ambiguity, the text that the error message adds. Throws Error if a list is malformed.
std::map<std::string, std::string> BindLists(const Operation& operation,
                                             const std::map<std::string, std::string>& specs,
                                             Dimensions& dimensions);

// Gives each of `letters` without an extent its default, if it has one: R and E are D, T is S, K is
// H, A is the length of `sections`, B is 1.
void BindDefaults(const Operation& operation, const std::set<std::string>& letters,
                  Dimensions& dimensions);

// The default of a dimension for readers: "1", "D", "(length of sections)"; empty if it has none.
std::string DefaultText(const Operation& operation, const std::string& letter);

}  // namespace sextant
