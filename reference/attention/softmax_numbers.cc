#include "reference/attention/softmax_numbers.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/attention/softmax_numbers.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

#include "reference/attention/softmax_numbers-inl.h"
#include "reference/number/double_double/double_double_functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

double SetExponents(const ScoreRow& row, const ExponentRow& to) {
  double largest_drift = 0;
  const bool is_exact = row.rule.exact || row.count == 1;
  ForEachVector(row.count, [&](auto d, size_t j) HWY_ATTR {
    using V = hn::VFromD<decltype(d)>;
    const auto exponent = ExponentAt(d, row, j);
    hn::StoreU(exponent.high, d, to.high + j);
    hn::StoreU(exponent.low, d, to.low + j);
    hn::StoreU(is_exact ? hn::LoadU(d, row.scores.error + j) : ExponentError(d, row, j, exponent),
               d, to.error + j);
    const V drift = ExponentDrift(d, row, j, exponent);
    if (hn::AllTrue(d, hn::Le(drift, hn::Set(d, largest_drift)))) return;
    largest_drift = std::max(largest_drift, hn::GetLane(hn::MaxOfLanes(d, drift)));
  });
  return largest_drift;
}

void SetExponentials(double* high, double* low, size_t count) {
  ForEachVector(count, [&](auto d, size_t j) HWY_ATTR {
    using V = hn::VFromD<decltype(d)>;
    const auto term = Exp(d, Double2<V>{hn::LoadU(d, high + j), hn::LoadU(d, low + j)});
    hn::StoreU(term.high, d, high + j);
    hn::StoreU(term.low, d, low + j);
  });
}

void SetWeightCenters(const WeightRow& row) {
  ForEachVector(row.count, [&](auto d, size_t j) HWY_ATTR {
    using V = hn::VFromD<decltype(d)>;
    const Double2<V> sum{hn::Set(d, row.sum.high), hn::Set(d, row.sum.low)};
    const Double2<V> term{hn::LoadU(d, row.term_high + j), hn::LoadU(d, row.term_low + j)};
    Double2<V> center{hn::Div(term.high, sum.high), hn::Zero(d)};
    if (!row.double_centers) center = QuotientOf(d, term, sum);
    const V drift =
        hn::Add(hn::Mul(hn::Mul(center.high, hn::Set(d, row.drift)), hn::Set(d, kBoundUp)),
                hn::Set(d, kTinyDrift));
    const auto is_number = hn::Eq(drift, drift);  // infinity times 0
    hn::StoreU(center.high, d, row.weights.high + j);
    hn::StoreU(center.low, d, row.weights.low + j);
    hn::StoreU(hn::IfThenElse(is_number, drift, hn::Set(d, kInfinity)), d, row.weights.drift + j);
  });
}

void SetWeightErrors(const WeightRow& row) {
  ForEachVector(row.count, [&](auto d, size_t j) HWY_ATTR {
    SetErrorsAt(d, row, j, {hn::LoadU(d, row.weights.high + j), hn::LoadU(d, row.weights.low + j)});
  });
}

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(SetExponents);
HWY_EXPORT(SetExponentials);
HWY_EXPORT(SetWeightCenters);
HWY_EXPORT(SetWeightErrors);

}  // namespace

double SetExponents(const ScoreRow& row, const ExponentRow& to) {
  return HWY_DYNAMIC_DISPATCH(SetExponents)(row, to);
}

void SetExponentials(std::span<double> high, std::span<double> low) {
  HWY_DYNAMIC_DISPATCH(SetExponentials)(high.data(), low.data(), high.size());
}

void SetWeightCenters(const WeightRow& row) { HWY_DYNAMIC_DISPATCH(SetWeightCenters)(row); }
void SetWeightErrors(const WeightRow& row) { HWY_DYNAMIC_DISPATCH(SetWeightErrors)(row); }

}  // namespace sextant
#endif
