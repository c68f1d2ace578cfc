// The likely causes of a failure.
#pragma once

#include <vector>

#include "oracle/diagnosis/measurement.h"
#include "oracle/judge/judge.h"

namespace sextant::oracle {

// Other recipes by which the answer conforms. If one of them predicts the answer, the deviation is
// a precision: then only listed defects that predict it as well are causes. Recipes that only
// permit the answer (own_errors.h) predict nothing.
struct ConformingRecipes {
  std::vector<Recipe> recipes{};
  bool have_other_errors = false;
};

// The first of these that says something:
// - The subject gives another answer if it is asked again.
// - The trace of a composite operation: the causes of its first wrong tensor, of the next three
//   kinds or as an answer of its own operation; in a large case only the latter. If they are not
//   known, nothing is said of a small case.
// - The listed defects that explain the answer (oracle/catalog/named_causes.h).
// - The explanations of the operation's measurements whose models do.
// - The structure of the answer, and the causes of what it leaves.
// - Two deviations at once (oracle/catalog/pairs.h), one upon the other (oracle/catalog/layers.h),
//   and causes beside a wrong order, in a part or in whole rows of the answer; only in cases of at
//   most Evidence::kAlways elements and of at most 1/16 of MostWork (oracle/diagnosis/work.h).
// - A range of an input, or of the right numbers, outside of which the answer is right.
// - A number of all wrong elements, of their rows or their columns.
// - The causes in a smaller case, which the subject is asked (oracle/catalog/smaller_case.h).
// Few elements rule out most hypotheses; the search compares about as many elements as a small case
// has, and a part of a large one (oracle/diagnosis/evidence.h). If a hypothesis could not be
// compared with all, the text says it.
std::vector<Cause> CausesOf(const Observation& seen, const ProveOptions& options = {},
                            const ConformingRecipes& conforming = {});

}  // namespace sextant::oracle
