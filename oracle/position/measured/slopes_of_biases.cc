#include "oracle/position/measured/slopes_of_biases.h"

#include <algorithm>

#include "oracle/diagnosis/vocabulary/axis_orders.h"
#include "oracle/position/measured/alibi_factors.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

using Numbers = std::vector<double>;

std::vector<NamedSlopes> PossibleSlopes(const Numbers& right) {
  std::vector<NamedSlopes> all = {{{}, right}};
  const size_t H = right.size();
  for (const AxisOrder& order : OrdersOf(H, OrdersFor::kFew)) {
    NamedSlopes& one = all.emplace_back();
    one.parts = {
        {"slopes_of_other_heads", "the slopes of the heads are in another order: " + order.text}};
    one.of = InOrder(right, order.from, H);
  }
  std::vector<SlopeFormula> formulas(kSlopeFormulas.begin(), kSlopeFormulas.end());
  formulas.push_back({static_cast<double>(H), 1});
  for (const SlopeFormula& formula : formulas) {
    NamedSlopes& one = all.emplace_back();
    one.parts = {{"slopes_by_formula",
                  "head h has the slope " + formula.Text() + ", whatever slopes it is given"}};
    for (size_t h = 0; h < H; ++h) one.of.push_back(formula.At(h, H));
  }
  return all;
}

}  // namespace

MeasuredBiases::MeasuredBiases(const Observation& seen, const Tensor<double>& answer)
    : shape_(answer.shape), relative_(UnitRoundoffOf(seen.c.dtype())) {
  const GoldenTensor& golden = seen.golden[0];
  for (size_t i = 0; i < answer.data.size(); ++i) {
    const double right = std::abs(golden.value.data[i]), error = seen.permitted[0].error.data[i];
    if (right > 0 && std::isfinite(error)) relative_ = std::max(relative_, error / right);
  }
  values_ = answer.data;
  for (const double value : values_) least_ = std::min(least_, value);
}

size_t MeasuredBiases::Pivot() const {
  std::vector<double> sums(H());
  for (size_t h = 0; h < H(); ++h)
    for (size_t i = 0; i < PerHead(); ++i)
      if (std::isfinite(At(h, i)) && !IsCut(h, i)) sums[h] += std::abs(At(h, i));
  return static_cast<size_t>(std::ranges::max_element(sums) - sums.begin());
}

LongRange MeasuredBiases::RatioOf(size_t h, size_t to) const {
  LongRange common;
  for (size_t i = 0; i < PerHead(); ++i) {
    if (IsCut(h, i) || IsCut(to, i)) continue;
    const long double of = At(to, i), at = At(h, i);
    if (of == 0 ? at != 0 : !std::isfinite(at / of)) return {1, 0};
    if (of == 0) continue;
    const long double bar = 2 * relative_ * std::abs(at / of);
    common.Intersect({at / of - bar, at / of + bar});
  }
  return common;
}

std::vector<NamedSlopes> MeasuredSlopes(const MeasuredBiases& biases, const Numbers& right) {
  const size_t pivot = biases.Pivot();
  std::vector<LongRange> ratios;
  std::vector<size_t> zero;
  for (size_t h = 0; h < biases.H(); ++h) {
    ratios.push_back(biases.RatioOf(h, pivot));
    if (ratios[h].IsEmpty()) return {};
    if (ratios[h].low == 0 && ratios[h].high == 0) zero.push_back(h);
  }
  std::vector<NamedSlopes> found;
  for (NamedSlopes& one : PossibleSlopes(right)) {
    for (const size_t h : zero) one.of[h] = 0;
    bool fits = one.of[pivot] != 0;
    for (size_t h = 0; h < ratios.size() && fits; ++h)
      fits = ratios[h].Contains(one.of[h] / one.of[pivot]);
    if (!fits) continue;
    const bool is_zero =
        !zero.empty() && std::ranges::any_of(zero, [&](size_t h) { return right[h] != 0; });
    if (is_zero) {
      std::string heads;
      for (const size_t h : zero) heads += Phrase(heads.empty() ? "" : ", ", h);
      one.parts.push_back({"heads_are_zero", "the biases of heads " + heads + " are 0"});
    }
    if (!found.empty() && one.parts.size() > found[0].parts.size()) continue;
    found.push_back(std::move(one));
  }
  return found;
}

}  // namespace sextant::oracle
