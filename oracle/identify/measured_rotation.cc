#include "oracle/identify/measured_rotation.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "oracle/identify/seen_rotation.h"
#include "oracle/rope/measured/measured_op.h"
#include "reference/number/counted/counted.h"
#include "reference/number/real.h"

namespace sextant::oracle {
namespace {

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

}  // namespace

std::vector<Rotated> RotatedRows(const std::vector<Exchange>& exchanges) {
  constexpr size_t kTokens = 48, kHeads = 8;
  std::vector<Rotated> all;
  for (const Exchange& exchange : exchanges) {
    const std::optional<SeenRotation> seen = RotationIn(exchange);
    if (!seen) return {};
    Rotated one{RowsOf({seen->x, seen->y}, kTokens, kHeads), {}};
    const Tensor<double> position = WithAxes(seen->position, seen->x.shape[2]);
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

RotationMeasurer::RotationMeasurer(const std::vector<Exchange>& exchanges,
                                   const std::string& recipe)
    : c_(exchanges[0].c),
      recipe_(ParseRecipe(recipe, c_.dtype())),
      errors_(c_, recipe_, 1),
      all_(RotatedRows(exchanges)) {
  // An angle is one product, position * frequency; the relative error does not depend on them.
  const ScopedRecipe scope(recipe_, c_.dtype());
  const ScopedStep at(Step::kAngle);
  const double position = 0x1p24 + 1, frequency = 1.0 / 3;
  const Counted angle = Counted(position, DType::kI64) * Counted(frequency);
  relative_ = angle.Permitted() / (position * frequency);
}

std::vector<std::vector<PairOnAxis>> RotationMeasurer::Measure(
    const std::vector<PairOfChannels>& pairs, long double most) {
  gain_ = {0};
  weight_ = weighted_ = 0;
  std::vector<std::vector<PairOnAxis>> measured;
  for (const PairOfChannels& pair : pairs) {
    fits_.clear();
    if (!FitAll(pair)) return {};
    measured.push_back(PossibleAxes(most));
    if (measured.back().empty()) return {};
  }
  return measured;
}

MeasuredNumber RotationMeasurer::gain() const {
  if (gain_.IsEmpty()) return {1, kInfinity};
  const auto bar = static_cast<double>((gain_.high - gain_.low) / 2);
  // Roundings are as often up as down, so the mean is nearer than the middle of what is possible.
  const long double mean = weight_ > 0 ? weighted_ / weight_ : gain_.Middle();
  return {static_cast<double>(std::clamp(mean, gain_.low, gain_.high)), bar};
}

bool RotationMeasurer::FitAll(PairOfChannels pair) {
  for (const Rotated& one : all_) {
    for (size_t t = 0; t < one.rows.tokens; ++t) {
      fits_.push_back(FitPair(one.rows, t, pair, pair, Flow{}, errors_));
      const PairFit& fit = fits_.back();
      if (!fit.is_rotation) return false;
      const long double size = std::abs(fit.z);
      gain_.Intersect({size - fit.bar, size + fit.bar});
      if (!(fit.bar > 0) || std::isinf(fit.bar)) continue;
      weight_ += 1 / (fit.bar * fit.bar);
      weighted_ += size / (fit.bar * fit.bar);
    }
  }
  return true;
}

std::vector<PairOnAxis> RotationMeasurer::PossibleAxes(long double most) const {
  std::vector<PairOnAxis> possible;
  for (size_t axis = 0; axis < axes(); ++axis) {
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
    const auto ranges = CommonSolutions(std::move(seen), {-most, most});
    if (ranges.empty()) continue;
    const LongRange& nearest = *std::ranges::min_element(
        ranges, {}, [](const LongRange& range) { return std::abs(range.Middle()); });
    const MeasuredNumber inv_freq = {static_cast<double>(nearest.Middle()),
                                     static_cast<double>((nearest.high - nearest.low) / 2)};
    possible.push_back({axis, inv_freq, GainsOn(axis)});
  }
  return possible;
}

std::vector<GainAt> RotationMeasurer::GainsOn(size_t axis) const {
  std::vector<GainAt> gains;
  size_t i = 0;
  for (const Rotated& one : all_) {
    for (const double position : one.position[axis]) {
      const PairFit& fit = fits_[i++];
      gains.push_back({position, static_cast<double>(std::abs(fit.z)), fit.bar});
    }
  }
  return gains;
}

}  // namespace sextant::oracle
