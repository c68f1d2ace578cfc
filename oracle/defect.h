// Defects: bugs that people really make. Each is a subject that must be caught, and a hypothesis
// whose predicted answers can be compared with a stranger's: that is how a cause gets its name.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reference/case.h"
#include "reference/operation.h"
#include "reference/recipe.h"

namespace sextant::oracle {

// What an implementation with the defect computes instead.
struct Hypothesis {
  std::shared_ptr<const Operation> operation;
  Tensors inputs;
  Recipe recipe;
};

struct Defect {
  std::string name;  // "position_off_by_one"
  std::string why;   // the bug in a sentence, with a reference if there is one
  // Empty where the bug cannot show or does not apply.
  std::function<std::optional<Hypothesis>(const Case&, const Tensors& inputs, const Recipe&)> hypothesis;
};

// The case with one word changed, answered on the inputs of the original: Attribute("base=50000").
Defect ChangedWord(std::string name, std::string why, std::string word);

// Inputs changed before an otherwise right computation; returns false if it does not apply.
using ChangeInputs = std::function<bool(const Case&, Tensors&)>;
Defect ChangedInputs(std::string name, std::string why, ChangeInputs change);

// Some steps computed in another format: "angle=bf16 trig=bf16". The other steps stay.
Defect ChangedRecipe(std::string name, std::string why, std::string steps);

// A struct derived from the operation's with its own templated formula.
template <class Mutated>
Defect MutatedFormula(std::string why) {
  return {std::string(Mutated::kMutation), std::move(why),
          [](const Case& c, const Tensors& inputs, const Recipe& recipe) -> std::optional<Hypothesis> {
            auto operation = std::make_shared<Wrapped<Mutated>>();
            CopyAttributes(c, *operation);
            return Hypothesis{std::move(operation), inputs, recipe};
          }};
}

// Every attribute and dimension member of the case's operation, set in `operation`.
void CopyAttributes(const Case& c, Operation& operation);

// One defect per attribute and other value of it among the operation's choices: "base=2".
std::vector<Defect> GeneratedDefects(const Operation& operation);

// The answer that the hypothesis predicts.
Tensors Predict(const Hypothesis& hypothesis, const Case& c);

// Whether an answer is what the hypothesis predicts, up to twice what its own rounding permits.
bool Explains(const Hypothesis& hypothesis, const Case& c, const Recipe& recipe, const Tensors& answer);

}  // namespace sextant::oracle
