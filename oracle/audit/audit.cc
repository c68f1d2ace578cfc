#include "oracle/audit/audit.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "oracle/catalog/catalog.h"
#include "oracle/defect/blind_spot.h"
#include "oracle/judge/judge.h"

namespace sextant::oracle {
namespace {

// A case with everything that judging an answer to it needs.
struct Question {
  Case c;
  Recipe recipe;
  Tensors inputs;
  Judgement judge;

  Question(const Case& of, const AuditOptions& options)
      : c(of),
        recipe(ParseRecipe(options.honest.recipe, c.dtype())),
        inputs(DrawInputs(c, options.read_file)),
        judge(c, inputs, recipe) {}
  bool Fails(const Tensors& answer) const {
    return judge(answer).status == Verdict::Status::kFails;
  }
};

bool Catches(const Question& question, const Defect& defect) {
  const auto hypothesis = defect.hypothesis(question.c, question.inputs, question.recipe);
  return hypothesis && question.Fails(Predict(*hypothesis, question.c));
}

// The answer with one element moved to the nearest value beyond what is permitted there; empty if
// no element can be moved so.
std::optional<Tensors> PushedBeyond(const Question& question, Tensors answer) {
  for (size_t o = 0; o < answer.size(); ++o) {
    const auto& goldens = question.judge.golden();
    const auto at = std::ranges::find(goldens, answer[o].name, &GoldenTensor::name);
    const GoldenTensor& golden = *at;  // an optional output may be left out
    const auto& errors =
        question.judge.permitted()[static_cast<size_t>(at - goldens.begin())].error.data;
    for (size_t i = 0; i < golden.high.data.size(); ++i) {
      const double bound = errors[i] + golden.radius.data[i];
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

// Whichever way the answer is lost there, the case tells.
bool Sees(const Question& question, const BlindSpot& spot, const Tensors& honest) {
  const auto losses = spot.losses(question.c, question.inputs, honest);
  return !losses.empty() &&
         std::ranges::all_of(losses, [&](const Tensors& lost) { return question.Fails(lost); });
}

// What the cases of one operation have caught so far.
class Scores {
 public:
  explicit Scores(const std::string& operation)
      : defects_(OracleOf(operation).defects), blind_spots_(BlindSpotsOf(operation)) {
    for (const Defect& defect : defects_) {
      results_.push_back({operation, defect.name, defect.why, {}});
    }
    for (const BlindSpot& spot : blind_spots_) {
      spots_.push_back({operation, spot.name, spot.why, {}});
    }
    pushed_ = {operation,
               "(one element pushed)",
               "one element of an honest answer just beyond its permitted error",
               {}};
  }
  void Take(size_t index, const Question& question, const Tensors& honest) {
    for (size_t d = 0; d < results_.size(); ++d) {
      if (Catches(question, defects_[d])) results_[d].by.push_back(index);
    }
    for (size_t s = 0; s < spots_.size(); ++s) {
      if (Sees(question, blind_spots_[s], honest)) spots_[s].by.push_back(index);
    }
    const auto pushed = PushedBeyond(question, honest);
    if (!pushed) return;
    if (!question.Fails(*pushed)) missed_ = true;
    pushed_.by.push_back(index);
  }
  std::vector<Caught> Results() const {
    std::vector<Caught> all = results_;
    all.insert(all.end(), spots_.begin(), spots_.end());
    all.push_back(pushed_);
    if (missed_) all.back().by.clear();  // it must be caught wherever it can be
    return all;
  }

 private:
  const std::vector<Defect>& defects_;
  const std::vector<BlindSpot>& blind_spots_;
  std::vector<Caught> results_, spots_;
  Caught pushed_;
  bool missed_ = false;
};

}  // namespace

bool Audit::Passed() const {
  return dishonest.empty() && !results.empty() &&
         std::ranges::none_of(results, [](const Caught& c) { return c.by.empty(); });
}

Audit AuditSuite(const std::vector<Case>& cases, const AuditOptions& options) {
  Audit audit;
  std::map<std::string, Scores> scores;
  for (size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    const Question question(c, options);
    const Tensors answer = options.honest.answer(c, question.inputs).outputs;
    if (question.Fails(answer)) audit.dishonest.push_back(c.ToString());
    if (audit.dishonest.empty())
      scores.try_emplace(c.name(), c.name()).first->second.Take(i, question, answer);
    if (options.progress)
      options.progress(static_cast<double>(i + 1) / static_cast<double>(cases.size()));
  }
  if (!audit.dishonest.empty()) return audit;
  for (const auto& [operation, own] : scores) {
    for (Caught& result : own.Results()) audit.results.push_back(std::move(result));
  }
  return audit;
}

}  // namespace sextant::oracle
