#include "oracle/diagnosis/recipe_search.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <set>

#include "oracle/diagnosis/recipe_changes.h"
#include "oracle/diagnosis/recipe_verdict.h"
#include "oracle/diagnosis/recipe_witness.h"
#include "reference/base/parallel.h"

namespace sextant::oracle {
namespace {

constexpr size_t kMostWitnesses = 48;
constexpr size_t kMostPairs = 32;  // of changes, tried on the witnesses
// A method is told apart if its own answer is this much farther away (as causes,
// catalog/causes.cc).
constexpr double kFarther = 2;
constexpr size_t kMostJudged = 12;  // recipes by which all answers are judged

// A candidate and the errors that it permits on each witness.
struct Tried {
  RecipeCandidate candidate;
  std::vector<Elements> permitted{};
  bool permits = false;             // all errors of a witness
  std::vector<size_t> explained{};  // indices of witnesses whose errors it permits, and has itself
  double ulps = 0;                  // MeanUlps of those
  double distance = 0;              // of its own answer from the given one (DistanceOf)
};

// Elements that could have failed, of as many as the sample has.
size_t JudgedBefore(const Verdict& verdict, const std::optional<Sample>& sample) {
  const size_t judged = JudgedElements(verdict);
  return sample ? judged * sample->elements / sample->all_elements : judged;
}

class Search {
 public:
  Search(std::span<const JudgedAnswer> answers, const RecipeSearch& search)
      : answers_(answers), search_(search) {
    for (size_t i = 0; i < answers.size(); ++i) {
      if (Fails(answers[i])) failing_.push_back(i);
    }
    std::vector<size_t> seen = failing_;
    for (size_t i = 0; failing_.empty() && i < answers.size(); ++i) seen.push_back(i);
    for (const size_t i : seen) {
      for (const Step step : answers[i].c.info().marked_steps) steps_.insert(step);
    }
    // Evenly among these answers, the first and the last too.
    const size_t count = std::min(seen.size(), kMostWitnesses);
    for (size_t i = 0; i < count; ++i) {
      const size_t at = count == 1 ? 0 : i * (seen.size() - 1) / (count - 1);
      if (auto witness = WitnessOf(answers[seen[at]], search.start))
        witnesses_.push_back(std::move(*witness));
    }
  }

  std::optional<FoundRecipe> Narrowest() const {
    if (failing_.empty()) return Narrower();
    std::vector<Tried> tried = TrySingle();
    if (search_.most_changes > 1) std::ranges::move(TryPairs(tried), std::back_inserter(tried));
    std::optional<FoundRecipe> best;
    for (int changes = 1; changes <= search_.most_changes; ++changes) {
      auto found = BestOf(tried, changes);
      if (found && (!best || found->failing.size() < best->failing.size())) best = found;
      if (best && best->failing.empty()) break;
    }
    return best;
  }

 private:
  int ChangesOf(const std::string& recipe) const {
    int most = 0;
    for (const RecipeWitness& witness : witnesses_) {
      const DType dtype = witness.answer->c.dtype();
      most = std::max(
          most, CountChanges(ParseRecipe(search_.start, dtype), ParseRecipe(recipe, dtype), dtype));
    }
    return most;
  }

  void Try(std::vector<Tried>& tried) const {
    std::mutex mutex;
    InParallel(tried.size(), search_.prove.threads, [&](size_t i) {
      Tried& one = tried[i];
      for (size_t w = 0; w < witnesses_.size(); ++w) {
        one.permitted.push_back(PermittedOn(witnesses_[w], one.candidate.text));
        const RecipeWitness& witness = witnesses_[w];
        const std::string& recipe = one.candidate.text;
        const bool decides = Decides(witness.answer->c, recipe);
        if (!decides && !Permits(one.permitted.back(), witness)) continue;
        one.permits = true;
        if (decides || IsAsAccurate(witness, recipe)) one.explained.push_back(w);
      }
      one.ulps = MeanUlps(one.permitted, witnesses_, one.explained);
      const std::lock_guard lock(mutex);
      if (search_.prove.progress) search_.prove.progress(1);  // may cancel
    });
  }

  // Recipes of one change. Without a witness only intermediates fail: then only standard recipes.
  std::vector<Tried> TrySingle() const {
    std::vector<Tried> all, rest;
    for (RecipeCandidate& candidate : RecipesNear(search_.start, steps_)) {
      if (candidate.changes == 0) candidate.changes = ChangesOf(candidate.text);
      if (candidate.changes == 0 || (witnesses_.empty() && candidate.step)) continue;
      const bool first = !candidate.step || candidate.is_loosest;
      (first ? all : rest).push_back({std::move(candidate)});
    }
    Try(all);
    // The other rules of a step can only explain what its loosest rules do. Pairs need all rules.
    std::set<Step> useful;
    for (const Tried& one : all) {
      if (one.candidate.step && (one.permits || search_.most_changes > 1))
        useful.insert(*one.candidate.step);
    }
    std::erase_if(rest, [&](const Tried& one) { return !useful.contains(*one.candidate.step); });
    Try(rest);
    rest.insert(rest.end(), all.begin(), all.end());
    return rest;
  }

  // The permitted errors of both changes together, if they were exactly additive.
  std::vector<Elements> Sum(const Tried& a, const Tried& b) const {
    std::vector<Elements> sums;
    for (size_t w = 0; w < witnesses_.size(); ++w) {
      Elements sum = a.permitted[w];
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += b.permitted[w][i] - witnesses_[w].before[i];
      sums.push_back(std::move(sum));
    }
    return sums;
  }

  std::vector<Tried> TryPairs(const std::vector<Tried>& single) const {
    size_t most = 0;  // explained by one change
    for (const Tried& one : single) most = std::max(most, one.explained.size());
    std::vector<std::pair<size_t, Tried>> pairs;  // with the number of witnesses not explained
    for (const Tried& a : single) {
      for (const Tried& b : single) {
        if (!a.candidate.step || !b.candidate.step || !(*a.candidate.step < *b.candidate.step))
          continue;
        if (a.candidate.changes + b.candidate.changes > search_.most_changes) continue;
        const std::vector<Elements> sum = Sum(a, b);
        size_t explained = 0;
        for (size_t w = 0; w < witnesses_.size(); ++w) explained += Permits(sum[w], witnesses_[w]);
        if (explained <= most && explained < witnesses_.size()) continue;
        const std::string change = a.candidate.change + " " + b.candidate.change;
        Tried pair{{search_.start + " " + change, 2, change}};
        pair.ulps = MeanUlps(sum, witnesses_, All());
        pairs.emplace_back(witnesses_.size() - explained, std::move(pair));
      }
    }
    std::ranges::stable_sort(pairs, {},
                             [](const auto& one) { return std::pair(one.first, one.second.ulps); });
    pairs.resize(std::min(pairs.size(), kMostPairs));
    std::vector<Tried> tried;
    for (auto& [missing, pair] : pairs) tried.push_back(std::move(pair));
    Try(tried);
    return tried;
  }

  // Of the recipes that are not single changes and permit less than the start, the narrowest by
  // which all answers conform, or else the start.
  FoundRecipe Narrower() const {
    std::vector<Tried> narrower;
    for (RecipeCandidate& candidate : RecipesNear(search_.start, {}))
      narrower.push_back({std::move(candidate)});
    Try(narrower);
    std::erase_if(narrower, [&](const Tried& one) {
      return one.explained.size() < witnesses_.size() || !(one.ulps < MeanBefore(All())) ||
             LosesElements(one.permitted, witnesses_);
    });
    if (!narrower.empty()) {
      if (auto found = BestOf(narrower, 1)) return *found;
    }
    FoundRecipe start{search_.start, 0, MeanBefore(All()), MeanBefore(All())};
    for (const JudgedAnswer& answer : answers_) start.judgeable += JudgedElements(answer.verdict);
    start.judgeable_before = start.judgeable;
    return start;
  }

  // Judges all answers by the most promising candidates with so many changes.
  std::optional<FoundRecipe> BestOf(std::vector<Tried> tried, int changes) const {
    const bool seen = !witnesses_.empty();
    std::erase_if(tried, [&](const Tried& one) {
      return one.candidate.changes != changes || (seen && one.explained.empty());
    });
    std::ranges::stable_sort(tried, {}, [&](const Tried& one) {
      return std::pair(witnesses_.size() - one.explained.size(), one.ulps);
    });
    const auto alike = std::ranges::unique(tried, {}, &Tried::ulps);
    if (seen) tried.erase(alike.begin(), alike.end());
    const size_t methods = PutNearestMethodFirst(tried);
    std::optional<FoundRecipe> best;
    for (size_t i = 0; i < std::min(tried.size(), kMostJudged); ++i) {
      const size_t most = best ? best->failing.size() : std::max<size_t>(failing_.size(), 1);
      if (auto found = JudgeAll(tried[i], most)) best = std::move(found);
      if (!best || !best->failing.empty()) continue;
      const double near =
          std::max(kFarther * tried[i].distance, DistanceFrom(search_.start) / kFarther);
      while (++i < methods && tried[i].distance <= near) {
        const bool is_method = HaveSameAccuracies(tried[i].candidate.text, best->recipe);
        if (is_method && JudgeAll(tried[i], 1)) best->others.push_back(tried[i].candidate.text);
      }
      break;
    }
    return best;
  }

  // Methods of the same formats often permit each other's answers. Of those that explain as many
  // witnesses as the first candidate, puts the one first whose own answer is nearest to the given
  // one. Returns their number.
  size_t PutNearestMethodFirst(std::vector<Tried>& tried) const {
    if (tried.empty() || witnesses_.empty()) return 0;
    const DType dtype = witnesses_.front().answer->c.dtype();
    const auto recipe_of = [&](const Tried& one) { return ParseRecipe(one.candidate.text, dtype); };
    const Recipe first = recipe_of(tried.front());
    const size_t explained = tried.front().explained.size();
    const auto rest = std::ranges::stable_partition(tried, [&](const Tried& one) {
      return HaveSameFormats(recipe_of(one), first, dtype) && one.explained.size() == explained;
    });
    const std::span methods(tried.begin(), rest.begin());
    for (Tried& one : methods) one.distance = DistanceFrom(one.candidate.text);
    std::ranges::stable_sort(methods, {}, &Tried::distance);
    return methods.size();
  }

  double DistanceFrom(const std::string& recipe) const {
    double distance = 0;
    for (const RecipeWitness& witness : witnesses_) distance += DistanceOf(witness, recipe);
    return distance;
  }

  // Empty if at least `most` answers fail, or too few elements stay judgeable.
  std::optional<FoundRecipe> JudgeAll(const Tried& tried, size_t most) const {
    FoundRecipe found{tried.candidate.text, tried.candidate.changes, tried.ulps,
                      MeanBefore(tried.explained)};
    std::vector<size_t> order = failing_;  // these first: they soon rule out a recipe
    for (size_t i = 0; i < answers_.size(); ++i) {
      if (!Fails(answers_[i])) order.push_back(i);
    }
    for (const size_t i : order) {
      const std::optional<Verdict> verdict = ConformingVerdict(answers_[i], found.recipe, search_);
      if (!verdict) found.failing.push_back(i);
      if (found.failing.size() >= most) return std::nullopt;
      if (!verdict) continue;
      found.judgeable += JudgedElements(*verdict);
      found.judgeable_before += JudgedBefore(answers_[i].verdict, verdict->sample);
      found.sample = verdict->sample;
    }
    const double least = kMostStayJudgeable * static_cast<double>(found.judgeable_before);
    if (static_cast<double>(found.judgeable) < least) return std::nullopt;
    std::ranges::sort(found.failing);
    return found;
  }

  std::vector<size_t> All() const {
    std::vector<size_t> all(witnesses_.size());
    std::iota(all.begin(), all.end(), size_t{0});
    return all;
  }

  double MeanBefore(const std::vector<size_t>& which) const {
    std::vector<Elements> before;
    for (const RecipeWitness& witness : witnesses_) before.push_back(witness.before);
    return MeanUlps(before, witnesses_, which);
  }

  std::span<const JudgedAnswer> answers_;
  const RecipeSearch& search_;
  std::vector<size_t> failing_;  // indices of answers
  std::set<Step> steps_;         // of those
  std::vector<RecipeWitness> witnesses_;
};

}  // namespace

std::optional<FoundRecipe> NarrowestRecipe(std::span<const JudgedAnswer> answers,
                                           const RecipeSearch& search) {
  return Search(answers, search).Narrowest();
}

}  // namespace sextant::oracle
