#include "oracle/judge/sliced_judge.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "oracle/judge/bias_sample.h"
#include "oracle/judge/failing_indices.h"
#include "oracle/judge/range_judge.h"
#include "oracle/judge/stored_values.h"
#include "oracle/judge/undecided.h"
#include "oracle/judge/verdict_of.h"
#include "reference/base/parallel.h"
#include "reference/case/extents.h"
#include "reference/prove/budget.h"
#include "reference/prove/case_slices.h"
#include "reference/prove/enclosed_slices.h"

namespace sextant::oracle {
namespace {

constexpr size_t kLeastElements = size_t{1} << 17;  // of a case that is judged in slices
constexpr size_t kRanges = 16;                      // of slices, judged in parallel

const TensorReader* FindOutput(const TensorReaders& outputs, const TensorSpec& spec) {
  const auto at = std::ranges::find(outputs, spec.name, &TensorReader::name);
  return at == outputs.end() ? nullptr : &*at;
}

bool Fits(const Case& c, const TensorReaders& outputs) {
  const auto fits = [&](const TensorSpec& spec) {
    const TensorReader* const answer = FindOutput(outputs, spec);
    if (!answer) return spec.optional;
    return answer->dtype() == c.DTypeOf(spec) && answer->shape() == c.ShapeOf(spec);
  };
  return std::ranges::all_of(c.info().signature.outputs, fits);
}

struct AnsweredQuestion {
  const Case& c;
  const TensorReaders& inputs;
  const Recipe& recipe;
  const ProveOptions& options;
  const TensorReaders& outputs;
  const Operation& operation;  // the formula, or its alternative decision
  const GoldenSource* golden;  // of the formula; must be what is proven here. Null: there is none

  const std::vector<TensorSpec>& specs() const { return c.info().signature.outputs; }
  Evaluation evaluation() const { return {c, inputs, recipe, operation}; }
  // The answered outputs in that slice.
  Tensors AnswerIn(const Slice& slice) const {
    Tensors part;
    for (const TensorSpec& spec : specs())
      if (const TensorReader* const answer = FindOutput(outputs, spec))
        part.push_back(ReadSlice(*answer, spec, slice));
    return part;
  }
  // True if the formula continues from the answered outputs.
  bool IsTraced() const {
    if (outputs.size() < 2) return false;
    Slice slice;
    while (const auto halves = Halve(c, slice)) slice = halves->first;
    const Tensors part = AnswerIn(slice);
    return CanBeTraced({c, inputs, recipe, operation, &part, &slice});
  }
};

// The slices that the budget takes. One that limits the time encloses them to find out how many
// they are: enclosing takes most of the time of judging.
std::vector<Slice> SlicesOf(const AnsweredQuestion& question, bool is_traced) {
  const size_t elements = SliceElements(question.c);
  if (CurrentBudget().has_time) {
    const auto enclose = [&](const Slice& slice) {
      const Tensors part = question.AnswerIn(slice);
      EnclosedSlices(question.evaluation()).Enclose(slice, is_traced ? &part : nullptr);
    };
    ForEachSliceInBudget(question.c, elements, question.options.threads, enclose, nullptr);
  }
  return SlicesInBudget(question.c, elements);
}

// What is known of one answered output.
struct JudgedOutput {
  JudgedOutput(const TensorSpec& output, size_t number, const Shape& of, bool independent,
               size_t slices)
      : spec(output),
        index(number),
        shape(of),
        elements(shape, OfElements::Keep::kRows),
        total(shape, independent, elements),
        ranks(slices) {}

  const TensorSpec& spec;
  const size_t index;  // in the signature
  const Shape shape;
  OfElements elements;
  RangeJudge total;
  std::vector<RankRange> ranks;  // of each slice
};

// Judges of some slices, one for each answered output.
using RangeJudges = std::vector<std::unique_ptr<RangeJudge>>;

class SlicedJudge {
 public:
  SlicedJudge(const AnsweredQuestion& question, bool is_traced, Failing failing)
      : question_(question),
        // Choices are judged by the trace alone, what else is traced by both.
        by_trace_(is_traced && question.c.info().HasChoices()),
        gives_up_(failing == Failing::kGiveUp),
        // What is proven is decided, and its worst element is known.
        is_enclosed_(HasLevel1(question.c)),
        slices_(SlicesOf(question, is_traced)),
        // All frequencies may depend on one rounded power, and then all elements share its error.
        independent_(!question.c.info().Marks(Step::kFrequency)),
        ranges_(std::min(kRanges, slices_.size())) {
    for (size_t o = 0; o < question.specs().size(); ++o) {
      const TensorSpec& spec = question.specs()[o];
      if (!FindOutput(question.outputs, spec)) continue;
      const Shape shape = question.c.ShapeOf(spec);
      for (auto* outputs : {&outputs_, &trace_}) {
        if (outputs == &trace_ && (!is_traced || by_trace_)) continue;
        outputs->push_back(
            std::make_unique<JudgedOutput>(spec, o, shape, independent_, slices_.size()));
      }
    }
  }

  // False if it gives up.
  bool Judge() {
    InParallel(ranges_.size(), question_.options.threads, [&](size_t r) {
      EnclosedSlices enclosed(question_.evaluation()), traced(question_.evaluation());
      RangeJudges range = MakeJudges(outputs_, independent_);
      RangeJudges of_trace = MakeJudges(trace_, independent_);
      const size_t end = (r + 1) * slices_.size() / ranges_.size();
      for (size_t s = r * slices_.size() / ranges_.size(); s < end && goes_on_; ++s) {
        if (!JudgeSlice(s, enclosed, range) ||
            !JudgeTrace(s, enclosed.reference(), traced, of_trace))
          goes_on_ = false;
        Report();
      }
      Merge(r, {std::move(range), std::move(of_trace)});
    });
    if (!goes_on_ || ranges_.empty()) return false;
    if (is_enclosed_) SetWorst();
    return true;
  }

  // `bias`: the bounds of the mean errors, one for each output of the signature; empty: 0.
  std::vector<JudgedTensor> Total(const std::vector<double>& bias) const {
    return TotalOf(outputs_, bias);
  }
  // Of what is traced and judged end to end, too.
  std::vector<JudgedTensor> TotalOfTrace() const { return TotalOf(trace_, {}); }

 private:
  using JudgedOutputs = std::vector<std::unique_ptr<JudgedOutput>>;
  struct OfRange {
    RangeJudges judges, of_trace;
  };

  std::vector<JudgedTensor> TotalOf(const JudgedOutputs& outputs,
                                    const std::vector<double>& bias) const {
    std::vector<JudgedTensor> tensors;
    for (const auto& output : outputs) {
      const TensorSpec& spec = output->spec;
      TensorVerdict verdict =
          output->total.Total(spec.name, bias.empty() ? 0 : bias[output->index]);
      verdict.left_out = verdict.elements;
      for (const Slice& slice : slices_)
        verdict.left_out -= CountOf(ShapeIn(output->shape, spec, slice));
      if (verdict.failed > 0)
        verdict.failing = FailingIndicesOf({question_.c, spec, nullptr}, output->elements.fails());
      tensors.push_back(
          {std::move(verdict), spec.optional, output->shape, {}, output->elements.RowStatuses()});
    }
    return tensors;
  }

  static RangeJudges MakeJudges(const JudgedOutputs& outputs, bool independent) {
    RangeJudges judges;
    for (const auto& output : outputs) {
      judges.push_back(std::make_unique<RangeJudge>(output->shape, independent, output->elements));
    }
    return judges;
  }

  // The index in the whole tensor of an element of a slice.
  static size_t IndexIn(const JudgedOutput& output, const Slice& slice, size_t at) {
    for (const auto& [first, count] : RunsIn(output.shape, output.spec, slice)) {
      if (at < count) return first + at;
      at -= count;
    }
    throw std::logic_error("an element outside of its slice");
  }

  // `end_to_end`: its reference values are NaN where the case specifies no value.
  void JudgeElements(const Slice& slice, const ProvenAndPermitted& by,
                     const ProvenAndPermitted& end_to_end, const Tensors& part,
                     const RangeJudges& range) const {
    for (size_t k = 0; k < outputs_.size(); ++k) {
      const JudgedOutput& output = *outputs_[k];
      const GoldenTensor& golden = by.golden[output.index];
      const GoldenTensor& specified = end_to_end.golden[output.index];
      const PermittedTensor& permitted = by.permitted[output.index];
      size_t at = 0;  // in the part
      for (const auto& [first, count] : RunsIn(output.shape, output.spec, slice)) {
        range[k]->Judge({golden, permitted, part[k].values, specified, first}, at, at + count);
        at += count;
      }
    }
  }

  bool JudgeSlice(size_t s, EnclosedSlices& enclosed, const RangeJudges& range) {
    const Tensors part = question_.AnswerIn(slices_[s]);
    enclosed.Enclose(slices_[s], by_trace_ ? &part : nullptr);
    const ProvenAndPermitted& by = enclosed.reference();
    if (is_enclosed_ && !DecideGrades(s, enclosed, part)) return false;
    if (by_trace_ && gives_up_ && HasNoNumber(by)) return false;
    if (question_.golden && !by_trace_)
      RequireStored(question_.c, slices_[s], *question_.golden, by.golden);
    JudgeElements(slices_[s], by, by, part, range);
    const auto is_bad = [](const std::unique_ptr<RangeJudge>& judge) {
      return judge->HasFailing() || judge->HasUnlikely();
    };
    return !gives_up_ || std::ranges::none_of(range, is_bad);
  }

  bool JudgeTrace(size_t s, const ProvenAndPermitted& end_to_end, EnclosedSlices& traced,
                  const RangeJudges& range) {
    if (trace_.empty()) return true;
    const Tensors part = question_.AnswerIn(slices_[s]);
    traced.Enclose(slices_[s], &part);
    JudgeElements(slices_[s], traced.reference(), end_to_end, part, range);
    return !gives_up_ ||
           std::ranges::none_of(range, [](const auto& judge) { return judge->HasFailing(); });
  }

  // Proves what the enclosures leave undecided. False if it gives up.
  bool DecideGrades(size_t s, EnclosedSlices& enclosed, const Tensors& part) {
    const ProvenAndPermitted& by = enclosed.reference();
    for (;;) {
      ElementMarks marks;
      for (const GoldenTensor& golden : by.golden) marks.emplace_back(golden.high.data.size());
      bool any = false;
      for (size_t k = 0; k < outputs_.size(); ++k) {
        JudgedOutput& output = *outputs_[k];
        RankRange& ranks = output.ranks[s] = {};
        const GoldenTensor& golden = by.golden[output.index];
        std::vector<char>& own = marks[output.index];
        own = UndecidedGradesIn(golden, by.permitted[output.index], part[k].values, ranks);
        if (ranks.least.first > Grade::kWithin && gives_up_) return false;
        // Other bounds decide what is unlikely (systematic_error.h).
        if (ranks.least.first == Grade::kUnlikely) {
          for (size_t i = 0; i < own.size(); ++i) own[i] |= golden.radius.data[i] < 0;
        }
        any = any || std::ranges::find(own, 1) != own.end();
      }
      if (!any) return true;
      enclosed.ProveMarked(marks);
    }
  }

  // The end to end reference decides whether an element should have a number that a trace lacks.
  static bool HasNoNumber(const ProvenAndPermitted& of_trace) {
    return std::ranges::any_of(of_trace.golden, [](const GoldenTensor& golden) {
      return std::ranges::any_of(golden.high.data, [](double x) { return std::isnan(x); });
    });
  }

  // Which slices may have the worst element, if an element has the rank `known`, the largest lower
  // bound of all: those with a larger upper bound, and those where an element has that very rank.
  // Of enclosed elements with the same numbers, the first of the tensor counts: the exact errors of
  // the others differ from its error by less than its enclosure shows. So of the slices with the
  // numbers that have the largest upper bound, one is enough. False if no element that is only
  // enclosed may be the worst: then it is known.
  bool MarkMayHaveWorst(const JudgedOutput& output, const Rank& known,
                        std::vector<char>& may_have_worst) const {
    const std::vector<RankRange>& ranks = output.ranks;
    const RankRange& largest = *std::ranges::max_element(ranks, {}, &RankRange::most);
    if (largest.most < known) return false;
    const auto has_largest = [&](size_t s) {
      return ranks[s].most == largest.most && ranks[s].top == largest.top;
    };
    size_t first = 0, first_at = SIZE_MAX;
    Rank least = known;  // at least the lower bound of the element with these numbers
    for (size_t s = 0; s < slices_.size(); ++s) {
      if (!has_largest(s)) continue;
      least = std::min(least, ranks[s].least);
      const size_t at = IndexIn(output, slices_[s], ranks[s].top_at);
      if (at < first_at) first = s, first_at = at;
    }
    const bool is_of_others = known > least;  // the known rank
    for (size_t s = 0; s < slices_.size(); ++s) {
      const Rank& most = has_largest(s) && s != first ? ranks[s].next : ranks[s].most;
      may_have_worst[s] |= most >= known || (is_of_others && ranks[s].least == known);
    }
    return true;
  }

  // Proves the elements that may be the worst: those of few slices.
  void SetWorst() {
    std::vector<Rank> worst(question_.specs().size());
    std::vector<char> may_have_worst(slices_.size());
    std::vector<char> is_open(outputs_.size());
    for (size_t k = 0; k < outputs_.size(); ++k) {
      Rank& known = worst[outputs_[k]->index];
      for (const RankRange& of : outputs_[k]->ranks) known = std::max(known, of.least);
      is_open[k] = known != Rank() && MarkMayHaveWorst(*outputs_[k], known, may_have_worst);
    }
    EnclosedSlices enclosed(question_.evaluation());
    RangeJudges range = MakeJudges(outputs_, false);
    for (size_t s = 0; s < slices_.size(); ++s) {
      if (!may_have_worst[s]) continue;
      const Tensors part = question_.AnswerIn(slices_[s]);
      enclosed.Enclose(slices_[s]);
      Undecided undecided(enclosed.reference(), part, 1, worst);
      for (;;) {
        const ElementMarks marks = undecided.Next();
        if (marks.empty()) break;
        enclosed.ProveMarked(marks);
      }
      worst = undecided.worst();
      const ProvenAndPermitted& by = enclosed.reference();
      JudgeElements(slices_[s], by, by, part, range);
    }
    for (size_t k = 0; k < outputs_.size(); ++k)
      if (is_open[k]) outputs_[k]->total.SetWorstOf(*range[k]);
  }

  // Adds to the total what is known of all ranges up to range r, in their order: so the result does
  // not depend on the threads, and few ranges are in memory.
  void Merge(size_t r, OfRange range) {
    const std::lock_guard lock(mutex_);
    ranges_[r] = std::move(range);
    for (; merged_ < ranges_.size() && ranges_[merged_]; ++merged_) {
      const auto& [judges, of_trace] = *ranges_[merged_];
      for (size_t k = 0; k < outputs_.size(); ++k) outputs_[k]->total.Merge(*judges[k]);
      for (size_t k = 0; k < trace_.size(); ++k) trace_[k]->total.Merge(*of_trace[k]);
      ranges_[merged_].reset();
    }
  }

  void Report() {
    if (!question_.options.progress) return;
    const std::lock_guard lock(mutex_);
    question_.options.progress(static_cast<double>(++done_) / static_cast<double>(slices_.size()));
  }

  const AnsweredQuestion& question_;
  const bool by_trace_, gives_up_, is_enclosed_;
  const std::vector<Slice> slices_;
  const bool independent_;
  JudgedOutputs outputs_, trace_;               // the answered ones
  std::vector<std::optional<OfRange>> ranges_;  // judged, and not yet part of the total
  size_t merged_ = 0;
  std::atomic<bool> goes_on_ = true;
  std::mutex mutex_;
  size_t done_ = 0;
};

// Marks as judged the rows with elements that could have failed in the trace.
void MergeRows(const std::vector<JudgedTensor>& trace, std::vector<JudgedTensor>& tensors) {
  for (size_t t = 0; t < trace.size(); ++t) {
    for (size_t row = 0; row < trace[t].rows.size(); ++row)
      tensors[t].rows[row].has_judged |= trace[t].rows[row].has_judged;
  }
}

std::optional<Verdict> JudgeBy(const AnsweredQuestion& question, Failing failing) {
  const Case& c = question.c;
  const bool is_traced = question.IsTraced();
  if (c.info().HasChoices() && !is_traced) return std::nullopt;
  const auto is_intermediate = [&](const TensorSpec& spec) {
    return spec.optional && FindOutput(question.outputs, spec);
  };
  // Of intermediates each element counts, not only rows.
  if (is_traced && std::ranges::any_of(question.specs(), is_intermediate)) return std::nullopt;
  SlicedJudge judge(question, is_traced, failing);
  if (!judge.Judge()) return std::nullopt;
  std::vector<JudgedTensor> tensors = judge.Total({});
  if (NeedsSample(c, tensors)) {
    const auto enclosed_in = [&](const Slice& slice) {
      EnclosedSlices enclosed(question.evaluation());
      enclosed.Enclose(slice);
      return enclosed.reference();
    };
    const SlicedProblem problem{question.operation, c, question.inputs, question.recipe,
                                question.options.threads};
    std::vector<JudgedTensor> sampled =
        JudgeBySample(problem, enclosed_in, tensors,
                      [&](const std::vector<double>& bias) { return judge.Total(bias); });
    if (!sampled.empty()) tensors = std::move(sampled);
  }
  if (failing == Failing::kGiveUp && AreUnlikely(tensors)) return std::nullopt;
  Verdict verdict = VerdictOf(c, tensors);
  const std::vector<JudgedTensor> trace = judge.TotalOfTrace();
  for (const JudgedTensor& tensor : trace) verdict.trace.push_back(tensor.verdict);
  SetFirstWrong(verdict);
  MergeRows(trace, tensors);
  SetUnverified(tensors, verdict);
  verdict.sample = SampleIn(c);
  return verdict;
}

}  // namespace

bool CanJudgeInSlices(const Case& c, const ProveOptions& options) {
  size_t elements = 0;
  for (const TensorSpec& spec : c.info().signature.outputs)
    elements = std::max(elements, CountOf(c.ShapeOf(spec)));
  return !IsComposite(c.info()) && elements >= kLeastElements && Halve(c, {}).has_value() &&
         options.engine == Engine::kLadder;
}

std::optional<Verdict> JudgeInSlices(const Case& c, const TensorReaders& inputs,
                                     const Recipe& recipe, const ProveOptions& options,
                                     const TensorReaders& outputs, Failing failing,
                                     const GoldenSource* golden) {
  if (!CanJudgeInSlices(c, options) || !Fits(c, outputs)) return std::nullopt;
  std::optional<Verdict> verdict =
      JudgeBy({c, inputs, recipe, options, outputs, c.operation(), golden}, failing);
  if (!verdict || verdict->status != Verdict::Status::kFails) return verdict;
  for (const auto& other : AlternativesOf(c, recipe)) {
    auto alternative =
        JudgeBy({c, inputs, recipe, options, outputs, *other, nullptr}, Failing::kGiveUp);
    if (!alternative) continue;
    SayAlternative(*alternative);
    return alternative;
  }
  return verdict;
}

}  // namespace sextant::oracle
