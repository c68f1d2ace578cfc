#include "oracle/audit/audit_targets.h"

#include <algorithm>
#include <cmath>

#include "oracle/catalog/catalog.h"
#include "oracle/defect/coverage_goal.h"
#include "oracle/judge/tensor_judge.h"

namespace sextant::oracle {
namespace {

bool HasAlternatives(const Case& c, const Recipe& recipe) {
  const ScopedRecipe scope(recipe, c.dtype());
  return !c.operation().Alternatives().empty();
}

// The baseline answer with one element moved to the nearest value above its bound; empty if no
// element can be moved.
std::optional<Tensors> PushedBeyond(const AuditedCase& question) {
  Tensors answer = question.baseline_answer();
  for (NamedTensor& tensor : answer) {
    const auto& goldens = question.golden();
    const auto at = std::ranges::find(goldens, tensor.name, &GoldenTensor::name);
    const GoldenTensor& golden = *at;  // the indices may differ: optional outputs may be missing
    const PermittedTensor& permitted =
        question.permitted()[static_cast<size_t>(at - goldens.begin())];
    for (size_t i = 0; i < golden.high.data.size(); ++i) {
      const double bound = permitted.error.data[i] + golden.radius.data[i];
      if (!std::isfinite(golden.value.data[i]) || !std::isfinite(bound)) continue;
      double pushed = HasCodes(permitted)
                          ? NextUp(golden.dtype, AdmissibleOf(golden, permitted, i).second)
                          : RoundTo(golden.dtype, golden.high.data[i] + bound);
      while (!HasCodes(permitted) && std::isfinite(pushed) &&
             !(std::abs((pushed - golden.high.data[i]) - golden.low.data[i]) > bound)) {
        pushed = NextUp(golden.dtype, pushed);
      }
      if (!std::isfinite(pushed)) continue;
      tensor.values.data[i] = pushed;
      return answer;
    }
  }
  return std::nullopt;
}

AuditTarget TargetOf(const Defect& defect) {
  return {defect.name, defect.why, [&defect](const AuditedCase& question) -> std::optional<bool> {
            const auto hypothesis =
                defect.hypothesis(question.c(), question.inputs(), question.recipe());
            if (!hypothesis) return std::nullopt;
            return question.Fails(Predict(*hypothesis, question.c()));
          }};
}

// A case meets a coverage goal if it fails the answer for every kind of loss.
AuditTarget TargetOf(const CoverageGoal& goal) {
  return {goal.name,
          goal.why,
          [&goal](const AuditedCase& question) -> std::optional<bool> {
            const auto losses =
                goal.losses(question.c(), question.inputs(), question.baseline_answer());
            if (losses.empty()) return std::nullopt;
            return std::ranges::all_of(losses,
                                       [&](const Tensors& lost) { return question.Fails(lost); });
          },
          false,
          !goal.is_pair,
          true};
}

AuditTarget PushedElement() {
  return {"(one element pushed)", "the error of one element is just above its permitted error",
          [](const AuditedCase& question) -> std::optional<bool> {
            const auto pushed = PushedBeyond(question);
            if (!pushed) return std::nullopt;
            return question.Fails(*pushed);
          },
          true};
}

}  // namespace

AuditedCase::AuditedCase(const Case& c, const Subject& baseline, const FileReader& read_file)
    : c_(c),
      recipe_(ParseRecipe(baseline.recipe, c_.dtype())),
      inputs_(DrawInputs(c_, read_file)),
      baseline_answer_(baseline.answer(c_, inputs_).outputs),
      has_alternatives_(HasAlternatives(c_, recipe_)) {}

void AuditedCase::Prepare() const {
  if (!golden_.empty()) return;
  ProvenAndPermitted reference = ProveAndPermit({c_, inputs_, recipe_});
  golden_ = std::move(reference.golden);
  permitted_ = std::move(reference.permitted);
}

const std::vector<GoldenTensor>& AuditedCase::golden() const {
  Prepare();
  return golden_;
}

const std::vector<PermittedTensor>& AuditedCase::permitted() const {
  Prepare();
  return permitted_;
}

// True if an output is judged by the trace alone (oracle/judge/judge.cc): codes, indices, and what
// follows from indices.
bool IsOfTrace(const Case& c, const std::string& output) {
  for (const TensorSpec& spec : c.info().signature.outputs) {
    if (spec.role == Role::kChoice) return true;
    if (spec.name == output) return spec.role == Role::kCode;
  }
  return false;
}

// True if Judge fails the answer. Skips the expensive parts of Judge if they cannot change the
// result: a failure stays one if there are no alternatives, and one tensor has no trace.
bool AuditedCase::JudgeFails(const Tensors& answer) const {
  Prepare();
  const Verdict verdict = JudgeEndToEnd(c_, golden_, permitted_, answer);
  const bool fails = verdict.status == Verdict::Status::kFails;
  const bool is_decided = std::ranges::none_of(verdict.tensors, [&](const TensorVerdict& tensor) {
    return tensor.grade == Grade::kFails && IsOfTrace(c_, tensor.name);
  });
  if (fails ? !has_alternatives_ && is_decided : answer.size() < 2) return fails;
  if (!judge_) judge_ = std::make_unique<Judge>(c_, inputs_, recipe_, golden_);
  return judge_->Evaluate(answer).status == Verdict::Status::kFails;
}

bool AuditedCase::BaselineFails() const {
  if (!baseline_fails_) baseline_fails_ = JudgeFails(baseline_answer_);
  return *baseline_fails_;
}

bool AuditedCase::Fails(const Tensors& answer) const {
  return SameBits(answer, baseline_answer_) ? BaselineFails() : JudgeFails(answer);
}

std::vector<AuditTarget> AuditTargetsOf(std::string_view operation) {
  std::vector<AuditTarget> targets;
  for (const Defect& defect : CatalogEntryOf(operation).defects)
    targets.push_back(TargetOf(defect));
  for (const CoverageGoal& goal : CoverageGoalsOf(operation)) targets.push_back(TargetOf(goal));
  targets.push_back(PushedElement());
  return targets;
}

}  // namespace sextant::oracle
