#include "oracle/diagnosis/recipe/recipe_of_bits.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "oracle/diagnosis/recipe/compared_parts.h"
#include "oracle/diagnosis/recipe/recipe_changes.h"
#include "reference/base/parallel.h"
#include "reference/base/value_text.h"

namespace sextant::oracle {
namespace {

constexpr size_t kMostSearchedWork = size_t{1} << 16;  // of the parts that the search sees
constexpr size_t kVerifiedWork = size_t{1} << 21;      // of those that verify what it found
constexpr int kMostChanges = 3;
constexpr double kNearer = 0.9;  // of the distance before: a change that brings less is none

// A recipe with words for the steps that differ from its base.
struct Changed {
  std::string base;
  std::map<Step, std::string> words{};
  bool flushes = false;

  std::string Text() const {
    std::string text = base;
    for (const auto& [step, word] : words) text += " " + word;
    return flushes ? text + " flush" : text;
  }
  int changes() const { return static_cast<int>(words.size()) + (flushes ? 1 : 0); }
};

// 0 for equal numbers, about 1 for neighbours, and at most kFarthest.
constexpr double kFarthest = 64;
double DistanceOf(double given, double own, DType dtype) {
  if (SameNumber(given, own)) return 0;
  const double ulps = std::abs(given - own) / UlpOf(dtype, given);
  return ulps < kInfinity ? std::min(kFarthest, std::log2(1 + ulps)) : kFarthest;
}

class BitSearch {
 public:
  BitSearch(std::span<const JudgedAnswer> answers, const ProveOptions& prove)
      : answers_(answers), prove_(prove), parts_(PartsOf(answers, kMostSearchedWork)) {
    for (const JudgedAnswer& answer : answers) {
      for (const Step step : answer.c.info().marked_steps) steps_.insert(step);
    }
    steps_.insert(Step::kStore);
  }

  // The first that has the same bits: the start, the start with one change, a standard recipe, and
  // what is found from the start and from the nearest standard recipe.
  std::optional<RecipeOfBits> From(const std::string& start) const {
    std::vector<Changed> standard;
    for (const StandardRecipe& one : StandardRecipes()) standard.push_back({std::string(one.name)});
    const auto [nearest, distance] = NearestOf(standard);
    auto found = DistanceOfAll(start, 0) == 0 ? std::optional(Changed{start}) : std::nullopt;
    if (!found) found = Descend({start}, 1);
    if (!found && distance == 0) found = nearest;
    if (!found) found = Descend({start}, kMostChanges);
    if (!found) found = Descend(nearest, kMostChanges);
    if (!found) return std::nullopt;
    const size_t elements = SameElements(found->Text());
    if (elements == 0) return std::nullopt;
    return RecipeOfBits{found->Text(), elements};
  }

 private:
  // Changes one step after the other. Empty if some bits still differ.
  std::optional<Changed> Descend(Changed best, int most_changes) const {
    double distance = DistanceOfAll(best.Text(), kInfinity);
    while (distance > 0 && best.changes() < most_changes) {
      const auto [changed, nearer] = NearestOf(ChangesOf(best));
      if (!(nearer < kNearer * distance)) break;
      best = changed;
      distance = nearer;
    }
    return distance > 0 ? std::nullopt : std::optional(best);
  }

  // The sum over the elements of the parts; infinite as soon as it exceeds `most`.
  double DistanceOfAll(const std::string& recipe, double most) const {
    double sum = 0;
    const auto add = [&](const OwnElement& element) {
      sum += DistanceOf(element.given, element.own, element.dtype);
      return sum <= most;
    };
    for (const ComparedPart& part : parts_) {
      if (!ForEachOwn(part, ParseRecipe(recipe, part.answer->c.dtype()), add)) return kInfinity;
    }
    return sum;
  }

  // Of equally near ones the first.
  std::pair<Changed, double> NearestOf(const std::vector<Changed>& candidates) const {
    std::vector<double> distances(candidates.size());
    std::mutex mutex;
    std::atomic<double> most = kInfinity;
    InParallel(candidates.size(), prove_.threads, [&](size_t i) {
      distances[i] = DistanceOfAll(candidates[i].Text(), most);
      const std::lock_guard lock(mutex);
      if (distances[i] < most) most = distances[i];
      if (prove_.progress) prove_.progress(0);  // it may end the call
    });
    const auto least = std::ranges::min_element(distances);
    return {candidates[static_cast<size_t>(least - distances.begin())], *least};
  }

  std::vector<Changed> ChangesOf(const Changed& best) const {
    std::vector<Changed> all;
    for (const Step step : steps_) {
      for (const std::string& word : MethodsOf(step)) {
        all.push_back(best);
        all.back().words[step] = word;
      }
    }
    all.push_back(best);
    all.back().flushes = !best.flushes;
    return all;
  }

  // The elements of larger parts; 0 if one of them has other bits.
  size_t SameElements(const std::string& recipe) const {
    size_t count = 0;
    const auto same = [&](const OwnElement& element) {
      ++count;
      return SameNumber(element.given, element.own);
    };
    for (const ComparedPart& part : PartsOf(answers_, kVerifiedWork)) {
      if (!ForEachOwn(part, ParseRecipe(recipe, part.answer->c.dtype()), same)) return 0;
    }
    return count;
  }

  std::span<const JudgedAnswer> answers_;
  const ProveOptions& prove_;
  std::vector<ComparedPart> parts_;
  std::set<Step> steps_;
};

}  // namespace

std::optional<RecipeOfBits> FindRecipeOfBits(std::span<const JudgedAnswer> answers,
                                             const std::string& start, const ProveOptions& prove) {
  if (answers.empty()) return std::nullopt;
  return BitSearch(answers, prove).From(start);
}

}  // namespace sextant::oracle
