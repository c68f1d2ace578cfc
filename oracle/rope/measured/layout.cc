#include "oracle/rope/measured/layout.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "oracle/rope/measured/flows.h"
#include "oracle/rope/measured/numbers.h"
#include "oracle/rope/measured/rest.h"

namespace sextant::oracle {
namespace {

// Pairs k < count. half: (offset + k, offset + k + apart); interleaved: offset + (2k, 2k + 1).
// `ends`: (offset + k, offset + 2 count - 1 - k). `block`: half pairs within blocks of so many
// channels. `rolled`: the second channel is that of so many pairs later.
struct Window {
  Pairing pairing = Pairing::kHalf;
  size_t offset = 0, count = 0, apart = 0;
  bool ends = false;
  size_t block = 0;
  size_t rolled = 0;

  PairOfChannels Pair(size_t k) const {
    return {Unrolled(k).first, Unrolled((k + rolled) % count).second};
  }
  PairOfChannels Unrolled(size_t k) const {
    if (ends) return {offset + k, offset + 2 * count - 1 - k};
    if (block > 0) {
      const size_t first = offset + k / (block / 2) * block + k % (block / 2);
      return {first, first + block / 2};
    }
    if (pairing == Pairing::kHalf) return {offset + k, offset + k + apart};
    return {offset + 2 * k, offset + 2 * k + 1};
  }
  std::vector<PairOfChannels> Pairs() const {
    std::vector<PairOfChannels> all;
    for (size_t k = 0; k < count; ++k) all.push_back(Pair(k));
    return all;
  }
};

// The window of the right layout; empty if its pairs have another form (blocks of axes).
std::optional<Window> WindowOf(const std::vector<PairOfChannels>& pairs) {
  if (pairs.empty()) return std::nullopt;
  Window window{Pairing::kHalf, pairs[0].first, pairs.size(), pairs[0].second - pairs[0].first};
  if (pairs.size() > 1 && pairs[1].first == pairs[0].first + 2)
    window.pairing = Pairing::kInterleaved;
  for (size_t k = 0; k < pairs.size(); ++k) {
    const auto [i, j] = window.Pair(k);
    if (i != pairs[k].first || j != pairs[k].second) return std::nullopt;
  }
  return window;
}

class LayoutSearch {
 public:
  LayoutSearch(const RotaryRows& rows, RotationErrors& errors) : rows_(rows), errors_(errors) {}

  // False if the pairs do not rotate, or if the other channels are changed.
  bool IsPossible(const std::vector<PairOfChannels>& read,
                  const std::vector<PairOfChannels>& written) {
    if (!MayRotate(read, written)) return false;
    std::vector<bool> used(rows_.width);
    for (const PairOfChannels& pair : written) used[pair.first] = used[pair.second] = true;
    for (size_t c = 0; c < rows_.width; ++c) {
      if (!used[c] && !Passes(c)) return false;
    }
    return true;
  }
  bool MayRotate(const std::vector<PairOfChannels>& read,
                 const std::vector<PairOfChannels>& written) {
    LongRange gain;
    for (size_t k = 0; k < read.size(); ++k) {
      gain.Intersect(GainOf(read[k], written[k]));
      if (gain.IsEmpty()) return false;
    }
    return true;
  }

 private:
  // All gains for which the pair is rotated at every token. Heads that agree on a rotation prove it
  // at any gain.
  const LongRange& GainOf(PairOfChannels read, PairOfChannels written) {
    const auto [at, is_new] =
        gains_.try_emplace({read.first, read.second, written.first, written.second});
    LongRange& gain = at->second;
    for (size_t t = 0; is_new && t < rows_.tokens; ++t) {
      const PairFit fit = FitPair(rows_, t, read, written, {}, errors_);
      if (!fit.is_rotation) gain = {1, 0};
      if (rows_.replicates > 1 || std::isinf(fit.bar)) continue;
      const long double size = std::abs(fit.z);
      gain.Intersect({size - fit.bar, size + fit.bar});
    }
    return gain;
  }

  bool Passes(size_t channel) const {
    for (size_t i = channel; i < rows_.x.size(); i += rows_.width) {
      if (!SameNumber(rows_.x[i], rows_.y[i])) return false;
    }
    return true;
  }

  const RotaryRows& rows_;
  RotationErrors& errors_;
  std::map<std::array<size_t, 4>, LongRange> gains_;
};

// All windows of a head of `width` channels, those that are most like `right` first.
std::vector<Window> WindowsLike(const Window& right, size_t width) {
  std::vector<Window> all;
  for (size_t offset = 0; offset + 2 <= width; ++offset) {
    for (size_t count = 1; offset + 2 * count <= width; ++count) {
      all.push_back({Pairing::kInterleaved, offset, count, 1});
      all.push_back({Pairing::kHalf, offset, count, count});
    }
    for (size_t count = 1; count <= right.count; ++count) {
      for (const size_t apart : {width / 2, right.apart}) {
        if (apart > count && offset + count + apart <= width)
          all.push_back({Pairing::kHalf, offset, count, apart});
      }
    }
  }
  all.push_back({Pairing::kHalf, right.offset, right.count, right.apart, true});
  for (size_t block = 4; block < 2 * right.count; block += 2) {
    if (2 * right.count % block == 0)
      all.push_back({Pairing::kHalf, right.offset, right.count, right.apart, false, block});
  }
  for (size_t rolled = 1; rolled < right.count; ++rolled) {
    all.push_back(right);
    all.back().rolled = rolled;
  }
  std::ranges::stable_sort(all, {}, [&](const Window& w) {
    const bool same_pairing = w.pairing == right.pairing, same_count = w.count == right.count;
    const bool same_offset = w.offset == right.offset,
               usual = w.apart <= w.count && !w.ends && w.block == 0 && w.rolled == 0;
    const int changes = !same_pairing + !same_count + !same_offset + !usual;
    return std::tuple(changes, !same_count, 2 * w.count != width, -static_cast<int>(w.count));
  });
  return all;
}

std::string PairsText(const Window& w) {
  if (w.rolled > 0) {
    const bool half = w.pairing == Pairing::kHalf;
    return Phrase("channels (", w.offset, half ? " + k, " : " + 2k, ", w.offset + w.apart, " + ",
                  half ? "" : "2 ", "((k + ", w.rolled, ") mod ", w.count, "))");
  }
  if (w.ends) return Phrase("channels (", w.offset, " + k, ", w.offset + 2 * w.count - 1, " - k)");
  if (w.block > 0)
    return Phrase("channels (i, i + ", w.block / 2, ") of blocks of ", w.block, " channels");
  if (w.pairing == Pairing::kInterleaved)
    return Phrase("channels (", w.offset, " + 2k, ", w.offset + 1, " + 2k)");
  return Phrase("channels (", w.offset, " + k, ", w.offset + w.apart, " + k)");
}

Layout LayoutOfWindow(const Window& w, const Window& right) {
  Layout layout{.name = {},
                .sentence = {},
                .read = w.Pairs(),
                .written = w.Pairs(),
                .R = 0,
                .flow = {},
                .rest = {}};
  layout.R = static_cast<int64_t>(2 * w.count);
  if (w.ends || w.block > 0 || w.rolled > 0) {
    layout.name = w.ends        ? "paired_from_both_ends"
                  : w.block > 0 ? "paired_in_blocks"
                                : "paired_with_another_pair";
  } else if (w.pairing != right.pairing) {
    layout.name = w.pairing == Pairing::kHalf ? "pairing_half" : "pairing_interleaved";
  } else if (w.count != right.count) {
    layout.name = "rotary_width";
  } else {
    layout.name = w.offset != right.offset ? "window_moved" : "paired_at_distance";
  }
  layout.sentence = Phrase("pair k is ", PairsText(w), ", k < ", w.count, ", expected ",
                           PairsText(right), ", k < ", right.count);
  return layout;
}

}  // namespace

std::vector<Layout> PossibleLayouts(const RotaryModel& right, int64_t R, const RotaryRows& rows,
                                    RotationErrors& errors) {
  LayoutSearch search(rows, errors);
  if (search.IsPossible(right.read, right.written))
    return {{{}, {}, right.read, right.written, R, {}}};
  const std::optional<Window> window = WindowOf(right.read);
  if (!window) return PossibleFlows(right, R, rows, errors);
  const Window other{window->pairing == Pairing::kHalf ? Pairing::kInterleaved : Pairing::kHalf,
                     window->offset, window->count, window->count};
  for (const auto& [read, written] : {std::pair(*window, other), std::pair(other, *window)}) {
    if (search.IsPossible(read.Pairs(), written.Pairs())) {
      return {
          {"output_in_other_order",
           Phrase("pair k is read from ", PairsText(read), " and written to ", PairsText(written)),
           read.Pairs(),
           written.Pairs(),
           R,
           {}}};
    }
  }
  constexpr size_t kMost = 3;
  std::vector<Layout> possible;
  for (const Window& like : WindowsLike(*window, rows.width)) {
    if (possible.size() < kMost && search.IsPossible(like.Pairs(), like.Pairs()))
      possible.push_back(LayoutOfWindow(like, *window));
  }
  if (!possible.empty()) return possible;
  for (const Window& one : {*window, other}) {
    if (!search.MayRotate(one.Pairs(), one.Pairs())) continue;
    Layout layout{{}, {}, one.Pairs(), one.Pairs(), R, {}};
    if (one.pairing != window->pairing) layout = LayoutOfWindow(one, *window);
    if (auto rest = OtherRest(layout.written, rows, errors)) {
      layout.rest = rest->channels;
      layout.name += (layout.name.empty() ? "" : "+") + rest->name;
      layout.sentence += (layout.sentence.empty() ? "" : "; ") + rest->sentence;
      return {layout};
    }
  }
  return PossibleFlows(right, R, rows, errors);
}

std::optional<PairFits> FitsOf(const RotaryRows& rows, const RotaryModel& model,
                               RotationErrors& errors, ChannelSums sums) {
  PairFits fits{rows.tokens, model.read.size(), {}};
  for (size_t t = 0; t < rows.tokens; ++t) {
    for (size_t k = 0; k < fits.pairs; ++k) {
      fits.of.push_back(
          FitPair(rows, t, model.read[k], model.written[k], model.flow, errors, sums));
      if (!fits.of.back().is_rotation) return std::nullopt;
      if (!model.forward) fits.of.back().z = std::conj(fits.of.back().z);
    }
  }
  return fits;
}

}  // namespace sextant::oracle
