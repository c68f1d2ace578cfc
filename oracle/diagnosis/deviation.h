// Deviations with a number, fitted to an answer: the number that an implementation uses instead of
// the right one, or two of them.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

struct NamedValue {
  double value = 0;
  std::string text = {};  // as in the sentence: "0.125 = 1/sqrt(64)"; empty: the number alone
};

// A family of wrong computations. Each is right but for one number.
struct Deviation {
  std::string name;                // "scale_changed"
  std::string factor;              // at most one deviation of a factor is applied
  std::vector<NamedValue> values;  // numbers that implementations use, the most likely first
  // The right number, if every other real number is possible too. A number that rounding to bf16
  // could make of it is no deviation but a precision.
  double right = std::numeric_limits<double>::quiet_NaN();
  bool is_integer = false;  // of the numbers between
  // `base` with the number; empty if the number is not valid in this case.
  std::function<std::optional<Hypothesis>(const Hypothesis& base, double value)> changed;
  std::function<std::string(const std::string& number)> sentence;
  // Instead of values: the deviations, each of one value, that a measurement relative to `base`
  // finds in the answer.
  std::function<std::vector<Deviation>(const Hypothesis& base)> measured = nullptr;
  size_t cost = 0;  // of this measurement, in evaluations of a slice
};

// The numbers with which one deviation explains the answer, or two of different factors if none
// does. Numbers are fitted to half of the failing slices, and tested on the rest and on some slices
// that conform. Empty if nothing explains all of them. `base` is the right computation. Deducts the
// evaluations of pairs from those that are left.
// `alone`: rare deviations, which are tried after the others alone, and are in no pair.
std::vector<Explanation> FittedTo(const Observation& seen, const Hypothesis& base,
                                  const std::vector<Deviation>& deviations,
                                  const std::vector<Deviation>& alone = {});

// The right computation, of which every other is a change.
Hypothesis RightOf(const Observation& seen);

// The computation with other attributes, names and texts; empty if they are not valid,
// or if a shape depends on them.
using AttributeTexts = std::vector<std::pair<std::string, std::string>>;
std::optional<Hypothesis> WithAttributes(const Hypothesis& base, const AttributeTexts& texts);

// The case whose formula is `operation`: that of `c` with other attributes.
Case CaseOf(const Case& c, const Operation& operation);

}  // namespace sextant::oracle
