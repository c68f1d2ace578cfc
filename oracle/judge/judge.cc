#include "oracle/judge/judge.h"

#include <algorithm>
#include <cmath>

#include "oracle/judge/bias.h"
#include "oracle/judge/drift.h"
#include "oracle/judge/likely.h"
#include "oracle/subject/subject.h"
#include "reference/prove/trace.h"

namespace sextant::oracle {
namespace {

double ErrorOf(double got, double value, double high, double low) {
  if (got == value && std::isinf(got)) return 0;
  return std::abs((got - high) - low);
}

// `permitted` and `likely` include the radius.
Grade GradeOf(const GoldenTensor& golden, size_t i, double got, double error, double permitted,
              double likely) {
  if (!(error <= permitted)) return Grade::kFails;
  if (got == golden.value.data[i] && golden.radius.data[i] == 0) return Grade::kExact;
  if (error < UlpOf(golden.dtype, golden.high.data[i])) return Grade::kFaithful;
  return error <= likely ? Grade::kWithin : Grade::kUnlikely;
}

// Where anything is permitted, NaN and infinity too.
Grade OpenGradeOf(double error, double likely) {
  return error <= likely || std::isinf(likely) ? Grade::kExact : Grade::kUnlikely;
}

// 0 / 0 is 0.
double RatioOf(double error, double limit) {
  if (error == 0) return 0;
  return limit > 0 && !std::isnan(error) ? error / limit : INFINITY;
}

// One tensor, element by element.
class TensorJudge {
 public:
  TensorJudge(const GoldenTensor& golden, const PermittedTensor& permitted,
              const Tensor<double>& got)
      : golden_(golden),
        permitted_(permitted),
        got_(got),
        bias_(got.data.size(), got.shape.empty() ? 1 : std::max<size_t>(1, got.shape.back())) {
    verdict_.name = golden.name;
    verdict_.elements = got.data.size();
  }
  TensorVerdict Judge(bool independent, double honest_bias) {
    for (size_t i = 0; i < got_.data.size(); ++i) Take(i);
    verdict_.bias = bias_.Mean();
    verdict_.spread = bias_.Spread();
    verdict_.honest_bias = honest_bias;
    if (!independent) return verdict_;
    verdict_.bias_in_standard_errors = bias_.StandardErrors();
    if ((verdict_.grade == Grade::kFaithful || verdict_.grade == Grade::kWithin) &&
        bias_.IsBeyond(honest_bias)) {
      verdict_.grade = Grade::kUnlikely;
    }
    return verdict_;
  }

 private:
  void Take(size_t i) {
    const double got = got_.data[i], high = golden_.high.data[i], low = golden_.low.data[i];
    const double radius = golden_.radius.data[i], bound = permitted_.error.data[i] + radius;
    if (std::isnan(high)) {
      ++verdict_.unspecified;
      return;
    }
    verdict_.enclosed += radius > 0;
    const double error = ErrorOf(got, golden_.value.data[i], high, low);
    const double likely = permitted_.likely.data[i] + radius;
    const bool open = std::isinf(bound);
    const Grade grade =
        open ? OpenGradeOf(error, likely) : GradeOf(golden_, i, got, error, bound, likely);
    const bool fails = grade == Grade::kFails;
    verdict_.grade = std::max(verdict_.grade, grade);
    verdict_.failed += fails;
    verdict_.unlikely += grade == Grade::kUnlikely;
    verdict_.unjudgeable += open;
    verdict_.vacuous += !open && permitted_.vacuous[i] && !fails;
    verdict_.judged += !open && (!permitted_.vacuous[i] || fails);
    const double limit = grade == Grade::kUnlikely ? likely : bound;
    const std::pair rank(std::max(grade, Grade::kWithin), RatioOf(error, limit));
    if (rank > worst_) {
      worst_ = rank;
      verdict_.worst = {IndexText(golden_.name, got_.shape, i), got, high, bound, error, likely};
    }
    if (bound > 0 && !open && !fails)
      bias_.Add(i, got, error == 0 ? 0 : ((got - high) - low) / bound);
  }

  const GoldenTensor& golden_;
  const PermittedTensor& permitted_;
  const Tensor<double>& got_;
  TensorVerdict verdict_;
  Bias bias_;
  std::pair<Grade, double> worst_ = {Grade::kExact, -1};
};

// Why conforming says nothing; else empty. What may be left out may be anything as well.
std::string DoubtOf(const Case& c, const std::vector<TensorVerdict>& tensors) {
  const auto& specs = c.info().signature.outputs;
  const auto open = std::ranges::find_if(tensors, [&](const TensorVerdict& tensor) {
    const bool optional = std::ranges::find(specs, tensor.name, &TensorSpec::name)->optional;
    return !optional && tensor.judged == 0 && tensor.vacuous + tensor.unjudgeable > 0;
  });
  if (open != tensors.end()) return "no element of " + open->name + " could have failed";
  const auto of = [&](size_t TensorVerdict::*count) {
    size_t sum = 0;
    for (const TensorVerdict& tensor : tensors) sum += tensor.*count;
    return sum;
  };
  // An empty answer could have had another shape.
  const bool nothing = of(&TensorVerdict::judged) == 0 && of(&TensorVerdict::elements) > 0;
  return nothing ? "no element of it could have failed" : "";
}

}  // namespace

Verdict Judge(const Case& c, const std::vector<GoldenTensor>& golden,
              const std::vector<PermittedTensor>& permitted, const Tensors& outputs,
              std::span<const double> honest_bias) {
  Verdict verdict{.case_line = c.ToString(),
                  .message = Misfit(c, outputs),
                  .tensors = {},
                  .trace = {},
                  .causes = {}};
  if (!verdict.message.empty()) {
    verdict.status = Verdict::Status::kFails;
    verdict.grade = Grade::kFails;
    return verdict;
  }
  // One rounded power may stand behind all frequencies, and so behind everything.
  const bool independent = c.info().steps.find("frequency") == std::string_view::npos;
  for (size_t o = 0; o < golden.size(); ++o) {
    const auto at = std::ranges::find(outputs, golden[o].name, &NamedTensor::name);
    if (at == outputs.end()) continue;  // an optional output that was left out
    verdict.tensors.push_back(TensorJudge(golden[o], permitted[o], at->values)
                                  .Judge(independent, honest_bias.empty() ? 0 : honest_bias[o]));
    verdict.grade = std::max(verdict.grade, verdict.tensors.back().grade);
  }
  if (verdict.grade == Grade::kFails) {
    verdict.status = Verdict::Status::kFails;
  } else {
    verdict.message = DoubtOf(c, verdict.tensors);
    if (!verdict.message.empty()) verdict.status = Verdict::Status::kUnverified;
  }
  return verdict;
}

Judgement::Judgement(const Case& c, const Tensors& inputs, const Recipe& recipe,
                     const ProveOptions& options)
    : Judgement(c, inputs, recipe, Prove(c, inputs, recipe, options), options) {}

Judgement::Judgement(const Case& c, const Tensors& inputs, const Recipe& recipe,
                     std::vector<GoldenTensor> golden, const ProveOptions& options)
    : c_(c),
      inputs_(inputs),
      recipe_(recipe),
      options_(options),
      golden_(std::move(golden)),
      permitted_(Permit(c, inputs, recipe, options)) {
  SampleLikely(c, inputs, recipe, golden_, permitted_);
}

void Judgement::Trace(const Tensors& outputs, Verdict& verdict) const {
  if (outputs.size() < 2 || verdict.tensors.empty()) return;
  {
    const Tracing tracing(outputs);
    AnswerBy(c_, inputs_, recipe_);
    if (!tracing.used()) return;
  }
  ProveOptions options = options_;
  options.own = &outputs;
  const Verdict own = Judge(c_, Prove(c_, inputs_, recipe_, options),
                            Permit(c_, inputs_, recipe_, options), outputs);
  // What is optional is handed on; what is required comes last.
  for (const bool optional : {true, false}) {
    for (const TensorSpec& spec : c_.info().signature.outputs) {
      const auto at = std::ranges::find(own.tensors, spec.name, &TensorVerdict::name);
      if (spec.optional == optional && at != own.tensors.end()) verdict.trace.push_back(*at);
    }
  }
  const auto wrong = std::ranges::find(verdict.trace, Grade::kFails, &TensorVerdict::grade);
  if (wrong == verdict.trace.end()) {
    if (verdict.status != Verdict::Status::kUnverified || !DoubtOf(c_, verdict.trace).empty())
      return;
    verdict.status = Verdict::Status::kConforms;  // by its own tensors, though not end to end
    verdict.message.clear();
    return;
  }
  verdict.status = Verdict::Status::kFails;
  verdict.grade = Grade::kFails;
  verdict.message = "first wrong at " + wrong->name;
  if (wrong != verdict.trace.begin()) verdict.message += "; everything before conforms";
}

Verdict Judgement::operator()(const Tensors& outputs) const {
  Verdict verdict = JudgeWithDrift({c_.operation(), c_, inputs_, recipe_, options_}, golden_,
                                   permitted_, outputs);
  Trace(outputs, verdict);
  if (verdict.status != Verdict::Status::kFails || verdict.tensors.empty()) return verdict;
  std::vector<std::unique_ptr<Operation>> alternatives;
  {
    const Following following(recipe_, c_.dtype());
    alternatives = c_.operation().Alternatives();
  }
  for (const auto& other : alternatives) {
    Verdict by_other = JudgeWithDrift({*other, c_, inputs_, recipe_, options_},
                                      Prove(*other, c_, inputs_, recipe_, options_),
                                      Permit(*other, c_, inputs_, recipe_, options_), outputs);
    if (by_other.status == Verdict::Status::kFails) continue;
    by_other.message = "by another truth as a whole: rounding decided otherwise than the formula";
    return by_other;
  }
  return verdict;
}

}  // namespace sextant::oracle
