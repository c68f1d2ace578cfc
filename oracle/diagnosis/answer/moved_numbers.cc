#include "oracle/diagnosis/answer/moved_numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "oracle/diagnosis/evidence.h"
#include "oracle/diagnosis/vocabulary/axis_orders.h"
#include "oracle/diagnosis/vocabulary/exchanged_axes.h"

namespace sextant::oracle {
namespace {

// So many failing indices of an axis are compared with all others, to learn their sources.
constexpr size_t kSampledRuns = 8;
constexpr size_t kMostSources = 8;  // of one index, that are tried

bool IsSlabOf(const AnsweredTensor& tensor, const AxisView& axis, size_t index, size_t source) {
  for (size_t e = 0; e < axis.slab(); ++e) {
    if (!tensor.Holds(axis.At(index, e), axis.At(source, e))) return false;
  }
  return true;
}

std::vector<size_t> SourcesOf(const AnsweredTensor& tensor, const AxisView& axis, size_t index) {
  std::vector<size_t> sources;
  for (size_t s = 0; s < axis.extent && sources.size() < kMostSources; ++s) {
    if (s != index && IsSlabOf(tensor, axis, index, s)) sources.push_back(s);
  }
  return sources;
}

std::string Signed(int64_t k) { return (k < 0 ? " - " : " + ") + std::to_string(std::abs(k)); }

Source Shifted(const AxisView& axis, size_t index, size_t source) {
  const auto by = static_cast<int64_t>(source) - static_cast<int64_t>(index);
  return {axis.name + Signed(by), [n = static_cast<int64_t>(axis.extent), by](size_t i) {
            const int64_t from = static_cast<int64_t>(i) + by;
            return from >= 0 && from < n ? std::optional(static_cast<size_t>(from)) : std::nullopt;
          }};
}

// Around the end of the axis.
Source Wrapped(const AxisView& axis, size_t index, size_t source) {
  const size_t n = axis.extent, by = (source + n - index) % n;
  return {"(" + axis.name + " + " + std::to_string(by) + ") modulo " + std::to_string(n),
          [n, by](size_t i) { return std::optional((i + by) % n); }};
}

// The forms in which `source` can follow from `index`, the most usual first.
std::vector<Source> FormsOf(const AxisView& axis, const std::vector<AxisOrder>& orders,
                            size_t index, size_t source) {
  const std::string& name = axis.name;
  std::vector<Source> forms = {
      {name + " " + std::to_string(source), [source](size_t) { return std::optional(source); }},
      Shifted(axis, index, source),
      Wrapped(axis, index, source)};
  for (size_t m = source + 1; m <= index; ++m) {
    if (index % m == source) {
      forms.push_back(
          {name + " modulo " + std::to_string(m), [m](size_t i) { return std::optional(i % m); }});
    }
  }
  for (size_t m = 2; m <= index + 1; ++m) {
    if (index / m == source) {
      forms.push_back({name + " divided by " + std::to_string(m),
                       [m](size_t i) { return std::optional(i / m); }});
    }
    if (index / m * m == source) {
      forms.push_back({"the first " + name + " of each " + std::to_string(m),
                       [m](size_t i) { return std::optional(i / m * m); }});
    }
  }
  for (const AxisOrder& order : orders)
    if (order.is_usual && order.from(index) == source)
      forms.push_back({name + " in another order (" + order.text + ")", order.from});
  return forms;
}

// The failing elements that the form explains, if all failing ones are that have a source.
std::vector<size_t> ExplainedBy(const AnsweredTensor& tensor, const AxisView& axis,
                                const Source& form) {
  std::vector<size_t> explained;
  for (const size_t flat : tensor.failing) {
    const size_t index = axis.IndexOf(flat);
    const auto source = form.of(index);
    if (!source) continue;
    const size_t from = flat + (*source - index) * axis.inner;  // may wrap around
    if (!tensor.Holds(flat, from)) return {};
    explained.push_back(flat);
  }
  return explained;
}

std::optional<Moved> MovedAlong(const AnsweredTensor& tensor, const AxisView& axis) {
  const std::vector<size_t> failing = axis.IndicesOf(tensor.failing);
  const std::vector<AxisOrder> orders = OrdersOf(axis.extent);
  std::optional<Moved> best;
  for (size_t j = 0; j < std::min(failing.size(), kSampledRuns); ++j) {
    const size_t index = failing[j * failing.size() / std::min(failing.size(), kSampledRuns)];
    for (const size_t source : SourcesOf(tensor, axis, index)) {
      for (const Source& form : FormsOf(axis, orders, index, source)) {
        std::vector<size_t> explained = ExplainedBy(tensor, axis, form);
        if (!IsEvidence(explained.size(), axis.extent)) continue;
        if (best && explained.size() <= best->explained.size()) continue;
        const std::string at = IndicesText(axis.IndicesOf(explained), axis.extent);
        best = {
            tensor.name + " has the right numbers of " + form.text + " at " + axis.name + " " + at,
            std::move(explained)};
      }
      if (best && best->explained.size() == tensor.failing.size()) return best;
    }
  }
  return best;
}

// Indices first to last, whose numbers are those of other indices, all as far away.
struct Run {
  size_t first, last, source;  // of the first
};

std::string TextOfRuns(const std::vector<Run>& runs, const std::string& axis) {
  const auto range = [&](size_t first, size_t count) {
    return axis + " " + std::to_string(first) +
           (count > 1 ? " to " + std::to_string(first + count - 1) : "");
  };
  std::string text;
  for (const Run& run : runs) {
    const size_t count = run.last - run.first + 1;
    text +=
        (text.empty() ? "" : ", ") + range(run.source, count) + " at " + range(run.first, count);
  }
  return text;
}

// Every failing index has the numbers of another one, in any order of a few runs.
std::optional<Moved> MappedAlong(const AnsweredTensor& tensor, const AxisView& axis) {
  constexpr size_t kMostRuns = 8;
  const std::vector<size_t> failing = axis.IndicesOf(tensor.failing);
  std::vector<Run> runs;
  for (const size_t index : failing) {
    if (!runs.empty() && index == runs.back().last + 1) {
      const size_t next = runs.back().source + (index - runs.back().first);
      if (next < axis.extent && next != index && IsSlabOf(tensor, axis, index, next)) {
        runs.back().last = index;
        continue;
      }
    }
    if (runs.size() == kMostRuns) return std::nullopt;  // each looks at all indices
    const std::vector<size_t> sources = SourcesOf(tensor, axis, index);
    if (sources.empty()) return std::nullopt;
    runs.push_back({index, index, sources[0]});
  }
  // A source is one of all indices, and so are both ends of its run.
  const auto bits = static_cast<size_t>(std::bit_width(axis.extent)) * 3 * runs.size();
  if (tensor.failing.size() <= bits || !IsEvidence(tensor.failing.size() - bits, 1))
    return std::nullopt;
  return Moved{tensor.name + " has the right numbers of other " + axis.name + ": those of " +
                   TextOfRuns(runs, axis.name),
               tensor.failing};
}

std::optional<Moved> Exchanged(const AnsweredTensor& tensor, size_t a, size_t b) {
  const auto place_of = PlaceWithExchangedAxes(tensor.shape, a, b);
  for (size_t flat = 0; flat < tensor.got.size(); ++flat) {
    if (!tensor.Holds(place_of(flat), flat)) return std::nullopt;
  }
  return Moved{ExchangedText(tensor.name, a, b), tensor.failing};
}

}  // namespace

std::optional<Moved> FindMoved(const AnsweredTensor& tensor) {
  std::vector<AxisView> views = tensor.axes;
  const size_t width = RowWidth(tensor.shape),
               rows = tensor.got.size() / std::max<size_t>(width, 1);
  if (views.size() > 2) views.push_back({"row", 1, rows, width});
  std::optional<Moved> best;
  for (const AxisView& axis : views) {
    auto moved = MovedAlong(tensor, axis);
    if (moved && (!best || moved->explained.size() > best->explained.size())) best = moved;
  }
  if (best && best->explained.size() == tensor.failing.size()) return best;
  for (const AxisView& axis : views)
    if (auto mapped = MappedAlong(tensor, axis)) return mapped;
  if (!IsEvidence(tensor.failing.size(), tensor.got.size())) return best;
  for (const auto& [a, b] : AxisPairsOf(tensor.shape)) {
    if (auto moved = Exchanged(tensor, a, b)) return moved;
  }
  return best;
}

}  // namespace sextant::oracle
