#include "oracle/judge/bias_sample.h"

#include <algorithm>
#include <cmath>

#include "reference/base/parallel.h"
#include "reference/base/splitmix64.h"
#include "reference/prove/budget.h"

namespace sextant::oracle {
namespace {

// In cases of more than kLarge elements, means are estimated from kSample elements; the estimate
// may err by kSampleErrors standard errors (two-sided tail of Student's t for 32 units: 5e-9).
constexpr size_t kSample = size_t{1} << 15, kLarge = size_t{1} << 20;
constexpr double kSampleErrors = 8;

size_t ElementsOf(const Case& c) {
  size_t count = 0;
  for (const TensorSpec& spec : c.info().signature.outputs) count += CountOf(c.ShapeOf(spec));
  return count;
}

// A random part of a large case: one slice of each of equal parts of the slices in their order, so
// that all batches and heads have their share.
std::vector<Slice> SampleSlices(const Case& c) {
  const size_t elements = ElementsOf(c);
  const std::vector<Slice> all = CutCase(c, elements / (size_t{1} << 16) + 1);
  const size_t count = std::clamp(kSample * all.size() / elements, size_t{1}, all.size());
  SplitMix64 random(0);
  std::vector<Slice> slices;
  for (size_t i = 0; i < count; ++i) {
    const size_t first = i * all.size() / count, last = (i + 1) * all.size() / count;
    slices.push_back(all[first + random.Below(last - first)]);
  }
  return slices;
}

// The mean of signed numbers of the elements of a sample, and how far it may lie from that of all
// elements.
struct Estimate {
  double mean = 0, reach = 0;
  double most() const { return mean + reach; }
};

class BiasSample {
 public:
  BiasSample(const SlicedProblem& problem, const ReferenceOfSlice& reference_of)
      : problem_(problem), slices_(SampleSlices(problem.c)), references_(slices_.size()) {
    ForEachSlice([&](size_t s) { references_[s] = reference_of(slices_[s]); });
  }

  std::vector<Estimate> BiasOfFunctions() const {
    const Recipe rounded = WithRoundedFunctions(problem_.recipe);
    std::vector<std::vector<PermittedTensor>> less(slices_.size());
    ForEachSlice([&](size_t s) {
      less[s] =
          PermittedErrors({problem_.c, problem_.inputs, rounded, problem_.operation}, slices_[s]);
    });
    return MeansOf([&](size_t s, size_t o, size_t i) {
      return ShareOfFunctions(references_[s].permitted[o].error.data[i], less[s][o].error.data[i]);
    });
  }

  // Of the recipe's own answer with its sums in that order.
  std::vector<Estimate> BiasOfSums(const SumOrder& order) const {
    std::vector<Tensors> answers(slices_.size());
    ForEachSlice([&](size_t s) {
      const ScopedSumOrder in_order(order);
      answers[s] = EvaluateByRecipe(
          {problem_.c, problem_.inputs, problem_.recipe, problem_.operation}, slices_[s]);
    });
    return MeansOf([&](size_t s, size_t o, size_t i) {
      const GoldenTensor& golden = references_[s].golden[o];
      return (answers[s][o].values.data[i] - golden.high.data[i]) - golden.low.data[i];
    });
  }

 private:
  template <class Work>
  void ForEachSlice(Work work) const {
    InParallel(slices_.size(), problem_.threads, work);
  }
  // The mean of of(s, o, i) over all elements i of each output o in all slices s.
  template <class Of>
  std::vector<Estimate> MeansOf(Of of) const {
    std::vector<Estimate> means;
    const auto& outputs = problem_.c.info().signature.outputs;
    for (size_t o = 0; o < outputs.size(); ++o) {
      const Shape shape = problem_.c.ShapeOf(outputs[o]);
      Bias bias(CountOf(shape), RowWidth(shape));
      for (size_t s = 0; s < slices_.size(); ++s) {
        const auto& [golden, permitted] = references_[s];
        const auto indices = IndicesIn(shape, outputs[o], slices_[s]);
        for (size_t i = 0; i < indices.size(); ++i)
          AddShare(golden[o], permitted[o], i, of(s, o, i), indices[i], bias);
      }
      const double errors = std::abs(bias.StandardErrors()), mean = std::abs(bias.Mean());
      const double reach = errors > 0 ? kSampleErrors * mean / errors : INFINITY;
      means.push_back({mean, mean > 0 ? reach : 0});
    }
    return means;
  }

  const SlicedProblem& problem_;
  const std::vector<Slice> slices_;
  std::vector<ProvenAndPermitted> references_;
};

}  // namespace

bool IsUnlikely(const JudgedTensor& tensor) { return tensor.verdict.grade == Grade::kUnlikely; }

bool AreUnlikely(const std::vector<JudgedTensor>& tensors) {
  const auto fails = [](const JudgedTensor& t) { return t.verdict.grade == Grade::kFails; };
  return std::ranges::none_of(tensors, fails) && std::ranges::any_of(tensors, IsUnlikely);
}

bool NeedsSample(const Case& c, const std::vector<JudgedTensor>& tensors) {
  const auto has_unlikely = [](const JudgedTensor& t) { return t.verdict.unlikely > 0; };
  return AreUnlikely(tensors) && ElementsOf(c) > kLarge && !HasBudget() &&
         std::ranges::none_of(tensors, has_unlikely);
}

void AddShare(const GoldenTensor& golden, const PermittedTensor& permitted, size_t i, double number,
              size_t at, Bias& bias) {
  const double bound = permitted.error.data[i] + std::max(0.0, golden.radius.data[i]);
  const double share = number / bound, high = golden.high.data[i];
  if (bound > 0 && bound < INFINITY && !std::isnan(share) && !std::isnan(high))
    bias.Add(at, high, share);
}

double ShareOfFunctions(double permitted, double rounded) {
  const double share = permitted - rounded;
  return share < 0 ? 0 : share;
}

Recipe WithRoundedFunctions(Recipe recipe) {
  for (StepRule& rule : recipe.steps) rule.ulps = std::min(rule.ulps, 0.5);
  return recipe;
}

ProvenAndPermitted PartOf(const Reference& reference, const Case& c, const Slice& slice) {
  ProvenAndPermitted part;
  for (size_t o = 0; o < reference.golden.size(); ++o) {
    const GoldenTensor& g = reference.golden[o];
    const PermittedTensor& p = reference.permitted[o];
    const auto of = [&](const Tensor<double>& whole) {
      return ExtractSlice(whole, c.info().signature.outputs[o], slice);
    };
    part.golden.push_back({g.name, g.dtype, {}, of(g.high), of(g.low), {}, of(g.radius)});
    part.permitted.push_back({p.name, p.dtype, of(p.error), {}, {}});
  }
  return part;
}

std::vector<JudgedTensor> JudgeBySample(
    const SlicedProblem& problem, const ReferenceOfSlice& reference_of,
    const std::vector<JudgedTensor>& before,
    const std::function<std::vector<JudgedTensor>(const std::vector<double>& bias)>& judge) {
  const auto& outputs = problem.c.info().signature.outputs;
  const auto is_needed = [&](const TensorSpec& spec) {
    const auto name = [](const JudgedTensor& tensor) { return tensor.verdict.name; };
    const auto at = std::ranges::find(before, spec.name, name);
    return at != before.end() && IsUnlikely(*at);
  };
  const BiasSample sample(problem, reference_of);
  const std::vector<Estimate> of_functions = sample.BiasOfFunctions();
  std::vector<double> of_sums(outputs.size());
  std::vector<JudgedTensor> tensors;
  for (const SumOrder& order : kSumOrders) {
    const std::vector<Estimate> in_order = sample.BiasOfSums(order);
    std::vector<double> bias(outputs.size());
    for (size_t o = 0; o < outputs.size(); ++o) {
      if (!is_needed(outputs[o])) continue;
      of_sums[o] = std::max(of_sums[o], in_order[o].most());
      bias[o] = of_functions[o].most() + kOtherOrders * of_sums[o];
      if (std::isinf(bias[o])) return {};
    }
    tensors = judge(bias);
    if (!AreUnlikely(tensors)) break;
  }
  return tensors;
}

}  // namespace sextant::oracle
