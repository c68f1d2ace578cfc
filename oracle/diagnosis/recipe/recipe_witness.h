// Slices in which answers fail: the recipes that a search tries see them first.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oracle/diagnosis/recipe/recipe_search.h"
#include "reference/prove/slices.h"

namespace sextant::oracle {

using Elements = std::vector<double>;  // one number per element of a slice's answered outputs

// The slice of an answer with the element whose error is largest, relative to its permitted error.
struct RecipeWitness {
  const JudgedAnswer* answer;
  Slice slice;
  bool in_trace = false;        // errors follow from the subject's own intermediates
  std::vector<Slice> spread{};  // some slices, evenly over the case
  Elements error{};   // beyond the radius of the proven value; 0 where no value is specified
  Elements before{};  // the permitted error by the starting recipe
  double ulp = 0;     // the sum of the ulps of the outputs at the exact values
};

// Empty if no element of a failing answer fails end to end: then its trace fails.
std::optional<RecipeWitness> WitnessOf(const JudgedAnswer& answer, const std::string& start);
// The same in the trace of the answer. Takes about as long as its judgement.
std::optional<RecipeWitness> WitnessInTrace(const JudgedAnswer& answer, const std::string& start,
                                            const ProveOptions& prove);

// The errors that the recipe permits; infinite where an error of any size would pass.
Elements PermittedOn(const RecipeWitness& witness, const std::string& recipe);

// The sum over the elements of min(1, |answer - that of the recipe itself| / permitted error by the
// start).
double DistanceOf(const RecipeWitness& witness, const std::string& recipe);

// True if the recipe's own answers have all its errors: those of less accurate functions
// (erf_absolute, or several ulps) are not in them.
bool HasRoundingsOnly(const Recipe& recipe);

// True if most elements of the spread slices are about as accurate as those of the recipe's own
// answer, in its most or its least accurate order of summation. Else the recipe permits the errors,
// but does not say how the answer is computed: a few large errors among small ones, or a bug whose
// effect is below the worst case of a long sum. Without HasRoundingsOnly only the first is asked.
bool IsAsAccurate(const RecipeWitness& witness, const std::string& recipe);

// The elements of the slice that could fail by the recipe, if it permits all errors there; else
// none.
std::optional<size_t> PermittedIn(const JudgedAnswer& answer, const Slice& slice,
                                  const Recipe& recipe);

// True if roundings of the recipe may change a decision of the formula: then the permitted errors
// of the formula itself do not decide.
bool Decides(const Case& c, const std::string& recipe);

// True if all errors are permitted. An element that failed must stay judgeable.
bool Permits(const Elements& permitted, const RecipeWitness& witness);
// The same for what two changes permit together, if their increments were exactly additive.
bool PermitsSum(const Elements& a, const Elements& b, const RecipeWitness& witness);
// True if narrower changes of the same steps may permit all errors: these do, or any error.
bool MayPermitSum(const Elements& a, const Elements& b, const RecipeWitness& witness);

// True if an element that could fail by the start no longer can.
bool LosesElements(const std::vector<Elements>& permitted,
                   const std::vector<RecipeWitness>& witnesses);

// The geometric mean, over these witnesses, of the sum of permitted errors / the sum of ulps. 0 if
// there are none. Elements that cannot fail are left out.
double MeanUlps(const std::vector<Elements>& permitted, const std::vector<RecipeWitness>& witnesses,
                const std::vector<size_t>& which);

}  // namespace sextant::oracle
