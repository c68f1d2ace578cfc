// Branch and bound. "An element hits a set" means that the set contains it. Before it branches, the
// search applies three reductions that keep at least one minimum hitting set:
//   drop a set that contains another set: whatever hits the smaller one also hits the larger one;
//   drop an element if another element hits the same sets or more;
//   choose the element of a set of one.
// Lower bound of a branch: disjoint sets need one element each.
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

Sets NotHitBy(Sets sets, size_t element) {
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

// For every element, the indices of the sets that it hits.
std::map<size_t, Set> SetsOfElements(const Sets& sets) {
  std::map<size_t, Set> hit;
  for (size_t i = 0; i < sets.size(); ++i) {
    for (const size_t element : sets[i]) hit[element].push_back(i);
  }
  return hit;
}

// Drops one element if another one hits the same sets or more. Returns whether it dropped one.
bool DropDominated(Sets& sets) {
  const auto hit = SetsOfElements(sets);
  for (const auto& [element, own] : hit) {
    for (const auto& [other, more] : hit) {
      if (element == other || !std::ranges::includes(more, own)) continue;
      if (more.size() == own.size() && element < other) continue;  // keep the first of equals
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
  // The first descent is greedy and ignores the limit of steps, so there is always a result.
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
    const auto hit = SetsOfElements(sets);
    Set elements = sets.front();
    std::ranges::stable_sort(elements, std::ranges::greater{},
                             [&hit](size_t e) { return hit.at(e).size(); });
    for (const size_t element : elements) {
      if (steps_ > 0) --steps_;
      Set with = chosen;
      with.push_back(element);
      Visit(NotHitBy(sets, element), std::move(with));
      sets = WithoutElement(std::move(sets), element);  // the next branches do not choose it
      if (std::ranges::any_of(sets, &Set::empty)) return;
    }
  }

  static void Reduce(Sets& sets, Set& chosen) {
    do {
      KeepSmallestSets(sets);
      while (!sets.empty() && sets.front().size() == 1) {
        chosen.push_back(sets.front().front());
        sets = NotHitBy(std::move(sets), chosen.back());
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
