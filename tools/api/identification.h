// What a subject computes, found by questions, for every door.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "oracle/identify/identify.h"
#include "oracle/judge/judge.h"
#include "oracle/subject/subject.h"
#include "reference/prove/prove.h"
#include "tools/api/completed_line.h"

namespace sextant::tools {

struct IdentifyRequest {
  std::string line;        // the operation, and the words that are known: "rope D=128 dtype=bf16"
  ConfigChoice against{};  // a model, whose attributes are compared; an empty path: none
  std::string recipe{};    // the first that is tried; empty: the subject's
  ProveOptions prove{};
};

struct Identification {
  // An attribute that the subject does not compute as the model says.
  struct Difference {
    std::string attribute, model, found;
  };

  std::string subject, against;  // names; `against` is empty without a model
  std::string first_recipe;      // that was tried first
  oracle::Identity identity;
  std::vector<Difference> differences{};
  std::vector<std::string> not_compared{};  // attributes about which the configuration says nothing
  std::vector<std::string> not_shown{};     // words of the model; answers without them are the same
  std::optional<oracle::Verdict> failing{};  // on the first answer that fails by the nearest claim
  // On the first answer that fails by the recipe that was tried first, if all conform by another.
  std::optional<oracle::Verdict> by_first{};
  std::vector<std::string> notes{};  // about aliases in the request (reference/case/aliases.h)

  bool Conforms() const { return !identity.recipe.empty(); }
  bool IsAsExpected() const { return Conforms() && differences.empty(); }
};

// The line of a question without what only says how it was asked: seed and distributions.
std::string LineOf(const Case& question);

// The attributes that questions to the subject may say: make the subject with them. Throws Error if
// the line is no question.
std::set<std::string> ToldAttributesOf(const IdentifyRequest& request);

// Throws Error if the subject answers no question, or answers one without a number.
Identification IdentifySubject(const IdentifyRequest& request, const oracle::Subject& subject);

}  // namespace sextant::tools
