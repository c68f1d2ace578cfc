// The means of all columns of the values of a head.
#include <algorithm>
#include <concepts>
#include <optional>

#include "reference/attention/softmax_mean.h"
#include "reference/attention/softmax_row.h"
#include "reference/number/dot/dot.h"

namespace sextant {

template <class Real>
ValueRows<Real>::ValueRows(std::span<const Real> numbers, size_t count)
    : numbers_(numbers), width_(count == 0 ? 0 : numbers.size() / count) {
  if constexpr (std::same_as<Real, Counted>) {
    const ScopedStep at(Step::kDot);
    const std::vector<double> plain = PlainNumbers(numbers);
    if (plain.empty()) return;
    padded_ = (width_ + kMeanColumns - 1) / kMeanColumns * kMeanColumns;
    plain_.resize(count * padded_);
    for (size_t t = 0; t < count; ++t) {
      for (size_t e = 0; e < width_; ++e)
        plain_[t * padded_ + e] = static_cast<float>(plain[t * width_ + e]);
    }
  }
}

template class ValueRows<Interval>;
template class ValueRows<Counted>;
template class ValueRows<Rounded>;
template class ValueRows<BoostReal>;

template <class Real>
void SoftmaxRow<Real>::Means(const ValueRows<Real>& values, std::span<const size_t> keys,
                             std::span<Real> y) const {
  std::vector<Real> column(weights_.size(), Real(0.0));
  for (size_t e = 0; e < y.size(); ++e) {
    for (size_t j = 0; j < keys.size(); ++j) column[j] = values[keys[j]][e];
    y[e] = Mean(column);
  }
}

template void SoftmaxRow<Interval>::Means(const ValueRows<Interval>&, std::span<const size_t>,
                                          std::span<Interval>) const;
template void SoftmaxRow<Rounded>::Means(const ValueRows<Rounded>&, std::span<const size_t>,
                                         std::span<Rounded>) const;
template void SoftmaxRow<BoostReal>::Means(const ValueRows<BoostReal>&, std::span<const size_t>,
                                           std::span<BoostReal>) const;

void SoftmaxRow<Counted>::Means(const ValueRows<Counted>& values, std::span<const size_t> keys,
                                std::span<Counted> y) const {
  const bool many = count_ > 1;
  const ScopedStep at(Step::kDot);
  const WeightedMean* mean = nullptr;
  std::optional<WeightedMean> storage;
  if (many || unbounded_) mean = &storage.emplace(*this);
  if (mean && mean->TakesPlain() && tiled_ && values.PlainWidth() > 0) {
    const std::vector<float> zeros(values.PlainWidth());
    std::vector<const float*> rows;
    for (const size_t key : keys) rows.push_back(values.Plain(key));
    rows.resize(count_, zeros.data());
    return mean->OfPlain(rows, values.PlainWidth(), y);
  }
  std::vector<Counted> column(count_);
  for (size_t e = 0; e < y.size(); ++e) {
    for (size_t j = 0; j < keys.size(); ++j) column[j] = values[keys[j]][e];
    y[e] = mean ? mean->Of(column) : Mean(column);
  }
}

}  // namespace sextant
