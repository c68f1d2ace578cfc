// The causes that explain an answer alone: listed defects, and what the operation's measurements
// found.
#pragma once

#include <vector>

#include "oracle/diagnosis/evidence.h"
#include "oracle/judge/judge.h"
#include "reference/number/tensor/dtype.h"

namespace sextant::oracle {

// The distance per element of the nearest of the recipes that explain the answer; infinite if none
// does, or if only the trace fails: then the answer as a whole hardly tells a precision from a bug.
double DistanceOfPrecision(const Observation& seen, const std::vector<Recipe>& recipes,
                           Evidence& evidence);

// The listed defects that explain the answer (Comparison, oracle/diagnosis/prediction.h). The
// nearest come first, then those that are more than twice as far; each group is in the order of the
// catalog. Without those that are more than twice as far as `precision`, the distance per element
// of something else that explains the answer: of few failing elements some defect says the right
// numbers by accident. So if few elements fail and one of `conforming` explains them, only those of
// these recipes are causes.
std::vector<Cause> ListedCauses(const Observation& seen, Evidence& evidence,
                                double precision = kInfinity,
                                const std::vector<Recipe>& conforming = {});

struct MeasuredFits {
  std::vector<Cause> causes;     // whose models explain the answer
  double nearest = kInfinity;    // the least distance per element
  std::vector<Cause> described;  // measured without a model; said if nothing else is
};
MeasuredFits MeasuredCauses(const Observation& seen, Evidence& evidence);

// Two edits of the operation's plan, if it has one; single ones are among the measured causes.
std::vector<Cause> CausesOfTwoEdits(const Observation& seen, Evidence& evidence);

// The listed causes; if there are none, the measured ones.
std::vector<Cause> NamedCauses(const Observation& seen, Evidence& evidence);
std::vector<Cause> NamedCauses(const Observation& seen, const ProveOptions& options);

// The same of a part of an answer. What is measured in the part may explain all of the answer: then
// the causes are those that do.
struct PartCauses {
  std::vector<Cause> causes;
  bool explain_all = false;
};
PartCauses NamedCausesOfPart(const Observation& part, Evidence& of_all,
                             const ProveOptions& options);

}  // namespace sextant::oracle
