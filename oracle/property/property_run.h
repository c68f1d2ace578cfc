// Checks properties on random cases. RapidCheck draws the cases and shrinks counterexamples; a
// counterexample is a case line.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "oracle/property/property.h"

namespace sextant::oracle {

// The result for one property.
struct PropertyVerdict {
  std::string name, sentence;
  enum class Status { kHolds, kBroken, kDeclined, kCouldNotRun } status = Status::kHolds;
  size_t cases = 0;            // cases to which the property applies
  size_t declined = 0;         // further cases, which the subject declined
  std::string counterexample;  // a case line, shrunk
  std::string detail;
};
struct PropertyOptions {
  uint64_t seed = 1;
  int count = 100;  // random cases per property; the subject may decline ten times as many
  std::set<std::string> only = {};  // names of the properties to check; empty: all
};
std::vector<PropertyVerdict> CheckEach(const std::vector<Property>& properties,
                                       const Operation& operation, const Subject& subject,
                                       const std::string& recipe, const PropertyOptions& options);

}  // namespace sextant::oracle
