// Defects: bugs that people really make. Each is a subject that must be caught, and a hypothesis
// whose predicted answers can be compared with a stranger's: that is how a cause gets its name.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/case/case.h"
#include "reference/case/operation.h"
#include "reference/number/evaluation_context.h"
#include "reference/number/recipe.h"

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
  std::function<std::optional<Hypothesis>(const Case&, const Tensors& inputs, const Recipe&)>
      hypothesis;
  // Of a mutated formula: the same code without its mutation, which must be the operation's own
  // formula for every case (defect_test.cc).
  std::function<std::shared_ptr<const Operation>(const Case&)> unmutated = {};
};

// The case with one word changed ("base=50000"), or several ("base=2 scaling=none"), answered on
// the inputs of the original; where the word depends on the case, it is empty if the bug does not
// apply.
Defect ChangedWord(std::string name, std::string why, std::string word);
using WordOf = std::function<std::string(const Case&)>;
Defect ChangedWord(std::string name, std::string why, WordOf word);

// Inputs changed before an otherwise right computation; returns false if it does not apply.
using ChangeInputs = std::function<bool(const Case&, Tensors&)>;
Defect ChangedInputs(std::string name, std::string why, ChangeInputs change);

// Some steps computed in another format: "angle=bf16 trig=bf16". The other steps stay.
Defect ChangedRecipe(std::string name, std::string why, std::string steps);

// Every attribute and dimension member of the case's operation, set in `operation`.
void CopyAttributes(const Case& c, Operation& operation);

// A struct derived from the operation's, with a templated formula that has one mutation; without it
// (a struct made by default) the formula is the operation's own. Both in Wrapper, as the operation.
template <class Mutant, class Wrapper = Wrapped<Mutant, false>>
Defect MutatedFormula(std::string name, std::string why, const Mutant& mutant = {}) {
  const auto made = [](const Mutant& formula, const Case& c) {
    auto operation = std::make_shared<Wrapper>(formula);
    CopyAttributes(c, *operation);
    return operation;
  };
  return {std::move(name), std::move(why),
          [mutant, made](const Case& c, const Tensors& inputs,
                         const Recipe& recipe) -> std::optional<Hypothesis> {
            return Hypothesis{made(mutant, c), inputs, recipe};
          },
          [made](const Case& c) { return made(Mutant(), c); }};
}

// A mutation of a formula, with the name and the sentence of the defect that it makes.
template <class Mutation>
struct NamedMutation {
  const char *name, *why;
  Mutation mutation;
};

// One defect for each mutation of the struct `mutant`, whose member `mutation` says which it has.
template <class Mutant>
Defect MutatedFormula(std::string name, std::string why, decltype(Mutant::mutation) mutation) {
  Mutant mutant;
  mutant.mutation = mutation;
  return MutatedFormula(std::move(name), std::move(why), mutant);
}
template <class Mutant>
using MutationsOf = std::vector<NamedMutation<decltype(Mutant::mutation)>>;
template <class Mutant>
std::vector<Defect> MutatedFormulas(const MutationsOf<Mutant>& mutations) {
  std::vector<Defect> defects;
  for (const auto& [name, why, mutation] : mutations)
    defects.push_back(MutatedFormula<Mutant>(name, why, mutation));
  return defects;
}

// While it lives, every step of this thread's recipe rounds to `format`, whatever the recipe says.
class ScopedFormat {
 public:
  explicit ScopedFormat(DType format) : following_(RecipeOf(format), format) {}

 private:
  static Recipe RecipeOf(DType format);
  ScopedRecipe following_;
};

// x rounded to a format that its step does not have, for mutated formulas.
template <class Real>
Real StoredIn(DType format, const Real& x) {
  if constexpr (RealArithmetic<Real>) {
    return x;
  } else {
    const ScopedFormat rounding(format);
    return Converted(x);
  }
}

// Without those that change nothing in an operation.
std::vector<Defect> Without(std::initializer_list<std::string_view> names,
                            std::vector<Defect> defects);

// The answer that the hypothesis predicts.
Tensors Predict(const Hypothesis& hypothesis, const Case& c);

// Whether an answer is what the hypothesis predicts, up to twice what rounding by `recipe` permits
// around it: once for the answer, once for the prediction.
bool Explains(const Hypothesis& hypothesis, const Case& c, const Recipe& recipe,
              const Tensors& answer);

}  // namespace sextant::oracle
