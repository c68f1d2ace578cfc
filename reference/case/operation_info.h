// The declarations of an operation, which are the same for all its cases: the texts of its struct
// (reference/case/operation.h), and their parsed contents.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "reference/case/signature.h"
#include "reference/number/recipe/recipe.h"

namespace sextant {

struct OperationTexts {
  std::string_view name, signature_text, slices, steps, draw, choices, formula, source;
  bool bitwise = false;  // it has Stored (operation.h): every bit of its outputs is specified
  bool keeps_nonfinite = false;  // kKeepsNonfinite (operation.h)
};

struct OperationInfo : OperationTexts {
  explicit OperationInfo(const OperationTexts& texts);

  // True if the formula marks that step.
  bool Marks(Step step) const { return marked_steps.contains(step); }
  // True if an output is a code, which is chosen (reference/prove/golden.h).
  bool HasCodes() const {
    return std::ranges::any_of(signature.outputs,
                               [](const TensorSpec& spec) { return spec.role == Role::kCode; });
  }
  // The same, or an index.
  bool HasChoices() const {
    return HasCodes() || std::ranges::any_of(signature.outputs, [](const TensorSpec& spec) {
             return spec.role == Role::kChoice;
           });
  }
  // The default spec of an input, for example "random_positions(V)"; `normal` if `draws` has none.
  std::string_view DrawOf(std::string_view input) const;

  Signature signature;
  std::set<Step> marked_steps;
  std::map<std::string, std::string, std::less<>> draws;  // input -> default spec
};

}  // namespace sextant
