#include "reference/number/dot/counted_dot.h"

#include <algorithm>
#include <cmath>

#include "reference/number/recipe/evaluation_context.h"

namespace sextant {
namespace {

// Centres in this range have no products that underflow in the low half, for any plain number.
constexpr double kLeastCentre = 0x1p-700, kMostCentre = 0x1p700;

}  // namespace

CountedRow::CountedRow(std::span<const Counted> numbers) : operand_(numbers) {
  if (operand_.plain().empty()) SetFactors(numbers);
}

void CountedRow::SetFactors(std::span<const Counted> numbers) {
  using Kind = CountedFactor::Kind;
  const ScopedStep at(Step::kDot);
  factors_.reserve(numbers.size());
  for (const Counted& number : numbers) {
    const Counted x = Converted(number);
    const double size = std::abs(x.center().high);
    const bool exact = x.IsExact(), unbounded = std::isinf(x.error());
    const bool in_range = size == 0 || (size > kLeastCentre && size < kMostCentre);
    if (!in_range || !std::isfinite(x.drift()) || (exact && x.center().low != 0)) {
      factors_.clear();
      return;
    }
    if (x.saturated()) saturated_.push_back(factors_.size());
    unbounded_ = unbounded_ || unbounded;
    factors_.push_back({.high = x.center().high,
                        .low = x.center().low,
                        .drift = x.drift(),
                        .magnitude = x.Magnitude(),
                        .error = unbounded ? 0 : x.error(),
                        .likely = unbounded ? 0 : x.likely(),
                        .kind = exact       ? Kind::kExact
                                : unbounded ? Kind::kUnbounded
                                            : Kind::kInexact});
  }
}

CountedRow::Products CountedRow::PlainTimes(const PlainBlock& block) const {
  PlainSums sums;
  const size_t width = operand_.plain().size();
  const DType format = CurrentRule().format;
  AddPlainProducts(operand_.plain(), block.numbers.data(), format,
                   ExactOf(operand_.range(), block.range, width, GridOf(format)), sums);
  Products products(kPlainRows);
  for (size_t j = 0; j < kPlainRows; ++j) {
    if (!sums.ordinary[j]) continue;
    products[j] = CountedSum({sums.high[j], sums.low[j]}, sums.rounding[j], sums.error[j],
                             sums.size[j], width)
                      .Total();
  }
  return products;
}

CountedRow::Products CountedRow::Times(const PlainBlock& block) const {
  const ScopedStep at(Step::kDot);
  if (!operand_.plain().empty()) return PlainTimes(block);
  Products products(kPlainRows);
  if (factors_.empty()) return products;
  CountedSums sums;
  AddCountedProducts(factors_, block.numbers.data(), CurrentRule().format, sums);
  for (size_t j = 0; j < kPlainRows; ++j) {
    if (sums.ordinary[j]) products[j] = Product(block.numbers, sums, j);
  }
  return products;
}

// An infinite error makes all sums infinite, the likely one, too: a rounding of an infinite number
// is infinite.
Counted CountedRow::Product(std::span<const float> block, const CountedSums& sums, size_t j) const {
  const auto bounded = [this](double x) { return unbounded_ ? kInfinity : x; };
  const Counted terms =
      Counted::Of({sums.high[j], sums.low[j]}, sums.drift[j], std::nullopt, IsSaturated(block, j))
          .WithError({bounded(sums.error[j]), bounded(sums.likely[j])});
  return CountedSum(terms, sums.rounding[j], bounded(sums.size[j]), factors_.size()).Total();
}

bool CountedRow::IsSaturated(std::span<const float> block, size_t j) const {
  return std::ranges::any_of(saturated_, [&](size_t i) { return block[i * kPlainRows + j] != 0; });
}

}  // namespace sextant
