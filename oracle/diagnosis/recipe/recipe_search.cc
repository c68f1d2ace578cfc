#include "oracle/diagnosis/recipe/recipe_search.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <set>

#include "oracle/diagnosis/recipe/own_errors.h"
#include "oracle/diagnosis/recipe/recipe_changes.h"
#include "oracle/diagnosis/recipe/recipe_verdict.h"
#include "oracle/diagnosis/recipe/recipe_witness.h"
#include "oracle/diagnosis/recipe/tried_recipe.h"
#include "oracle/diagnosis/work.h"
#include "reference/base/parallel.h"

namespace sextant::oracle {
namespace {

constexpr size_t kMostWitnesses = 48;
constexpr size_t kMostPairs = 32;   // of changes, tried on the witnesses
constexpr size_t kMostJudged = 12;  // recipes by which all answers are judged

std::pair<size_t, bool> RankOf(const FoundRecipe& found) {  // the best first
  return {found.failing.size(), found.has_other_errors};
}

class StepSearch {
 public:
  StepSearch(std::span<const JudgedAnswer> answers, const RecipeSearch& search)
      : answers_(answers), search_(search) {
    for (size_t i = 0; i < answers.size(); ++i) {
      if (Fails(answers[i])) failing_.push_back(i);
    }
    std::vector<size_t> seen = failing_;
    for (size_t i = 0; failing_.empty() && i < answers.size(); ++i) seen.push_back(i);
    for (const size_t i : seen) {
      for (const Step step : answers[i].c.info().marked_steps) steps_.insert(step);
      dtypes_.insert(answers[i].c.dtype());
    }
    SetSingle();
    // Evenly among these answers, the first and the last too.
    const size_t count = std::min(seen.size(), kMostWitnesses);
    for (size_t i = 0; i < count; ++i) {
      const JudgedAnswer& answer =
          answers[seen[count == 1 ? 0 : i * (seen.size() - 1) / (count - 1)]];
      auto witness = WitnessOf(answer, search.start);
      if (!witness && Fails(answer) && !TakesTooLong(wider_.size()))
        witness = WitnessInTrace(answer, search.start, search.prove);
      if (witness) witnesses_.push_back(*std::move(witness));
    }
  }

  std::optional<FoundRecipe> Narrowest() const {
    if (failing_.empty()) return Narrower();
    if (std::ranges::all_of(failing_,
                            [this](size_t i) { return HasOutliers(answers_[i], search_.start); }))
      return std::nullopt;
    std::vector<TriedRecipe> tried = TrySingle();
    if (search_.most_changes > 1) std::ranges::move(TryPairs(tried), std::back_inserter(tried));
    std::optional<FoundRecipe> best;
    for (int changes = 1; changes <= search_.most_changes; ++changes) {
      auto found = BestOf(tried, changes);
      if (!found) continue;
      if (!best || RankOf(*found) < RankOf(*best)) best = found;
      if (RankOf(*best) == RankOf({})) break;
    }
    return best;
  }

  std::optional<FoundRecipe> By(const std::string& recipe) const {
    std::vector<TriedRecipe> one = {{{recipe, MostChanges(search_.start, recipe, dtypes_)}}};
    Try(one);
    return JudgeAll(one.front(), 1);
  }

 private:
  void Try(std::vector<TriedRecipe>& tried) const {
    std::mutex mutex;
    InParallel(tried.size(), search_.prove.threads, [&](size_t i) {
      TriedRecipe& one = tried[i];
      for (size_t w = 0; w < witnesses_.size(); ++w) {
        one.permitted.push_back(PermittedOn(witnesses_[w], one.candidate.text));
        const RecipeWitness& witness = witnesses_[w];
        const bool decides = Decides(witness.answer->c, one.candidate.text);
        if (!decides && !Permits(one.permitted.back(), witness)) continue;
        one.permits = true;
        if (decides || IsAsAccurate(witness, one.candidate.text)) one.explained.push_back(w);
      }
      one.ulps = MeanUlps(one.permitted, witnesses_, one.explained);
      const std::lock_guard lock(mutex);
      if (search_.prove.progress) search_.prove.progress(1);  // may cancel
    });
  }

  // Sets the recipes of one change.
  void SetSingle() {
    const bool is_narrow =
        std::ranges::none_of(dtypes_, [](DType dtype) { return Contains(dtype, DType::kF32); });
    for (RecipeCandidate& candidate : RecipesNear(search_.start, steps_)) {
      if (candidate.changes == 0)
        candidate.changes = MostChanges(search_.start, candidate.text, dtypes_);
      // In 16 bits, f64 permits what f32 does, but for the roundings to f32.
      const bool is_needless = is_narrow && candidate.change.find("=f64") != std::string::npos;
      if (candidate.changes == 0 || is_needless) continue;
      if (HasWiderFormats(candidate.text, search_.start, dtypes_)) wider_.push_back({candidate});
      const bool first = !candidate.step || candidate.is_loosest;
      (first ? first_ : rest_).push_back({std::move(candidate)});
    }
  }

  // True if so many judgements of a case that cannot be cut have too much work (work.h).
  bool TakesTooLong(size_t recipes) const {
    const auto is_long = [&](size_t i) { return MostHypotheses(answers_[i].c) < recipes; };
    return search_.in_part && std::ranges::any_of(failing_, is_long);
  }

  // Of recipes that explain a trace alone: those by which intermediates are answered rounded, but
  // used before. Others would permit most bugs that are so small. Where these take too long, too,
  // there is no witness, and one is likely enough to be worth a judgement.
  std::vector<TriedRecipe> TryWider() const {
    std::vector<TriedRecipe> wider = wider_;
    if (witnesses_.empty())
      std::erase_if(wider, [](const auto& one) { return one.candidate.change != kRoundedOnce; });
    Try(wider);
    return wider;
  }

  std::vector<TriedRecipe> TrySingle() const {
    if (std::ranges::all_of(witnesses_, &RecipeWitness::in_trace)) return TryWider();
    if (TakesTooLong(first_.size())) return {};
    std::vector<TriedRecipe> all = first_, rest = rest_;
    Try(all);
    // The other rules of a step can only explain what its loosest rules do, alone or in pairs.
    std::set<Step> useful;
    for (const TriedRecipe& one : all) {
      if (one.candidate.step && one.permits) useful.insert(*one.candidate.step);
    }
    for (size_t i = 0; i < all.size() && search_.most_changes > 1; ++i) {
      for (size_t j = 0; j <= i; ++j)
        if (MayExplain(witnesses_, all[i], all[j]))
          useful.insert({*all[i].candidate.step, *all[j].candidate.step});
    }
    std::erase_if(rest,
                  [&](const TriedRecipe& one) { return !useful.contains(*one.candidate.step); });
    Try(rest);
    rest.insert(rest.end(), all.begin(), all.end());
    return rest;
  }

  std::vector<TriedRecipe> TryPairs(const std::vector<TriedRecipe>& single) const {
    size_t most = 0;  // explained by one change
    for (const TriedRecipe& one : single) most = std::max(most, one.explained.size());
    std::vector<std::pair<size_t, TriedRecipe>> pairs;  // with the witnesses not explained
    for (const TriedRecipe& a : single) {
      for (const TriedRecipe& b : single) {
        if (!a.candidate.step || !b.candidate.step || !(*a.candidate.step < *b.candidate.step))
          continue;
        if (a.candidate.changes + b.candidate.changes > search_.most_changes) continue;
        const size_t explained = CountExplained(witnesses_, a, b);
        if (explained <= most && explained < witnesses_.size()) continue;
        const std::string change = a.candidate.change + " " + b.candidate.change;
        TriedRecipe pair{{search_.start + " " + change, 2, change}};
        std::vector<Elements> sums;
        for (const size_t w : All()) sums.push_back(SumOf(witnesses_, a, b, w));
        pair.ulps = MeanUlps(sums, witnesses_, All());
        pairs.emplace_back(witnesses_.size() - explained, std::move(pair));
      }
    }
    std::ranges::stable_sort(pairs, {},
                             [](const auto& one) { return std::pair(one.first, one.second.ulps); });
    pairs.resize(std::min(pairs.size(), kMostPairs));
    std::vector<TriedRecipe> tried;
    for (auto& [missing, pair] : pairs) tried.push_back(std::move(pair));
    Try(tried);
    return tried;
  }

  // Of the recipes that are not single changes and permit less than the start, the narrowest by
  // which all answers conform, or else the start.
  FoundRecipe Narrower() const {
    std::vector<TriedRecipe> narrower;
    for (RecipeCandidate& candidate : RecipesNear(search_.start, {}))
      narrower.push_back({std::move(candidate)});
    Try(narrower);
    std::erase_if(narrower, [&](const TriedRecipe& one) {
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
  std::optional<FoundRecipe> BestOf(std::vector<TriedRecipe> tried, int changes) const {
    const bool seen = !witnesses_.empty();
    std::erase_if(tried, [&](const TriedRecipe& one) {
      return one.candidate.changes != changes || (seen && one.explained.empty());
    });
    std::ranges::stable_sort(tried, {}, [&](const TriedRecipe& one) {
      return std::pair(witnesses_.size() - one.explained.size(), one.ulps);
    });
    const auto alike = std::ranges::unique(
        tried, {}, [](const TriedRecipe& one) { return std::pair(one.candidate.step, one.ulps); });
    if (seen) tried.erase(alike.begin(), alike.end());
    PutNearestFirst(witnesses_, tried);
    const size_t methods = PutNearestMethodFirst(witnesses_, tried);
    std::optional<FoundRecipe> best;
    for (size_t i = 0; i < std::min(tried.size(), kMostJudged); ++i) {
      const size_t most = best ? best->failing.size() : std::max<size_t>(failing_.size(), 1);
      if (auto found = JudgeAll(tried[i], most)) best = std::move(found);
      if (!best || !best->failing.empty()) continue;
      best->has_other_errors = HasOtherErrors(best->recipe, answers_);
      if (!best->has_other_errors)  // else no other method is nearer to the answers
        best->others =
            OthersOf(best->recipe, std::span(tried).subspan(i, std::max(methods, i) - i));
      break;
    }
    return best;
  }

  // FoundRecipe::others; the recipe is that of the first of `methods`.
  std::vector<std::string> OthersOf(const std::string& recipe,
                                    std::span<const TriedRecipe> methods) const {
    std::vector<std::string> others;
    const double start = DistanceFrom(witnesses_, search_.start) / kFarther;
    for (size_t i = 1; i < methods.size(); ++i) {
      if (methods[i].distance > std::max(kFarther * methods[0].distance, start)) break;
      const std::string& text = methods[i].candidate.text;
      if (HaveSameAccuracies(text, recipe) && JudgeAll(methods[i], 1)) others.push_back(text);
    }
    return others;
  }

  // Empty if at least `most` answers fail, or too few elements stay judgeable.
  std::optional<FoundRecipe> JudgeAll(const TriedRecipe& tried, size_t most) const {
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
  std::set<Step> steps_;         // of those, or of all if none fails
  std::set<DType> dtypes_;       // the same
  // Recipes of one change: those that are tried first, the others, and of both those of wider
  // formats.
  std::vector<TriedRecipe> first_, rest_, wider_;
  std::vector<RecipeWitness> witnesses_;
};

}  // namespace

std::optional<FoundRecipe> JudgedBy(const std::string& recipe,
                                    std::span<const JudgedAnswer> answers,
                                    const RecipeSearch& search) {
  return StepSearch(answers, search).By(recipe);
}

std::optional<FoundRecipe> NarrowestRecipe(std::span<const JudgedAnswer> answers,
                                           const RecipeSearch& search) {
  return StepSearch(answers, search).Narrowest();
}

}  // namespace sextant::oracle
