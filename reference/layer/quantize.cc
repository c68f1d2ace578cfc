#include "reference/layer/quantize.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/base/error.h"
#include "reference/base/value_text.h"
#include "reference/case/intermediate.h"
#include "reference/layer/activation.h"
#include "reference/number/real.h"
#include "reference/prove/rounding_operation.h"

namespace sextant {
namespace {

// A block x[n,:,g,:]: calls use(flat) for its elements.
template <class Use>
void ForBlock(const Shape& shape, size_t n, size_t g, const Use& use) {
  const size_t A = shape[1], G = shape[2], M = shape[3];
  for (size_t a = 0; a < A; ++a)
    for (size_t m = 0; m < M; ++m) use(((n * A + a) * G + g) * M + m);
}

// NaN if one of the numbers is NaN.
double LargestMagnitude(const Tensor<double>& x, size_t n, size_t g) {
  double largest = 0;
  ForBlock(x.shape, n, g, [&](size_t flat) {
    const double size = std::abs(x.data[flat]);
    if (!(size <= largest) && !std::isnan(largest)) largest = size;
  });
  return largest;
}

}  // namespace

void Quantize::Check() const {
  if (limit && !(*limit > 0 && std::isfinite(*limit)))
    throw Error("quantize: limit=", PrintValue(*limit), ", expected a number above 0");
  if (!(least >= 0 && std::isfinite(least)))
    throw Error("quantize: least=", PrintValue(least), ", expected 0 or more");
}

void Quantize::CheckTypes(const std::map<std::string, DType>& given) const {
  const auto at = given.find("codes");
  const DType type = at == given.end() ? DType::kF8E4M3FN : at->second;
  if (SizeOf(type) != 1)
    throw Error("quantize: dtype.codes=", NameOf(type), ", expected a type of 8 bits");
  if (limit && *limit > MaxFinite(type))
    throw Error("quantize: limit=", PrintValue(*limit), " is beyond the largest number of ",
                NameOf(type), ", ", PrintValue(MaxFinite(type)));
}

template <class Real>
void Quantize::operator()(const Tensor<double>& x, Tensor<Real>& scale, Tensor<Real>& codes) const {
  const size_t N = x.shape[0], G = x.shape[2];
  const Real most(Limit()), huge(std::numeric_limits<double>::max());
  std::vector<Real> largest;  // of each block
  {
    const ScopedStep at(Step::kQuantize);
    for (size_t n = 0; n < N; ++n) {
      for (size_t g = 0; g < G; ++g) {
        const double amax = LargestMagnitude(x, n, g);
        Real& of_block = largest.emplace_back(Converted(Real(amax)));
        if (least > 0 && !std::isnan(amax))
          of_block = ClampOrNaN(of_block, Converted(Real(least)), huge);
        scale(n, g) = of_block / Converted(most);
      }
    }
  }
  const Tensor<Real> own = Intermediate(scale, Step::kQuantize);
  const ScopedStep at(Step::kQuantize);
  for (size_t n = 0; n < N; ++n) {
    for (size_t g = 0; g < G; ++g) {
      const Real& of_block = largest[n * G + g];
      const Real& divisor = own(n, g);
      const Real factor =
          by == QuantizeBy::kInverse ? Converted(most) / of_block : Converted(Real(1.0)) / divisor;
      ForBlock(x.shape, n, g, [&](size_t flat) {
        const Real number = Converted(Real(x.data[flat]));
        const Real scaled = by == QuantizeBy::kDivide ? number / divisor : number * factor;
        codes.data[flat] = ClampOrNaN(scaled, -Converted(most), Converted(most));
      });
    }
  }
}

template <>
std::unique_ptr<Operation> MakeOperation<Quantize>() {
  return std::make_unique<RoundingOperation<Quantize>>();
}

}  // namespace sextant
