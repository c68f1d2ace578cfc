// The dimensions of a case that its line does not give: what lists of numbers and defaults say.
#pragma once

#include <map>
#include <set>
#include <string>

#include "reference/case/operation.h"
#include "reference/case/signature.h"

namespace sextant {

// The letter of key heads, in every operation that has them.
inline constexpr char kKeyHeads[] = "K";

// A list of numbers, "@position=0,1,8191", gives the last dimension of its tensor an extent unless
// the line gives one. It does so only if every other axis is known to have extent 1: of a tensor
// with several rows the same numbers could be the last axis as well as the whole tensor.
// `specs` has the specification of each input for which the line has one. Returns, for each
// dimension left open because of that doubt, the sentence that an error adds. Throws Error if a
// list is malformed.
std::map<std::string, std::string> BindLists(const Operation& operation,
                                             const std::map<std::string, std::string>& specs,
                                             Dimensions& dimensions);

// Gives every one of `letters` that is still open its default, if it has one: R and E are D, T is
// S, K is H, A is the length of `sections`, B is 1.
void BindDefaults(const Operation& operation, const std::set<std::string>& letters,
                  Dimensions& dimensions);

}  // namespace sextant
