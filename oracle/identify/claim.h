// Claims: what a black box may compute. A claim is the text of each attribute of an operation,
// which a search varies: other names, and other numbers inside of the texts.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "reference/case/case.h"

namespace sextant::oracle {

// Attribute, or dimension that shapes no tensor (the rotary width R), to its text; an empty text
// unsets an attribute.
using Claim = std::map<std::string, std::string>;

// The claim of a case, without the attributes in `fixed`.
Claim ClaimOf(const Case& c, const std::set<std::string>& fixed = {});
std::vector<std::string> WordsOf(const Claim& claim);  // "base=10000"

// More numbers than these are not fitted: a list of measured numbers.
inline constexpr size_t kMostFitted = 16;

// The texts of a claim without their digits: the same for claims that differ in numbers only.
std::string FormOf(const Claim& claim);

// A number in the text of an attribute: "8" in "llama3(factor=8)".
struct NumberSlot {
  std::string attribute;
  size_t begin, length;  // characters of the text
  double value;
  bool is_integer;  // no other numbers are valid there
};
// "eps", or "scaling.factor" for a number of a scaling.
std::string NameOf(const NumberSlot& slot, const Claim& claim);
// The numbers of the claim. `c` says which of them must be integers.
std::vector<NumberSlot> SlotsOf(const Claim& claim, const Case& c);
// The claim with another number there, and with the values of all its slots.
Claim WithNumber(const Claim& claim, const NumberSlot& slot, double value);
Claim WithNumbers(Claim claim, const std::vector<NumberSlot>& slots);

// Claims that differ in one attribute: every name that it may have, every choice that the operation
// lists, and other numbers, from near ones to others by orders of magnitude. Some may be invalid
// for the case.
std::vector<Claim> VariationsOf(const Claim& claim, const Case& c);
// Claims that differ in one or two attributes whose values are names: few, but the numbers that fit
// them may be far from those of the claim.
std::vector<Claim> NamedVariationsOf(const Claim& claim, const Case& c);

// All combinations of the names that attributes may have, each with every listed choice of one
// attribute that is a number.
std::vector<Claim> CombinationsOf(const Claim& claim, const Case& c);

// Claims that differ in two attributes, of which one is a name or a single integer and the other
// that or a number: a window and its offset, or a window and a base, show only together.
std::vector<Claim> PairedVariationsOf(const Claim& claim, const Case& c);

}  // namespace sextant::oracle
