// Answers of planted bugs, and what the measurements say about them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "oracle/catalog/catalog.h"
#include "oracle/defect/drawn_case_test.h"
#include "oracle/diagnosis/edit/plan_search.h"
#include "oracle/diagnosis/measurement.h"
#include "oracle/judge/judge.h"

namespace sextant::oracle {

struct MeasuredCase : DrawnCase {
  using DrawnCase::DrawnCase;

  const Tensor<double>& In(const std::string& name) const { return Find(inputs, name).values; }

  // The right answer with other numbers, rounded to the dtype of the first output.
  Tensors Planted(const std::function<double(size_t)>& value) const {
    Tensors answer = CorrectAnswer();
    for (size_t i = 0; i < answer[0].values.data.size(); ++i)
      answer[0].values.data[i] = RoundTo(answer[0].dtype, value(i));
    return answer;
  }

  // "name: sentence" of the explanations whose models predict the answer.
  std::vector<std::string> Causes(const Tensors& answer) const {
    const Judge judge(c, inputs, recipe);
    const Observation seen{c, inputs, recipe, judge.golden(), judge.permitted(), answer};
    std::vector<std::string> causes;
    const auto add = [&](const std::vector<Explanation>& explanations) {
      for (const auto& [name, sentence, model] : explanations) {
        if (!model.operation || Explains(model, c, recipe, answer))
          causes.push_back(name + ": " + sentence);
      }
    };
    const CatalogEntry& entry = CatalogEntryOf(c.name());
    for (const Measurement& measure : entry.measurements) add(measure(seen));
    for (const Edits edits : {Edits::kOne, Edits::kTwo})
      if (entry.plan && causes.empty()) add(MeasureEdits(seen, entry.plan, edits));
    return causes;
  }
  std::vector<std::string> Causes(const std::function<double(size_t)>& value) const {
    return Causes(Planted(value));
  }
};

// Honest answers by these recipes get no sentence in any of the cases, whatever the dtype.
inline void ExpectNoAccusation(const std::vector<std::string>& lines,
                               const std::vector<std::string>& recipes) {
  for (const std::string& line : lines) {
    for (const std::string dtype : {"f32", "bf16"}) {
      for (const std::string& recipe : recipes) {
        const MeasuredCase question(line + " dtype=" + dtype);
        const Tensors answer = EvaluateByRecipe(
            {question.c, question.inputs, ParseRecipe(recipe, question.c.dtype())});
        EXPECT_THAT(question.Causes(answer), IsEmpty()) << line << " " << dtype << " " << recipe;
      }
    }
  }
}

// Another kind of bug, zeros that are spread over the answer, gets no sentence.
inline void ExpectNoSentenceAboutZeros(const std::string& line) {
  const MeasuredCase question(line);
  const Tensors right = question.CorrectAnswer();
  EXPECT_THAT(question.Causes([&](size_t i) { return i % 7 == 0 ? 0 : right[0].values.data[i]; }),
              IsEmpty());
}

// A test of measurements has the dtype as its parameter.
struct MeasuredInDType : testing::TestWithParam<const char*> {
  std::string Line(const std::string& words) const { return words + " dtype=" + GetParam(); }
  static std::string NameOfTest(const testing::TestParamInfo<const char*>& info) {
    return info.param;
  }
};

}  // namespace sextant::oracle
