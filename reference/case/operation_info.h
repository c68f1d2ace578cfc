// What an operation declares, and so does not change between two cases of it: the texts of its
// struct (reference/case/operation.h), and what they say, parsed once.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "reference/case/signature.h"
#include "reference/number/recipe.h"

namespace sextant {

struct OperationTexts {
  std::string_view name, signature_text, slices, steps, draw, choices, formula, source;
};

struct OperationInfo : OperationTexts {
  explicit OperationInfo(const OperationTexts& texts);

  // Whether its formula marks that step.
  bool Marks(Step step) const { return marked_steps.contains(step); }
  // How an input is drawn where a case does not say: "random_positions(V)".
  std::string_view DrawOf(std::string_view input) const;

  Signature signature;
  std::set<Step> marked_steps;
  std::map<std::string, std::string, std::less<>> draws;  // of inputs that are not drawn `normal`
};

}  // namespace sextant
