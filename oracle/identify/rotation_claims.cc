#include "oracle/identify/rotation_claims.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "oracle/identify/frequency_claims.h"
#include "oracle/identify/growth_claims.h"
#include "oracle/rope/measured/angles.h"
#include "oracle/rope/measured/mutants.h"
#include "oracle/rope/measured/rows.h"
#include "reference/number/counted/counted.h"
#include "reference/number/real.h"
#include "reference/rope/rope_axial.h"
#include "reference/rope/rope_sections.h"

namespace sextant::oracle {
namespace {

constexpr long double kPi = std::numbers::pi_v<long double>;

// The channels that are rotated, and how they are paired.
struct Window {
  Pairing pairing = Pairing::kHalf;
  size_t offset = 0, R = 0;
  PairOfChannels Pair(size_t k) const {
    const auto [first, second] = ChannelsOf(pairing, k, R);
    return {offset + first, offset + second};
  }
};

// The rows of one witness, and its positions [A][tokens].
struct Rotated {
  RotaryRows rows;
  std::vector<std::vector<double>> position;
};

bool Rotates(const Exchange& witness) {
  const auto& inputs = witness.c.info().signature.inputs;
  const auto& outputs = witness.c.info().signature.outputs;
  if (inputs.size() != 2 || outputs.size() != 1) return false;
  const bool by_position = inputs[1].role == Role::kInteger || inputs[1].role == Role::kReal;
  return by_position && inputs[0].extents == outputs[0].extents && inputs[0].extents.size() == 4 &&
         Case::Has(witness.c.operation(), "base");
}

// Leaves out tokens whose answers overflow: they say nothing about angles.
void DropInfinite(RotaryRows& rows) {
  RotaryRows kept{0, rows.replicates, rows.width, {}, {}, {}, rows.heads};
  const auto size = static_cast<std::ptrdiff_t>(rows.replicates * rows.width);
  for (size_t t = 0; t < rows.tokens; ++t) {
    const auto at = static_cast<std::ptrdiff_t>(t) * size;
    const std::span y(rows.y.begin() + at, rows.y.begin() + at + size);
    if (!std::ranges::all_of(y, [](double value) { return std::isfinite(value); })) continue;
    ++kept.tokens;
    kept.token_of.push_back(rows.token_of[t]);
    kept.x.insert(kept.x.end(), rows.x.begin() + at, rows.x.begin() + at + size);
    kept.y.insert(kept.y.end(), y.begin(), y.end());
  }
  rows = std::move(kept);
}

std::vector<Rotated> RotatedRows(const std::vector<Exchange>& witnesses) {
  constexpr size_t kTokens = 48, kHeads = 8;
  std::vector<Rotated> all;
  for (const Exchange& witness : witnesses) {
    const Tensor<double>& x = witness.inputs[0].values;
    Rotated one{RowsOf({x, witness.answer[0].values}, kTokens, kHeads), {}};
    const Tensor<double> position = WithAxes(witness.inputs[1].values, x.shape[2]);
    const size_t A = position.shape[1], S = position.shape[2];
    DropInfinite(one.rows);
    for (size_t a = 0; a < A; ++a) {
      one.position.emplace_back();
      for (const size_t token : one.rows.token_of)
        one.position[a].push_back(position.data[(token / S * A + a) * S + token % S]);
    }
    all.push_back(std::move(one));
  }
  return all;
}

// The first channel that changes, and the end of the last; equal if none does.
std::pair<size_t, size_t> ChangedChannels(const std::vector<Rotated>& all) {
  size_t first = all[0].rows.width, last = 0;
  for (const auto& [rows, position] : all) {
    for (size_t i = 0; i < rows.x.size(); ++i) {
      if (SameNumber(rows.x[i], rows.y[i])) continue;
      first = std::min(first, i % rows.width);
      last = std::max(last, i % rows.width + 1);
    }
  }
  return {first, std::max(first, last)};
}

// The windows that contain all changed channels: all of the channels first, then the narrowest.
std::vector<Window> WindowsOf(const Claim& asked, const Case& c, const std::vector<Rotated>& all) {
  const auto [first, end] = ChangedChannels(all);
  const size_t D = all[0].rows.width;
  std::vector<Window> windows;
  const auto add = [&](size_t offset, size_t R) {
    for (const Pairing pairing : {Pairing::kHalf, Pairing::kInterleaved})
      windows.push_back({pairing, offset, R});
  };
  const bool is_free = asked.contains("R") && asked.contains("offset");
  const Claim given = ClaimOf(c);
  const auto fixed = [&](const char* key) { return std::stoul(given.at(key)); };
  if (!is_free) add(given.contains("offset") ? fixed("offset") : 0, fixed("R"));
  if (!is_free) return windows;
  if (D % 2 == 0) add(0, D);
  for (size_t R = 2; R <= D; R += 2) {
    for (size_t offset = 0; offset + R <= D; ++offset) {
      if (offset <= first && end <= offset + R && R < D) add(offset, R);
    }
  }
  return windows;
}

class Measurer {
 public:
  Measurer(const std::vector<Exchange>& witnesses, const std::string& recipe)
      : c_(witnesses[0].c),
        recipe_(ParseRecipe(recipe, c_.dtype())),
        errors_(c_, recipe_, 1),
        all_(RotatedRows(witnesses)) {
    // An angle is one product, position * frequency; the relative error does not depend on them.
    const ScopedRecipe scope(recipe_, c_.dtype());
    const ScopedStep at(Step::kAngle);
    const double position = 0x1p24 + 1, frequency = 1.0 / 3;
    const Counted angle = Counted(position, DType::kI64) * Counted(frequency);
    relative_ = angle.Permitted() / (position * frequency);
  }

  const std::vector<Rotated>& all() const { return all_; }

  // The axis and the frequency of every pair; false if one does not rotate.
  bool Measure(const Window& window) {
    axes_.clear();
    gains_.clear();
    table_ = {};
    Range gain{0};
    for (size_t k = 0; k < window.R / 2; ++k) {
      fits_.clear();
      if (!FitAll(window.Pair(k), gain) || !AddFrequency()) return false;
      AddGains();
    }
    if (!gain.IsEmpty()) {
      table_.attention_factor = {static_cast<double>(gain.Middle()),
                                 static_cast<double>((gain.high - gain.low) / 2)};
    }
    return true;
  }
  const MeasuredTable& table() const { return table_; }
  const std::vector<size_t>& axes() const { return axes_; }
  const std::vector<std::vector<GainAt>>& gains() const { return gains_; }

 private:
  bool FitAll(PairOfChannels pair, Range& gain) {
    for (const Rotated& one : all_) {
      for (size_t t = 0; t < one.rows.tokens; ++t) {
        fits_.push_back(FitPair(one.rows, t, pair, pair, Flow{}, errors_));
        const PairFit& fit = fits_.back();
        if (!fit.is_rotation) return false;
        const long double size = std::abs(fit.z);
        gain = Common(gain, {size - fit.bar, size + fit.bar});
      }
    }
    return true;
  }

  // Of the first axis whose positions explain all angles; the axis of the last pair comes first.
  bool AddFrequency() {
    const size_t A = all_[0].position.size(), last = axes_.empty() ? 0 : axes_.back();
    for (size_t a = 0; a < A; ++a) {
      const size_t axis = (last + a) % A;
      std::vector<PhaseObservation> seen;
      size_t i = 0;
      for (const Rotated& one : all_) {
        for (const double position : one.position[axis]) {
          const PairFit& fit = fits_[i++];
          const long double size = std::abs(fit.z);
          if (position == 0 || !(fit.bar < size)) continue;
          seen.push_back({position, std::arg(fit.z), std::asin(fit.bar / size), relative_});
        }
      }
      const auto ranges = CommonSolutions(std::move(seen), {-kPi, kPi});
      if (ranges.empty()) continue;
      const Range& nearest = *std::ranges::min_element(
          ranges, {}, [](const Range& range) { return std::abs(range.Middle()); });
      axes_.push_back(axis);
      table_.inv_freq.push_back({static_cast<double>(nearest.Middle()),
                                 static_cast<double>((nearest.high - nearest.low) / 2)});
      return true;
    }
    return false;
  }

  void AddGains() {
    gains_.emplace_back();
    size_t i = 0;
    for (const Rotated& one : all_) {
      for (const double position : one.position[axes_.back()]) {
        const PairFit& fit = fits_[i++];
        gains_.back().push_back({position, static_cast<double>(std::abs(fit.z)), fit.bar});
      }
    }
  }

  const Case& c_;
  Recipe recipe_;
  RotationErrors errors_;
  std::vector<Rotated> all_;
  long double relative_ = 0;
  std::vector<PairFit> fits_;  // of one pair at all tokens
  std::vector<size_t> axes_;
  std::vector<std::vector<GainAt>> gains_;
  MeasuredTable table_{{}, {1, kInfinity}};
};

Claim WithWindow(Claim claim, const Window& window) {
  const auto set = [&](const char* key, const std::string& text) {
    if (const auto at = claim.find(key); at != claim.end()) at->second = text;
  };
  set("pairing", PrintValue(window.pairing));
  set("R", std::to_string(window.R));
  set("offset", std::to_string(window.offset));
  return claim;
}

// Turns the table forward, if most pairs turn backwards.
Claim WithDirection(Claim claim, MeasuredTable& table) {
  const auto backwards =
      std::ranges::count_if(table.inv_freq, [](const NumberWithBar& f) { return f.value < 0; });
  const bool is_transposed = 2 * static_cast<size_t>(backwards) > table.inv_freq.size();
  const auto at = claim.find("direction");
  if (!is_transposed || at == claim.end()) return claim;
  at->second = PrintValue(Direction::kTranspose);
  for (NumberWithBar& f : table.inv_freq) f.value = -f.value;
  return claim;
}

// One claim for every order of these axes.
std::vector<Claim> WithSections(const Claim& claim, const std::vector<size_t>& axes, size_t A) {
  if (!claim.contains("sections") || !claim.contains("order")) return {claim};
  std::vector<int64_t> sections(A);
  for (const size_t axis : axes) ++sections[axis];
  std::vector<Claim> all;
  for (const std::string_view order : NamesOf(SectionOrder{})) {
    all.push_back(claim);
    all.back()["sections"] = PrintValue(sections);
    all.back()["order"] = order;
  }
  return all;
}

// Every arrangement, in the few windows that are likely. Its pairs may lie within blocks.
std::vector<Claim> AxialClaims(const Claim& asked, const Case& c, const std::vector<Rotated>& all) {
  constexpr size_t kMostWindows = 6;  // of each pairing half
  std::vector<Claim> claims;
  std::vector<Window> windows = WindowsOf(asked, c, all);
  if (windows.size() > kMostWindows) windows.resize(kMostWindows);
  for (const Window& window : windows) {
    for (const Claim& claim : CombinationsOf(WithWindow(asked, window), c)) claims.push_back(claim);
  }
  return claims;
}

}  // namespace

std::vector<Claim> RotationClaims(const Claim& asked, const std::vector<Exchange>& witnesses,
                                  const std::string& recipe, int threads) {
  constexpr size_t kMostWindows = 3;  // a window of unrotated pairs fits many
  if (!Rotates(witnesses[0])) return {};
  Measurer measurer(witnesses, recipe);
  if (asked.contains("arrangement")) return AxialClaims(asked, witnesses[0].c, measurer.all());
  std::vector<Claim> claims;
  size_t possible = 0;
  for (const Window& window : WindowsOf(asked, witnesses[0].c, measurer.all())) {
    if (!measurer.Measure(window)) continue;
    MeasuredTable table = measurer.table();
    const Claim turned =
        WithGrowth(WithDirection(WithWindow(asked, window), table), measurer.gains());
    const auto frequencies = FrequencyClaims(table, turned, witnesses[0].c, recipe, threads);
    for (const Claim& with_axes :
         WithSections(turned, measurer.axes(), measurer.all()[0].position.size())) {
      for (const Claim& frequency : frequencies) {
        claims.push_back(with_axes);
        for (const auto& [attribute, text] : frequency) claims.back()[attribute] = text;
      }
    }
    if (++possible == kMostWindows) break;
  }
  std::ranges::stable_sort(claims, {}, [](const Claim& claim) { return FormOf(claim).size(); });
  return claims;
}

}  // namespace sextant::oracle
