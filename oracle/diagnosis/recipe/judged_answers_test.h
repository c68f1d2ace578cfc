// Answers by a recipe, with the verdicts by another one, for tests.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "oracle/diagnosis/recipe/recipe_search.h"
#include "oracle/subject/subject.h"
#include "reference/case/draw.h"

namespace sextant::oracle {

// Answers by a recipe, and the search that begins with another one.
class Answers {
 public:
  Answers(const std::string& recipe, std::string start) : start_(std::move(start)) {
    subject_ = RecipeSubject(recipe);
  }
  void Add(const std::string& line) { AddAnswered(line, line); }
  // The answer is that to another question with the same inputs.
  void AddAnswered(const std::string& line, const std::string& answered,
                   const std::function<void(Tensors& inputs)>& edit = nullptr) {
    Owned& one = all_.emplace_back(Owned{Case::Parse(line), {}, {}, nullptr, {}});
    one.inputs = DrawInputs(one.c);
    if (edit) edit(one.inputs);
    one.outputs = subject_.answer(Case::Parse(answered), one.inputs).outputs;
    one.judge = std::make_unique<Judge>(one.c, one.inputs, ParseRecipe(start_, one.c.dtype()));
    one.verdict = one.judge->Evaluate(one.outputs);
  }
  // Multiplies the first number of the last answer, and every `step`th after it.
  void Spoil(double factor, size_t step = SIZE_MAX) {
    Edit([&](const Case&, const Tensors&, Tensors& outputs) {
      std::vector<double>& numbers = outputs[0].values.data;
      for (size_t i = 0; i < numbers.size(); i += std::min(step, numbers.size()))
        numbers[i] *= factor;
    });
  }
  // Changes the last answer.
  void Edit(const std::function<void(const Case&, const Tensors& inputs, Tensors& outputs)>& edit) {
    Owned& last = all_.back();
    edit(last.c, last.inputs, last.outputs);
    last.verdict = last.judge->Evaluate(last.outputs);
  }
  std::vector<JudgedAnswer> Judged() const {
    std::vector<JudgedAnswer> judged;
    for (const Owned& one : all_)
      judged.push_back({one.c, one.inputs, one.outputs, *one.judge, one.verdict});
    return judged;
  }
  std::optional<FoundRecipe> Search(int most_changes = 2, bool in_part = false) const {
    return NarrowestRecipe(Judged(),
                           {.start = start_, .most_changes = most_changes, .in_part = in_part});
  }

 private:
  struct Owned {
    Case c;
    Tensors inputs, outputs;
    std::unique_ptr<Judge> judge;
    Verdict verdict;
  };
  std::string start_;
  Subject subject_;
  std::deque<Owned> all_;
};

}  // namespace sextant::oracle
