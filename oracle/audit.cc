#include "oracle/audit.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "oracle/judge.h"
#include "oracle/oracle.h"
#include "reference/draw.h"

namespace sextant::oracle {
namespace {

// A case with everything that judging an answer to it needs.
struct Question {
  Case c;
  Recipe recipe;
  Tensors inputs;
  std::vector<GoldenTensor> golden;
  std::vector<PermittedTensor> permitted;

  explicit Question(const Case& of)
      : c(of),
        recipe(ParseRecipe("native", c.dtype())),
        inputs(DrawInputs(c)),
        golden(Prove(c, inputs, recipe)),
        permitted(Permit(c, inputs, recipe)) {}
  bool Fails(const Tensors& answer) const {
    return Judge(c, golden, permitted, answer).status == Verdict::Status::kFails;
  }
};

bool Catches(const Question& question, const Defect& defect) {
  const auto hypothesis = defect.hypothesis(question.c, question.inputs, question.recipe);
  return hypothesis && question.Fails(Predict(*hypothesis, question.c));
}

// The honest answer with one element moved to the nearest value beyond what is permitted there;
// empty if no element can be moved so.
std::optional<Tensors> PushedBeyond(const Question& question) {
  Tensors answer = AnswerBy(question.c, question.inputs, question.recipe);
  for (size_t o = 0; o < answer.size(); ++o) {
    const GoldenTensor& golden = question.golden[o];
    for (size_t i = 0; i < golden.high.data.size(); ++i) {
      const double bound = question.permitted[o].error.data[i] + golden.radius.data[i];
      if (!std::isfinite(golden.value.data[i]) || !std::isfinite(bound)) continue;
      double pushed = RoundTo(golden.dtype, golden.high.data[i] + bound);
      while (std::isfinite(pushed) &&
             !(std::abs((pushed - golden.high.data[i]) - golden.low.data[i]) > bound)) {
        pushed = NextUp(golden.dtype, pushed);
      }
      if (!std::isfinite(pushed)) continue;
      answer[o].values.data[i] = pushed;
      return answer;
    }
  }
  return std::nullopt;
}

}  // namespace

bool Audit::Passed() const {
  return dishonest.empty() && !results.empty() &&
         std::ranges::none_of(results, [](const Caught& c) { return c.by.empty(); });
}

Audit AuditSuite(const std::vector<Case>& cases, const std::function<void(double)>& progress) {
  Audit audit;
  std::map<std::string, std::vector<Case>> by_operation;
  for (const Case& c : cases) by_operation[c.name()].push_back(c);
  size_t done = 0;
  for (const auto& [name, own] : by_operation) {
    const std::vector<Defect>& defects = OracleOf(name).defects;
    std::vector<Caught> results;
    for (const Defect& defect : defects) results.push_back({name, defect.name, defect.why, ""});
    results.push_back({name, "(one element pushed)",
                       "one element of an honest answer just beyond its permitted error", ""});
    for (const Case& c : own) {
      const Question question(c);
      if (question.Fails(AnswerBy(c, question.inputs, question.recipe)))
        audit.dishonest.push_back(c.ToString());
      for (size_t d = 0; d < defects.size(); ++d) {
        if (results[d].by.empty() && Catches(question, defects[d])) results[d].by = c.ToString();
      }
      if (const auto pushed = PushedBeyond(question); pushed && question.Fails(*pushed)) {
        if (results.back().by.empty()) results.back().by = c.ToString();
      }
      if (progress) progress(static_cast<double>(++done) / static_cast<double>(cases.size()));
    }
    for (Caught& result : results) audit.results.push_back(std::move(result));
  }
  if (!audit.dishonest.empty()) audit.results.clear();
  return audit;
}

}  // namespace sextant::oracle
