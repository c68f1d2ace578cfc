// Answers of planted bugs, and what the measurements say about them.
#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <vector>

#include "oracle/catalog/catalog.h"
#include "oracle/defect/drawn_case_test.h"
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
    for (const Measurement& measure : CatalogEntryOf(c.name()).measurements) {
      for (const auto& [name, sentence, model] : measure(seen)) {
        if (Explains(model, c, recipe, answer)) causes.push_back(name + ": " + sentence);
      }
    }
    return causes;
  }
  std::vector<std::string> Causes(const std::function<double(size_t)>& value) const {
    return Causes(Planted(value));
  }
};

}  // namespace sextant::oracle
