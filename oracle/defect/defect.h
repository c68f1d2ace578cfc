// Defects: records of known bugs. A defect has two uses. As a subject, it must be caught by the
// cases. As a hypothesis, it predicts answers; if a wrong answer equals the prediction, the defect
// is its likely cause.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "oracle/defect/shared_inputs.h"
#include "reference/case/case.h"
#include "reference/case/operation.h"
#include "reference/number/recipe/evaluation_context.h"
#include "reference/number/recipe/recipe.h"
#include "reference/prove/slices.h"

namespace sextant::oracle {

// The computation of an implementation with the defect.
struct Hypothesis {
  std::shared_ptr<const Operation> operation;
  SharedInputs inputs;
  Recipe recipe;
  // An output depends on the inputs of other slices, so only the whole case can be predicted.
  bool is_across_slices = false;
};

struct Defect {
  std::string name;  // "position_off_by_one"
  std::string why;   // the bug in a sentence, with a reference if there is one
  // Empty if the bug does not apply to the case or cannot show in it.
  std::function<std::optional<Hypothesis>(const Case&, const Tensors& inputs, const Recipe&)>
      hypothesis;
  // Mutated formulas only: the same code without its mutation. It must equal the operation's own
  // formula in every case (defect_test.cc).
  std::function<std::shared_ptr<const Operation>(const Case&)> unmutated = {};
  // An element of the wrong answer may depend on other slices of the case than its own.
  bool is_across_slices = false;
};

// Computes the case with one word changed ("base=50000"), or several ("base=2 scaling=none"), on
// the inputs of the original case. A WordOf returns an empty text if the bug does not apply.
Defect ChangedWord(std::string name, std::string why, std::string word);
using WordOf = std::function<std::string(const Case&)>;
Defect ChangedWord(std::string name, std::string why, WordOf word);

// Changes the inputs; the computation is correct. ChangeInputs returns false if the bug does not
// apply.
using ChangeInputs = std::function<bool(const Case&, Tensors&)>;
Defect ChangedInputs(std::string name, std::string why, ChangeInputs change);
// Is given only the inputs with these names, and changes no other.
Defect ChangedInputs(std::string name, std::string why, std::vector<std::string> inputs,
                     ChangeInputs change);

// Computes some steps in another format: "angle=bf16 trig=bf16". The other steps do not change.
Defect ChangedRecipe(std::string name, std::string why, std::string steps);

// Copies all attributes and dimension members of the case's operation to `operation`.
void CopyAttributes(const Case& c, Operation& operation);

// A defect from a struct derived from the operation's, whose templated formula has one mutation. A
// default-constructed one must have the operation's own formula. Wrapper makes an Operation of it.
template <class Formula, class Wrapper = Wrapped<Formula, false>>
Defect MutatedFormula(std::string name, std::string why, const Formula& formula = {}) {
  const auto made = [](const Formula& formula, const Case& c) {
    auto operation = std::make_shared<Wrapper>(formula);
    CopyAttributes(c, *operation);
    return operation;
  };
  return {std::move(name), std::move(why),
          [formula, made](const Case& c, const Tensors& inputs,
                          const Recipe& recipe) -> std::optional<Hypothesis> {
            return Hypothesis{made(formula, c), SharedInputs::Of(inputs), recipe};
          },
          [made](const Case& c) { return made(Formula(), c); }};
}

// A mutation of a formula, with the name and the description of its defect.
template <class Mutation>
struct NamedMutation {
  const char *name, *why;
  Mutation mutation;
  bool is_across_slices = false;
};
template <class Formula, auto kMember = &Formula::mutation>
using MutationsOf = std::vector<
    NamedMutation<std::remove_cvref_t<std::invoke_result_t<decltype(kMember), Formula&>>>>;

// The defects of a mutated Formula with several mutations; kMember, a member or a function that
// returns a reference to one, selects a mutation.
template <class Formula, auto kMember = &Formula::mutation, class Wrapper = Wrapped<Formula, false>>
std::vector<Defect> MutatedFormulas(const MutationsOf<Formula, kMember>& mutations) {
  std::vector<Defect> defects;
  for (const auto& [name, why, mutation, is_across_slices] : mutations) {
    Formula formula;
    std::invoke(kMember, formula) = mutation;
    defects.push_back(MutatedFormula<Formula, Wrapper>(name, why, formula));
    defects.back().is_across_slices = is_across_slices;
  }
  return defects;
}

// While it lives, every step of this thread rounds to `format`, regardless of the recipe.
class ScopedFormat {
 public:
  explicit ScopedFormat(DType format) : recipe_(RecipeOf(format), format) {}

 private:
  static Recipe RecipeOf(DType format);
  ScopedRecipe recipe_;
};

// For mutated formulas: x rounded to `format` instead of the format of its step.
template <class Real>
Real ConvertedTo(DType format, const Real& x) {
  if constexpr (RealArithmetic<Real>) {
    return x;
  } else {
    const ScopedFormat scope(format);
    return Converted(x);
  }
}

// The same defect, marked as one across slices.
Defect AcrossSlices(Defect defect);

// Removes defects by name (those that change nothing in an operation).
std::vector<Defect> RemoveDefects(std::initializer_list<std::string_view> names,
                                  std::vector<Defect> defects);

// The answer that the hypothesis predicts.
Tensors Predict(const Hypothesis& hypothesis, const Case& c);

// True if the answer differs from the prediction of the hypothesis by at most twice the permitted
// error of `recipe`: once for the answer, once for the prediction. Compares only the slice, which
// must be the whole case for a defect across slices.
bool Explains(const Hypothesis& hypothesis, const Case& c, const Recipe& recipe,
              const Tensors& answer, const Slice& slice = {});

}  // namespace sextant::oracle
