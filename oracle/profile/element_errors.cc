#include "oracle/profile/element_errors.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sextant::oracle {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

ErrorSample SampleOf(const GoldenTensor& golden, const PermittedTensor& permitted, size_t i,
                     double got) {
  const double high = golden.high.data[i];
  if (std::isnan(high) || std::isnan(golden.radius.data[i])) return {kNaN, kNaN, kNaN};
  const bool same = got == golden.value.data[i] && std::isinf(got);
  const double error = same ? 0 : (got - high) - golden.low.data[i];
  const double most = permitted.vacuous[i] ? kInfinity : permitted.error.data[i];
  return {std::isnan(error) ? kInfinity : error, UlpOf(golden.dtype, high),
          most + std::max(0.0, golden.radius.data[i])};
}

// The smallest of the sorted numbers that at least `share` of them do not exceed.
double Quantile(const std::vector<double>& sorted, double share) {
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

}  // namespace

double In(ErrorUnit unit, const ErrorSample& sample) {
  const double one = unit == ErrorUnit::kUlps        ? sample.ulp
                     : unit == ErrorUnit::kPermitted ? sample.permitted
                                                     : 1;
  return sample.error == 0 || std::isinf(sample.error) ? sample.error : sample.error / one;
}

std::vector<AnsweredOutput> ErrorsOf(const std::vector<GoldenTensor>& golden,
                                     const std::vector<PermittedTensor>& permitted,
                                     const Tensors& outputs) {
  std::vector<AnsweredOutput> all;
  for (size_t o = 0; o < golden.size(); ++o) {
    const auto at = std::ranges::find(outputs, golden[o].name, &NamedTensor::name);
    if (at == outputs.end()) continue;
    AnsweredOutput output{golden[o].name, at->values.shape};
    output.got = at->values.data;
    output.exact = golden[o].high.data;
    for (size_t i = 0; i < output.got.size(); ++i)
      output.samples.push_back(SampleOf(golden[o], permitted[o], i, output.got[i]));
    all.push_back(std::move(output));
  }
  return all;
}

Distribution DistributionOf(std::vector<double> errors) {
  if (errors.empty()) return {};
  double sum = 0, squares = 0;
  for (double& error : errors) {
    sum += error;
    squares += error * error;
    error = std::abs(error);
  }
  const auto count = static_cast<double>(errors.size());
  std::ranges::sort(errors);
  return {Quantile(errors, 0.5), Quantile(errors, 0.99), errors.back(), std::sqrt(squares / count),
          sum / count};
}

}  // namespace sextant::oracle
