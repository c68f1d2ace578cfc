#include "oracle/judge/sliced_judge.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "oracle/judge/bias_sample.h"
#include "oracle/judge/range_judge.h"
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

bool Fits(const Case& c, const TensorReaders& outputs) {
  const TensorSpec& spec = c.info().signature.outputs[0];
  return outputs.size() == 1 && outputs[0].name() == spec.name &&
         outputs[0].dtype() == c.DTypeOf(spec) && outputs[0].shape() == c.ShapeOf(spec);
}

struct AnsweredQuestion {
  const Case& c;
  const TensorReaders& inputs;
  const Recipe& recipe;
  const ProveOptions& options;
  const TensorReader& answer;
};

// The slices that the budget takes. One that limits the time encloses them to find out how many
// they are: enclosing takes most of the time of judging.
std::vector<Slice> SlicesOf(const AnsweredQuestion& question) {
  const size_t elements = SliceElements(question.c);
  if (CurrentBudget().has_time) {
    const auto enclose = [&](const Slice& slice) {
      EnclosedSlices({question.c, question.inputs, question.recipe}).Enclose(slice);
    };
    ForEachSliceInBudget(question.c, elements, question.options.threads, enclose, nullptr);
  }
  return SlicesInBudget(question.c, elements);
}

class SlicedJudge {
 public:
  SlicedJudge(const AnsweredQuestion& question)
      : question_(question),
        shape_(question.answer.shape()),
        slices_(SlicesOf(question)),
        // All frequencies may depend on one rounded power, and then all elements share its error.
        independent_(!question.c.info().Marks(Step::kFrequency)),
        elements_(CountOf(shape_)),
        ranks_(slices_.size()),
        ranges_(std::min(kRanges, slices_.size())),
        total_(shape_, independent_, elements_) {}

  // False if an element fails or is unlikely.
  bool Judge() {
    InParallel(ranges_.size(), question_.options.threads, [&](size_t r) {
      EnclosedSlices enclosed({question_.c, question_.inputs, question_.recipe});
      auto range = std::make_unique<RangeJudge>(shape_, independent_, elements_);
      const size_t end = (r + 1) * slices_.size() / ranges_.size();
      for (size_t s = r * slices_.size() / ranges_.size(); s < end && conforms_; ++s) {
        if (!JudgeSlice(s, enclosed, *range)) conforms_ = false;
        Report();
      }
      Merge(r, std::move(range));
    });
    if (!conforms_ || ranges_.empty()) return false;
    SetWorst();
    return true;
  }

  std::vector<JudgedTensor> Total(double bias_bound) const {
    const TensorSpec& spec = question_.c.info().signature.outputs[0];
    TensorVerdict verdict = total_.Total(spec.name, bias_bound);
    verdict.left_out = verdict.elements;
    for (const Slice& slice : slices_) verdict.left_out -= CountOf(ShapeIn(shape_, spec, slice));
    return {{std::move(verdict), spec.optional, shape_, elements_.statuses}};
  }

 private:
  Tensors AnswerIn(const Slice& slice) const {
    return {ReadSlice(question_.answer, question_.c.info().signature.outputs[0], slice)};
  }

  // The index in the whole tensor of an element of a slice.
  size_t IndexIn(const Slice& slice, size_t at) const {
    for (const auto& [first, count] :
         RunsIn(shape_, question_.c.info().signature.outputs[0], slice)) {
      if (at < count) return first + at;
      at -= count;
    }
    throw std::logic_error("an element outside of its slice");
  }

  void JudgeElements(const Slice& slice, const ProvenAndPermitted& by, const Tensors& part,
                     RangeJudge& range) const {
    const TensorSpec& spec = question_.c.info().signature.outputs[0];
    const Tensor<double>& got = part[0].values;
    size_t at = 0;  // in the part
    for (const auto& [first, count] : RunsIn(shape_, spec, slice)) {
      range.Judge({by.golden[0], by.permitted[0], got, by.golden[0], first}, at, at + count);
      at += count;
    }
  }

  bool JudgeSlice(size_t s, EnclosedSlices& enclosed, RangeJudge& range) {
    const Tensors part = AnswerIn(slices_[s]);
    enclosed.Enclose(slices_[s]);
    for (;;) {
      ranks_[s] = {};
      const ElementMarks marks = UndecidedGradesIn(enclosed.reference(), part, ranks_[s]);
      if (ranks_[s].least.first > Grade::kWithin) return false;
      if (marks.empty()) break;
      enclosed.ProveMarked(marks);
    }
    JudgeElements(slices_[s], enclosed.reference(), part, range);
    return true;
  }

  // Which slices may have the worst element, if an element has the rank `known`, the largest lower
  // bound of all: those with a larger upper bound, and those where an element has that very rank.
  // Of enclosed elements with the same numbers, the first of the tensor counts: the exact errors of
  // the others differ from its error by less than its enclosure shows. So of the slices with the
  // numbers that have the largest upper bound, one is enough.
  std::vector<char> MayHaveWorst(const Rank& known) const {
    const RankRange& largest = *std::ranges::max_element(ranks_, {}, &RankRange::most);
    const auto has_largest = [&](size_t s) {
      return largest.most >= known && ranks_[s].most == largest.most &&
             ranks_[s].top == largest.top;
    };
    size_t first = 0, first_at = SIZE_MAX;
    Rank least = known;  // at least the lower bound of the element with these numbers
    for (size_t s = 0; s < slices_.size(); ++s) {
      if (!has_largest(s)) continue;
      least = std::min(least, ranks_[s].least);
      const size_t at = IndexIn(slices_[s], ranks_[s].top_at);
      if (at < first_at) first = s, first_at = at;
    }
    const bool is_of_others = largest.most < known || known > least;  // the known rank
    std::vector<char> may_have_worst(slices_.size());
    for (size_t s = 0; s < slices_.size(); ++s) {
      const Rank& most = has_largest(s) && s != first ? ranks_[s].next : ranks_[s].most;
      may_have_worst[s] = most >= known || (is_of_others && ranks_[s].least == known);
    }
    return may_have_worst;
  }

  // Proves the elements that may be the worst: those of few slices.
  void SetWorst() {
    std::vector<Rank> worst(1);
    for (const RankRange& of : ranks_) worst[0] = std::max(worst[0], of.least);
    if (worst[0] == Rank()) return;  // no element has a rank
    const Rank known = worst[0];
    const auto may_have_worst = MayHaveWorst(known);
    EnclosedSlices enclosed({question_.c, question_.inputs, question_.recipe});
    RangeJudge range(shape_, false, elements_);
    for (size_t s = 0; s < slices_.size(); ++s) {
      if (!may_have_worst[s]) continue;
      const Tensors part = AnswerIn(slices_[s]);
      enclosed.Enclose(slices_[s]);
      Undecided undecided(enclosed.reference(), part, 1, worst);
      for (;;) {
        const ElementMarks marks = undecided.Next();
        if (marks.empty()) break;
        enclosed.ProveMarked(marks);
      }
      worst = undecided.worst();
      JudgeElements(slices_[s], enclosed.reference(), part, range);
    }
    total_.SetWorstOf(range);
  }

  // Adds to the total what is known of all ranges up to range r, in their order: so the result does
  // not depend on the threads, and few ranges are in memory.
  void Merge(size_t r, std::unique_ptr<RangeJudge> range) {
    const std::lock_guard lock(mutex_);
    ranges_[r] = std::move(range);
    for (; merged_ < ranges_.size() && ranges_[merged_]; ++merged_) {
      total_.Merge(*ranges_[merged_]);
      ranges_[merged_].reset();
    }
  }

  void Report() {
    if (!question_.options.progress) return;
    const std::lock_guard lock(mutex_);
    question_.options.progress(static_cast<double>(++done_) / static_cast<double>(slices_.size()));
  }

  const AnsweredQuestion& question_;
  const Shape& shape_;
  const std::vector<Slice> slices_;
  const bool independent_;
  OfElements elements_;
  std::vector<RankRange> ranks_;                     // of each slice
  std::vector<std::unique_ptr<RangeJudge>> ranges_;  // judged, and not yet part of the total
  RangeJudge total_;
  size_t merged_ = 0;
  std::atomic<bool> conforms_ = true;
  std::mutex mutex_;
  size_t done_ = 0;
};

}  // namespace

bool CanJudgeInSlices(const Case& c, const ProveOptions& options) {
  const auto& outputs = c.info().signature.outputs;
  return outputs.size() == 1 && !IsComposite(c.info()) &&
         CountOf(c.ShapeOf(outputs[0])) >= kLeastElements && HasLevel1(c) &&
         options.engine == Engine::kLadder;
}

std::optional<Verdict> JudgeInSlices(const Case& c, const TensorReaders& inputs,
                                     const Recipe& recipe, const ProveOptions& options,
                                     const TensorReaders& outputs) {
  if (!CanJudgeInSlices(c, options) || !Fits(c, outputs)) return std::nullopt;
  const AnsweredQuestion question{c, inputs, recipe, options, outputs[0]};
  SlicedJudge judge(question);
  if (!judge.Judge()) return std::nullopt;
  std::vector<JudgedTensor> tensors = judge.Total(0);
  if (NeedsSample(c, tensors)) {
    const auto enclosed_in = [&](const Slice& slice) {
      EnclosedSlices enclosed({c, inputs, recipe});
      enclosed.Enclose(slice);
      return enclosed.reference();
    };
    const SlicedProblem problem{c.operation(), c, inputs, recipe, options.threads};
    tensors = JudgeBySample(problem, enclosed_in, tensors,
                            [&](const std::vector<double>& bias) { return judge.Total(bias[0]); });
  }
  if (tensors.empty() || AreUnlikely(tensors)) return std::nullopt;
  Verdict verdict = VerdictOf(c, tensors);
  SetUnverified(tensors, verdict);
  verdict.sample = SampleIn(c);
  return verdict;
}

}  // namespace sextant::oracle
