// Branch and bound. Before it branches, three reductions that keep a smallest choice:
//   a set that contains another is met with it;
//   an element that meets no set but those that another one meets is not needed;
//   a set of one element demands it.
// Disjoint sets need an element each: that bounds what a branch can reach.
#include "oracle/audit/hitting_set.h"

#include <algorithm>
#include <map>

namespace sextant::oracle {
namespace {

using Set = std::vector<size_t>;
using Sets = std::vector<Set>;

bool Has(const Set& set, size_t element) { return std::ranges::binary_search(set, element); }

Sets WithoutElement(Sets sets, size_t element) {
  for (Set& set : sets) std::erase(set, element);
  return sets;
}

Sets NotMetBy(Sets sets, size_t element) {
  std::erase_if(sets, [element](const Set& set) { return Has(set, element); });
  return sets;
}

void KeepSmallestSets(Sets& sets) {
  std::ranges::sort(sets, [](const Set& a, const Set& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  Sets kept;
  for (Set& set : sets) {
    const auto contained = [&set](const Set& other) { return std::ranges::includes(set, other); };
    if (std::ranges::none_of(kept, contained)) kept.push_back(std::move(set));
  }
  sets = std::move(kept);
}

// For every element, the indices of the sets that it meets.
std::map<size_t, Set> MetBy(const Sets& sets) {
  std::map<size_t, Set> met;
  for (size_t i = 0; i < sets.size(); ++i) {
    for (const size_t element : sets[i]) met[element].push_back(i);
  }
  return met;
}

// Whether an element was taken out because another one meets at least the same sets.
bool DropDominated(Sets& sets) {
  const auto met = MetBy(sets);
  for (const auto& [element, own] : met) {
    for (const auto& [other, more] : met) {
      if (element == other || !std::ranges::includes(more, own)) continue;
      if (more.size() == own.size() && element < other) continue;  // of equals the first stays
      sets = WithoutElement(std::move(sets), element);
      return true;
    }
  }
  return false;
}

size_t DisjointSets(const Sets& sets) {
  Set used;
  size_t count = 0;
  for (const Set& set : sets) {
    if (std::ranges::any_of(set, [&used](size_t e) { return std::ranges::count(used, e) > 0; })) {
      continue;
    }
    used.insert(used.end(), set.begin(), set.end());
    ++count;
  }
  return count;
}

class Search {
 public:
  Search(const Sets& sets, size_t steps) : steps_(steps) { Visit(sets, {}); }

  HittingSet Result() const {
    HittingSet result{best_, steps_ > 0 ? best_.size() : bound_};
    std::ranges::sort(result.elements);
    return result;
  }

 private:
  // The first descent is greedy and always ends, so that there is an answer whatever the steps.
  void Visit(Sets sets, Set chosen) {
    Reduce(sets, chosen);
    const size_t bound = chosen.size() + DisjointSets(sets);
    if (!found_ && bound_ == 0) bound_ = bound;
    if (found_ && (bound >= best_.size() || steps_ == 0)) return;
    if (sets.empty()) {
      best_ = std::move(chosen);
      found_ = true;
      return;
    }
    const auto met = MetBy(sets);
    Set candidates = sets.front();
    std::ranges::stable_sort(candidates, std::ranges::greater{},
                             [&met](size_t e) { return met.at(e).size(); });
    for (const size_t element : candidates) {
      if (steps_ > 0) --steps_;
      Set with = chosen;
      with.push_back(element);
      Visit(NotMetBy(sets, element), std::move(with));
      sets = WithoutElement(std::move(sets), element);  // what follows does without it
      if (std::ranges::any_of(sets, &Set::empty)) return;
    }
  }

  static void Reduce(Sets& sets, Set& chosen) {
    do {
      KeepSmallestSets(sets);
      while (!sets.empty() && sets.front().size() == 1) {
        chosen.push_back(sets.front().front());
        sets = NotMetBy(std::move(sets), chosen.back());
      }
    } while (DropDominated(sets));
  }

  size_t steps_, bound_ = 0;
  bool found_ = false;
  Set best_;
};

}  // namespace

HittingSet FindHittingSet(const std::vector<std::vector<size_t>>& sets, size_t steps) {
  return Search(sets, steps).Result();
}

}  // namespace sextant::oracle
