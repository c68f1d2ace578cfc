#include "oracle/diagnosis/evidence.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "oracle/diagnosis/work.h"
#include "reference/base/parallel.h"
#include "reference/number/recipe/in_parallel_here.h"
#include "reference/prove/budget.h"

namespace sextant::oracle {
namespace {

// Elements of a slice: few for witnesses; more for the whole case, because slices share inputs
// (keys) that each of them reads, but at least kFewestSlices slices.
constexpr size_t kWitnessElements = 64, kMostInSlice = 8192, kFewestSlices = 64;

// A hypothesis computes number by number, in softmax 5 to 10 times as long as a judgement, which
// computes in vectors. So this part of a large case takes a third of a judgement at most.
constexpr size_t kPartOfLarge = 32;

// NearestOf compares so many witnesses.
constexpr size_t kNearWitnesses = 4;

size_t ObservedElements(const Observation& seen) {
  size_t count = 0;
  for (const NamedTensor& tensor : seen.answer) count += tensor.values.data.size();
  return count;
}

// Alternately the worst slice and the next of evenly spread ones, as indices.
std::vector<size_t> OrderOf(const std::vector<double>& scores) {
  const size_t count = scores.size();
  std::vector<size_t> worst(count), order;
  std::iota(worst.begin(), worst.end(), size_t{0});
  std::ranges::stable_sort(worst, std::greater(), [&](size_t i) { return scores[i]; });
  // Multiples of about the golden section of the count are spread evenly.
  size_t stride = count * 618 / 1000 + 1;
  while (std::gcd(stride, count) > 1) ++stride;
  std::vector<char> taken(count);
  for (size_t i = 0; i < count; ++i) {
    for (const size_t next : {worst[i], i * stride % count}) {
      if (!std::exchange(taken[next], 1)) order.push_back(next);
    }
  }
  return order;
}

// The worst small part of a slice.
AnsweredSlice WorstPartOf(const Observation& seen, const Slice& slice) {
  AnsweredSlice worst = AnsweredSliceOf(seen, slice);
  while (worst.elements > kWitnessElements) {
    const auto halves = Halve(seen.c, worst.slice);
    if (!halves) break;
    AnsweredSlice first = AnsweredSliceOf(seen, halves->first);
    AnsweredSlice second = AnsweredSliceOf(seen, halves->second);
    worst = std::move(second.score > first.score ? second : first);
  }
  return worst;
}

}  // namespace

Evidence::Evidence(const Observation& seen, const ProveOptions& options)
    : seen_(seen),
      options_(options),
      is_cut_(Halve(seen.c, {}).has_value()),
      across_left_(MostWork(seen.c) / std::max<size_t>(WorkOf(seen.c), 1)) {
  const size_t elements =
      std::clamp(ObservedElements(seen) / kFewestSlices, kWitnessElements, kMostInSlice);
  const std::vector<Slice> slices = SlicesInBudget(seen.c, elements);
  std::vector<double> scores(slices.size());
  std::vector<size_t> counts(slices.size()), failing(slices.size());
  InParallel(slices.size(), options.threads, [&](size_t i) {
    const AnsweredSlice part = AnsweredSliceOf(seen, slices[i]);
    scores[i] = part.score;
    counts[i] = part.elements;
    failing[i] = part.failing_elements;
  });
  elements_ = std::reduce(counts.begin(), counts.end());
  failing_ = std::reduce(failing.begin(), failing.end());
  for (const size_t i : OrderOf(scores)) {
    everything_.push_back(slices[i]);
    counts_.push_back(counts[i]);
  }
  ChooseWitnesses();
}

void Evidence::ChooseWitnesses() {
  size_t left = kWitnessed;
  for (const Slice& slice : everything_) {
    AnsweredSlice part = WorstPartOf(seen_, slice);
    if (part.elements > left && !witnesses_.empty()) break;
    left -= std::min(left, part.elements);
    Values right = RightValues(seen_, part, By::kRecipe);
    witnesses_.push_back({std::move(part), std::move(right)});
    MayCancel();
  }
}

// Progress is complete after the proof; here it only serves to cancel.
void Evidence::MayCancel() {
  if (!options_.progress) return;
  const std::lock_guard lock(mutex_);
  options_.progress(1);
}

Comparison Evidence::CompareHere(const Hypothesis& hypothesis, const AnsweredSlice& part,
                                 const Values& right, Comparing how) {
  compared_ += part.elements;
  how.some_fail = failing_ > 0;
  return Compare(seen_, part, right, hypothesis, how);
}

bool Evidence::ExplainsWitnesses(const Hypothesis& hypothesis, By by) {
  Comparison sums;
  for (const Witness& witness : witnesses_) {
    const Values& right = by == By::kRecipe ? witness.right : witness.part.exact;
    sums += CompareHere(hypothesis, witness.part, right, {.by = by, .before = &sums});
    if (sums.refutes()) return false;
  }
  return sums.explains();
}

// How the hypothesis is to be compared with everything; none if it is refuted. In a small case that
// is by the recipe, which separates two hypotheses that differ little.
std::optional<By> Evidence::SurvivesWitnesses(const Hypothesis& hypothesis) {
  if (!ExplainsWitnesses(hypothesis, By::kRecipe)) return std::nullopt;
  const bool exactly = elements_ > kAlways && ExplainsWitnesses(hypothesis, By::kExactly);
  return exactly ? By::kExactly : By::kRecipe;
}

// The slices that each survivor sees: its part of the limit, and at least one.
void Evidence::LimitSlices(std::vector<Survivor>& survivors) const {
  const size_t most = std::max(kWitnessed, ElementsInWork(seen_.c, MostWork(seen_.c)));
  for (Survivor& survivor : survivors) {
    size_t left = std::min(std::max(kAlways, elements_ / kPartOfLarge), most) / survivors.size();
    for (const size_t count : counts_) {
      if (count > left && survivor.slices > 0) break;
      left -= std::min(left, count);
      ++survivor.slices;
    }
  }
}

std::vector<Fit> Evidence::SeeEverything(const std::vector<Survivor>& survivors) {
  size_t most = 0;
  for (const Survivor& survivor : survivors) most = std::max(most, survivor.slices);
  std::vector<std::vector<Comparison>> sums(most, std::vector<Comparison>(survivors.size()));
  std::vector<std::atomic<bool>> refuted(survivors.size());
  InParallel(most, options_.threads, [&](size_t i) {
    const ScopedThreads inside(most == 1 ? options_.threads : 1);
    const AnsweredSlice part = AnsweredSliceOf(seen_, everything_[i]);
    std::optional<Values> by_recipe;
    for (size_t s = 0; s < survivors.size(); ++s) {
      const auto& [index, hypothesis, by, slices] = survivors[s];
      if (refuted[s] || i >= slices) continue;
      if (by == By::kRecipe && !by_recipe) by_recipe = RightValues(seen_, part, by);
      sums[i][s] =
          CompareHere(hypothesis, part, by == By::kRecipe ? *by_recipe : part.exact, {.by = by});
      if (!sums[i][s].conforms) refuted[s] = true;
      MayCancel();
    }
  });
  std::vector<Fit> fits(survivors.size());
  for (size_t s = 0; s < survivors.size(); ++s) {
    if (refuted[s]) continue;
    Comparison all;
    for (const std::vector<Comparison>& slice : sums) all += slice[s];
    fits[s] = {all.explains(), all.distance, all.elements, all.failing};
  }
  return fits;
}

void Evidence::SeeWhole() {
  if (whole_) return;
  const ScopedThreads inside(options_.threads);
  AnsweredSlice whole = AnsweredSliceOf(seen_, {});
  Values right = RightValues(seen_, whole, elements_ > kAlways ? By::kExactly : By::kRecipe);
  whole_ = {std::move(whole), std::move(right)};
}

Fit Evidence::FitAcross(const Hypothesis& hypothesis) {
  MayCancel();
  const ScopedThreads inside(options_.threads);
  const auto& [whole, right] = *whole_;
  // Values by the recipe refute most hypotheses; bounds cost many times as much.
  const Comparison none;
  Comparison sums = CompareHere(hypothesis, whole, right, {.by = By::kRecipe, .before = &none});
  if (elements_ > kAlways && !sums.refutes())
    sums = CompareHere(hypothesis, whole, whole.exact, {.by = By::kExactly});
  return {sums.explains(), sums.distance, sums.elements, sums.failing};
}

std::vector<Fit> Evidence::FitsOf(const std::vector<Candidate>& candidates) {
  std::vector<std::optional<Survivor>> found(candidates.size());
  InParallel(candidates.size(), options_.threads, [&](size_t i) {
    if (IsAcross(candidates[i].is_across_slices)) return;
    auto hypothesis = candidates[i].make();
    const auto by = hypothesis ? SurvivesWitnesses(*hypothesis) : std::nullopt;
    if (by) found[i] = Survivor{i, std::move(*hypothesis), *by};
    MayCancel();
  });
  std::vector<Survivor> survivors;
  for (auto& survivor : found) {
    if (survivor) survivors.push_back(std::move(*survivor));
  }
  LimitSlices(survivors);
  const std::vector<Fit> seen = SeeEverything(survivors);
  std::vector<Fit> fits(candidates.size());
  for (size_t s = 0; s < survivors.size(); ++s) fits[survivors[s].index] = seen[s];
  if (HasBudget() || elements_ > kAlways) return fits;
  std::vector<size_t> across;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (IsAcross(candidates[i].is_across_slices)) across.push_back(i);
  }
  across.resize(std::min(across.size(), across_left_));
  across_left_ -= across.size();
  if (!across.empty()) SeeWhole();
  InParallel(across.size(), options_.threads, [&](size_t i) {
    const auto hypothesis = candidates[across[i]].make();
    if (hypothesis) fits[across[i]] = FitAcross(*hypothesis);
  });
  return fits;
}

std::vector<Fit> Evidence::FitsOfProposed(const std::vector<Candidate>& candidates) {
  const size_t left = across_left_;
  const std::vector<Fit> fits = FitsOf(candidates);
  across_left_ = left;
  return fits;
}

std::vector<size_t> Evidence::NearestOf(const std::vector<Candidate>& candidates, size_t most) {
  std::vector<size_t> near(candidates.size());
  InParallel(candidates.size(), options_.threads, [&](size_t i) {
    if (IsAcross(candidates[i].is_across_slices)) return;
    const auto hypothesis = candidates[i].make();
    for (size_t w = 0; hypothesis && w < std::min(kNearWitnesses, witnesses_.size()); ++w) {
      near[i] += CompareHere(*hypothesis, witnesses_[w].part, witnesses_[w].right, {}).near_failing;
    }
    MayCancel();
  });
  std::vector<size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::erase_if(order, [&](size_t i) { return near[i] == 0; });
  std::ranges::stable_sort(order, std::greater(), [&](size_t i) { return near[i]; });
  order.resize(std::min(order.size(), most));
  return order;
}

bool Evidence::HasEffect(const Hypothesis& hypothesis) {
  return std::ranges::any_of(witnesses_, [&](const Witness& witness) {
    return CompareHere(hypothesis, witness.part, witness.right, {}).effects > 0;
  });
}

Fit Evidence::FitOf(const Hypothesis& hypothesis) {
  if (!IsAcross(hypothesis.is_across_slices))
    return FitsOf({{.make = [&] { return std::optional(hypothesis); }}})[0];
  if (HasBudget() || across_left_ == 0) return {};
  --across_left_;
  SeeWhole();
  return FitAcross(hypothesis);
}

bool IsLarge(const Case& c) {
  return CountOf(c.ShapeOf(c.info().signature.outputs[0])) > Evidence::kAlways;
}

bool IsEvidence(size_t failing, size_t choices) {
  return static_cast<double>(failing) > 2 + std::log2(static_cast<double>(choices));
}

std::vector<Explanation> ExplainingOf(const Observation& seen, std::vector<Explanation> possible) {
  if (possible.empty()) return {};
  std::optional<Evidence> own;
  Evidence& evidence = seen.how.evidence ? *seen.how.evidence : own.emplace(seen);
  if (!IsEvidence(evidence.failing(), possible.size())) return {};
  std::vector<Candidate> candidates;
  for (const Explanation& one : possible) {
    candidates.push_back({[&one] { return std::optional(one.model); }, one.model.is_across_slices});
  }
  const std::vector<Fit> fits = evidence.FitsOfProposed(candidates);
  std::vector<Explanation> explaining;
  for (size_t i = 0; i < fits.size(); ++i)
    if (fits[i].explains) explaining.push_back(std::move(possible[i]));
  return explaining;
}

}  // namespace sextant::oracle
