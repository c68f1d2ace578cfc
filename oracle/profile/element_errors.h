// The signed errors of an answer, element by element, and their distribution in three units: ulps
// of the output, permitted errors, and the unit of the output itself.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "reference/number/tensor/tensor.h"
#include "reference/prove/golden.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {

// One element. All are NaN if no value is specified, or a budget leaves the element out.
struct ErrorSample {
  double error = 0;      // answer - exact value
  double ulp = 0;        // of the output's dtype at the exact value
  double permitted = 0;  // by the recipe; infinite if any answer would pass
};

enum class ErrorUnit { kUlps, kPermitted, kAbsolute };
inline constexpr std::array kErrorUnits = {ErrorUnit::kUlps, ErrorUnit::kPermitted,
                                           ErrorUnit::kAbsolute};
constexpr std::array<std::string_view, 3> NamesOf(ErrorUnit) {
  return {"ulps", "permitted", "absolute"};
}
// The signed error in the unit. 0 / 0 is 0, and infinity / infinity is infinite.
double In(ErrorUnit unit, const ErrorSample& sample);

struct AnsweredOutput {
  std::string name;
  Shape shape;
  std::vector<ErrorSample> samples{};
  std::vector<double> got{}, exact{};  // the answer, and the exact value rounded to f64
};
// One for each output that was answered, in the order of the signature.
std::vector<AnsweredOutput> ErrorsOf(const std::vector<GoldenTensor>& golden,
                                     const std::vector<PermittedTensor>& permitted,
                                     const Tensors& outputs);

// Of magnitudes: the median, the 99th percentile (the smallest magnitude that at least 99 % do not
// exceed), the largest and the root mean square; and of signed errors the mean.
struct Distribution {
  double median = 0, p99 = 0, largest = 0, rms = 0, bias = 0;
};
// `errors` are signed; all 0 if there are none.
Distribution DistributionOf(std::vector<double> errors);

}  // namespace sextant::oracle
