#include "oracle/judge/sliced_judge.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>

#include "oracle/judge/drift_sample.h"
#include "oracle/judge/range_judge.h"
#include "oracle/judge/undecided.h"
#include "oracle/judge/verdict_of.h"
#include "reference/base/parallel.h"
#include "reference/case/extents.h"
#include "reference/prove/budget.h"
#include "reference/prove/enclosed_slices.h"

namespace sextant::oracle {
namespace {

constexpr size_t kLeastElements = size_t{1} << 17;  // of a case that is judged in slices
constexpr size_t kRanges = 16;                      // of slices, judged in parallel

// Which cases can be judged in slices.
bool IsSliceable(const Case& c, const ProveOptions& options) {
  const auto& outputs = c.info().signature.outputs;
  return outputs.size() == 1 && !IsComposite(c.info()) &&
         CountOf(c.ShapeOf(outputs[0])) >= kLeastElements && HasLevel1(c) &&
         options.engine == Engine::kLadder && !HasBudget();
}

// The slices of a case, if each has the elements that follow those of the one before; else empty.
std::vector<Slice> ConsecutiveSlices(const Case& c) {
  const TensorSpec& spec = c.info().signature.outputs[0];
  const Shape shape = c.ShapeOf(spec);
  std::vector<Slice> slices = CutCase(c, SliceElements(c));
  size_t next = 0;
  for (const Slice& slice : slices) {
    const std::vector<Run> runs = RunsIn(shape, spec, slice);
    if (runs.size() != 1 || runs[0].first != next) return {};
    next += runs[0].count;
  }
  return slices;
}

class SlicedJudge {
 public:
  SlicedJudge(const Problem& problem, const Tensors& outputs)
      : problem_(problem),
        outputs_(outputs),
        shape_(outputs[0].values.shape),
        slices_(ConsecutiveSlices(problem.c)),
        // All frequencies may depend on one rounded power, and then all elements share its error.
        independent_(!problem.c.info().Marks(Step::kFrequency)),
        elements_(CountOf(shape_)),
        ranges_(std::min(kRanges, slices_.size())),
        total_(shape_, independent_, elements_) {}

  // False if an element fails or is unlikely, or if the slices are not consecutive.
  bool Judge() {
    InParallel(ranges_.size(), problem_.options.threads, [&](size_t r) {
      EnclosedSlices enclosed(problem_.c, problem_.inputs, problem_.recipe);
      std::vector<Rank> worst(1);
      auto range = std::make_unique<RangeJudge>(shape_, independent_, elements_);
      const size_t end = (r + 1) * slices_.size() / ranges_.size();
      for (size_t s = r * slices_.size() / ranges_.size(); s < end && conforms_; ++s) {
        if (!JudgeSlice(slices_[s], enclosed, worst, *range)) conforms_ = false;
        Report();
      }
      Merge(r, std::move(range));
    });
    return conforms_ && !ranges_.empty();
  }

  std::vector<JudgedTensor> Total(double bias_bound) const {
    const TensorSpec& spec = problem_.c.info().signature.outputs[0];
    return {{total_.Total(spec.name, bias_bound), spec.optional, shape_, elements_.statuses}};
  }

 private:
  bool JudgeSlice(const Slice& slice, EnclosedSlices& enclosed, std::vector<Rank>& worst,
                  RangeJudge& range) {
    const TensorSpec& spec = problem_.c.info().signature.outputs[0];
    const Tensor<double> got = ExtractSlice(outputs_[0].values, spec, slice);
    const Tensors part = {{spec.name, outputs_[0].dtype, got}};
    enclosed.Enclose(slice);
    for (;;) {  // a proven element may have another rank: then others may be the worst
      const ElementMarks marks = UndecidedIn(enclosed.reference(), part, 1, worst);
      if (worst[0].first > Grade::kWithin) return false;
      if (marks.empty()) break;
      enclosed.ProveMarked(marks);
    }
    const GoldenTensor& golden = enclosed.reference().golden[0];
    const size_t begin = RunsIn(shape_, spec, slice)[0].first;
    range.Judge({golden, enclosed.reference().permitted[0], got, golden, begin}, 0,
                got.data.size());
    return true;
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
    if (!problem_.options.progress) return;
    const std::lock_guard lock(mutex_);
    problem_.options.progress(static_cast<double>(++done_) / static_cast<double>(slices_.size()));
  }

  const Problem& problem_;
  const Tensors& outputs_;
  const Shape& shape_;
  const std::vector<Slice> slices_;
  const bool independent_;
  OfElements elements_;
  std::vector<std::unique_ptr<RangeJudge>> ranges_;  // judged, and not yet part of the total
  RangeJudge total_;
  size_t merged_ = 0;
  std::atomic<bool> conforms_ = true;
  std::mutex mutex_;
  size_t done_ = 0;
};

}  // namespace

std::optional<Verdict> JudgeInSlices(const Case& c, const Tensors& inputs, const Recipe& recipe,
                                     const ProveOptions& options, const Tensors& outputs) {
  if (!IsSliceable(c, options) || !DescribeMismatch(c, outputs).empty()) return std::nullopt;
  const Problem problem{c.operation(), c, inputs, recipe, options};
  SlicedJudge judge(problem, outputs);
  if (!judge.Judge()) return std::nullopt;
  std::vector<JudgedTensor> tensors = judge.Total(0);
  if (NeedsSample(c, tensors)) {
    const auto enclosed_in = [&](const Slice& slice) {
      EnclosedSlices enclosed(c, inputs, recipe);
      enclosed.Enclose(slice);
      return enclosed.reference();
    };
    tensors = JudgeBySample(problem, enclosed_in, tensors,
                            [&](const std::vector<double>& bias) { return judge.Total(bias[0]); });
  }
  if (tensors.empty() || AreUnlikely(tensors)) return std::nullopt;
  Verdict verdict = VerdictOf(c, tensors);
  SetUnverified(tensors, verdict);
  return verdict;
}

}  // namespace sextant::oracle
