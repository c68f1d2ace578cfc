#include "oracle/rope/measured/axes.h"

#include <algorithm>
#include <cmath>

namespace sextant::oracle {
namespace {

using Axes = std::vector<size_t>;  // of each pair

struct NamedAxes {
  Axes axes;
  std::string sentence;
};

Axes AxesOf(const RotaryModel& model) {
  Axes axes;
  for (const PairFrequency& pair : model.pairs) axes.push_back(pair.axis);
  return axes;
}

// "pairs 0 to 7 turn by axis 1, expected 0; pair 9 turns by axis 0, expected 2"
std::string TextOf(const Axes& axes, const Axes& right) {
  std::string text;
  for (size_t k = 0, end = 0; k < axes.size(); k = end) {
    for (end = k + 1; end < axes.size() && axes[end] == axes[k] && right[end] == right[k];) ++end;
    if (axes[k] == right[k]) continue;
    text += Phrase(
        text.empty() ? "" : "; ",
        end == k + 1 ? Phrase("pair ", k, " turns") : Phrase("pairs ", k, " to ", end - 1, " turn"),
        " by axis ", axes[k], ", expected ", right[k]);
  }
  return text;
}

// The pairs of axis a turn by axis map[a].
std::string TextOfMap(const Axes& map) {
  std::string text;
  for (size_t a = 0; a < map.size(); ++a) {
    if (map[a] != a)
      text += Phrase(text.empty() ? "" : "; ", "the pairs of axis ", a, " turn by axis ", map[a]);
  }
  return text;
}

// Axes by turns, sections of equal size, and every map of the axes.
std::vector<NamedAxes> SimpleAxes(const Axes& right, size_t count) {
  std::vector<NamedAxes> all;
  NamedAxes turns{{}, Phrase("pair k turns by axis k mod ", count)};
  NamedAxes equal{{},
                  Phrase("pair k turns by axis ", count, " k / ", right.size(),
                         ", rounded down: the sections have equal sizes")};
  for (size_t k = 0; k < right.size(); ++k) {
    turns.axes.push_back(k % count);
    equal.axes.push_back(k * count / right.size());
  }
  all.insert(all.end(), {turns, equal});
  const auto maps = static_cast<size_t>(std::pow(count, count));
  for (size_t m = 0; m < maps; ++m) {
    NamedAxes named;
    Axes map;
    for (size_t a = 0, rest = m; a < count; ++a, rest /= count) map.push_back(rest % count);
    for (const size_t axis : right) named.axes.push_back(map[axis]);
    named.sentence = TextOfMap(map);
    all.push_back(std::move(named));
  }
  std::erase_if(all, [&](const NamedAxes& named) { return named.axes == right; });
  return all;
}

RotaryCandidate WithAxesOf(const NamedAxes& named, RotaryCandidate candidate) {
  for (size_t k = 0; k < named.axes.size(); ++k) candidate.model.pairs[k].axis = named.axes[k];
  candidate.parts.push_back({"axis_of_pairs", named.sentence});
  return candidate;
}

// True for each pair and axis if the pair turns by the positions of the axis.
std::vector<std::vector<bool>> TurnsBy(const RotaryFit& fit, const RotaryCandidate& start) {
  const Positions positions = fit.Measured(start.positions);
  const FrequencyList list = fit.ListOf(start.model);
  std::vector<std::vector<bool>> turns;
  for (size_t k = 0; k < start.model.pairs.size(); ++k) {
    std::vector<bool>& by = turns.emplace_back();
    for (const std::vector<double>& position : positions) {
      bool all = true;
      for (size_t t = 0; t < position.size() && all; ++t)
        all = fit.angles().Of(t, k, list.of[k], list.relative[k]).Fits(position[t]);
      by.push_back(all);
    }
  }
  return turns;
}

// Slow pairs may turn by several axes: by the right one or by that of the pair before, whichever is
// preferred.
Axes InRuns(const std::vector<std::vector<bool>>& turns, const Axes& right, bool prefers_right) {
  Axes axes;
  for (size_t k = 0; k < turns.size(); ++k) {
    const size_t before = k == 0 ? right[0] : axes.back();
    const size_t first = prefers_right ? right[k] : before,
                 second = prefers_right ? before : right[k];
    const auto any = static_cast<size_t>(std::ranges::find(turns[k], true) - turns[k].begin());
    axes.push_back(turns[k][first] ? first : turns[k][second] ? second : any);
  }
  return axes;
}

}  // namespace

std::vector<RotaryCandidate> WithSimpleAxes(const RotaryCandidate& start) {
  constexpr size_t kMostAxes = 4;
  std::vector<RotaryCandidate> all;
  const size_t count = start.positions.size();
  if (count < 2 || count > kMostAxes) return all;
  for (const NamedAxes& named : SimpleAxes(AxesOf(start.model), count))
    all.push_back(WithAxesOf(named, start));
  return all;
}

std::vector<RotaryCandidate> WithMeasuredAxes(const RotaryFit& fit, const RotaryCandidate& start) {
  const size_t count = start.positions.size();
  const Axes right = AxesOf(start.model);
  if (count < 2) return {start};
  const auto turns = TurnsBy(fit, start);
  const auto gives = [&](const Axes& axes) {
    for (size_t k = 0; k < axes.size(); ++k)
      if (!turns[k][axes[k]]) return false;
    return true;
  };
  const auto by_none = [](const std::vector<bool>& by) {
    return std::ranges::count(by, true) == 0;
  };
  if (std::ranges::any_of(turns, by_none) || gives(right)) return {start};
  std::vector<RotaryCandidate> found;
  for (RotaryCandidate& simple : WithSimpleAxes(start))
    if (gives(AxesOf(simple.model))) found.push_back(std::move(simple));
  for (const bool prefers_right : {true, false}) {
    const Axes axes = InRuns(turns, right, prefers_right);
    const auto has_axes = [&](const RotaryCandidate& c) { return AxesOf(c.model) == axes; };
    if (std::ranges::none_of(found, has_axes))
      found.push_back(WithAxesOf({axes, TextOf(axes, right)}, start));
  }
  return found;
}

}  // namespace sextant::oracle
