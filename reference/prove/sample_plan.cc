#include "reference/prove/sample_plan.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "reference/base/splitmix64.h"

namespace sextant {
namespace {

// A stratum has at least this many slices, so that at most a quarter of the slices are first or
// last ones.
constexpr size_t kPerStratum = 8;

using Part = std::pair<size_t, size_t>;  // first index, count

struct Axis {
  std::string letter;
  std::vector<Part> parts;
  bool of_strata;
};

bool IsOfStrata(char letter) { return letter == 'B' || letter == 'H' || letter == 'K'; }

// Parts of almost equal size.
void AddEqualParts(size_t first, size_t extent, size_t count, std::vector<Part>& parts) {
  for (size_t i = 0; i < count; ++i) {
    const size_t begin = extent * i / count, end = extent * (i + 1) / count;
    parts.push_back({first + begin, end - begin});
  }
}

// At most `most` parts of an axis, most > 0.
std::vector<Part> PartsOf(size_t extent, size_t most) {
  std::vector<Part> parts;
  if (extent <= most || most < 3) {
    AddEqualParts(0, extent, std::min(extent, most), parts);
  } else {
    parts.push_back({0, 1});
    AddEqualParts(1, extent - 2, most - 2, parts);
    parts.push_back({extent - 1, 1});
  }
  return parts;
}

size_t ExtentOf(const Case& c, char letter) {
  return static_cast<size_t>(c.dimensions().at(std::string(1, letter)));
}

// The axes that are cut, in the order of kSlices.
std::vector<Axis> AxesOf(const Case& c) {
  std::vector<Axis> axes;
  size_t left = kMostPlanned;
  const std::string_view letters = c.info().slices;
  for (size_t i = 0; i < letters.size(); ++i) {
    const size_t extent = ExtentOf(c, letters[i]);
    const bool of_strata = IsOfStrata(letters[i]);
    // Axes of strata leave enough slices for other axes after them.
    const bool shares = of_strata && std::ranges::any_of(letters.substr(i), [&](char other) {
                          return !IsOfStrata(other) && ExtentOf(c, other) > 1;
                        });
    const size_t most = shares ? left / kPerStratum : left;
    if (extent <= 1 || most <= 1) continue;
    axes.push_back({std::string(1, letters[i]), PartsOf(extent, most), of_strata});
    left /= axes.back().parts.size();
  }
  return axes;
}

template <class T>
void Shuffle(std::vector<T>& items, SplitMix64& random) {
  for (size_t i = 0; i < items.size(); ++i)
    std::swap(items[i], items[i + random.Below(items.size() - i)]);
}

// The slices in row-major order, by stratum.
std::vector<std::vector<Slice>> StrataOf(const std::vector<Axis>& axes) {
  size_t slices = 1, most = 1;
  for (const Axis& axis : axes) {
    slices *= axis.parts.size();
    if (axis.of_strata) most *= axis.parts.size();
  }
  std::vector<std::vector<Slice>> strata(std::min(most, std::max<size_t>(1, slices / kPerStratum)));
  for (size_t i = 0; i < slices; ++i) {
    Slice slice;
    size_t stratum = 0, inner = slices, at = i;
    for (const Axis& axis : axes) {
      inner /= axis.parts.size();
      const size_t part = at / inner;
      at %= inner;
      slice.ranges[axis.letter] = axis.parts[part];
      if (axis.of_strata) stratum = stratum * axis.parts.size() + part;
    }
    strata[stratum * strata.size() / most].push_back(std::move(slice));
  }
  return strata;
}

}  // namespace

SamplePlan PlanOf(const Case& c, uint64_t seed) {
  SplitMix64 random(seed);
  SamplePlan plan;
  std::vector<std::vector<Slice>> strata = StrataOf(AxesOf(c));
  for (std::vector<Slice>& slices : strata) {
    plan.slices.push_back(slices.front());
    if (slices.size() > 1) plan.slices.push_back(slices.back());
    slices.erase(slices.begin());
    if (!slices.empty()) slices.pop_back();
    Shuffle(slices, random);
  }
  plan.always = plan.slices.size();
  while (!strata.empty()) {
    std::erase_if(strata, [](const std::vector<Slice>& slices) { return slices.empty(); });
    Shuffle(strata, random);
    for (std::vector<Slice>& slices : strata) {
      plan.slices.push_back(std::move(slices.back()));
      slices.pop_back();
    }
  }
  return plan;
}

}  // namespace sextant
