#include "oracle/judge/error_sums.h"

#include <numeric>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "oracle/judge/error_sums.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using oracle::ErrorSums;

// Adds the first `count` numbers, a multiple of kSums.
void AddEighths(const double* x, size_t count, double* sums, double* of_squares) {
  const hn::CappedTag<double, ErrorSums::kSums> d;
  for (size_t first = 0; first < ErrorSums::kSums; first += hn::Lanes(d)) {
    auto sum = hn::Zero(d), squares = hn::Zero(d);
    for (size_t k = first; k < count; k += ErrorSums::kSums) {
      const auto error = hn::LoadU(d, x + k);
      sum = hn::Add(sum, error);
      squares = hn::Add(squares, hn::Mul(error, error));
    }
    hn::StoreU(sum, d, sums + first);
    hn::StoreU(squares, d, of_squares + first);
  }
}

void AddEach(const double* x, size_t count, double* to) {
  const hn::ScalableTag<double> d;
  size_t k = 0;
  for (; k + hn::Lanes(d) <= count; k += hn::Lanes(d))
    hn::StoreU(hn::Add(hn::LoadU(d, to + k), hn::LoadU(d, x + k)), d, to + k);
  for (; k < count; ++k) to[k] += x[k];
}

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(AddEighths);
HWY_EXPORT(AddEach);

}  // namespace

namespace oracle {

ErrorSums::ErrorSums(std::span<const double> errors) {
  double sums[kSums] = {}, of_squares[kSums] = {};
  const size_t whole = errors.size() / kSums * kSums;
  HWY_DYNAMIC_DISPATCH(AddEighths)(errors.data(), whole, sums, of_squares);
  for (size_t i = 0; whole + i < errors.size(); ++i) {
    const double error = errors[whole + i];
    sums[i] += error;
    of_squares[i] += error * error;
  }
  sum = std::accumulate(sums, sums + kSums, 0.0);
  squares = std::accumulate(of_squares, of_squares + kSums, 0.0);
}

void AddEach(std::span<const double> x, double* to) {
  HWY_DYNAMIC_DISPATCH(AddEach)(x.data(), x.size(), to);
}

}  // namespace oracle
}  // namespace sextant
#endif
