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

// Numbers divided by the scale of their block.
template <class Real>
struct Divisor {
  Divisor(const Real& scale, const Real& largest, const Real& limit, bool is_given)
      : scale_(scale), largest_(largest), limit_(limit), is_given_(is_given) {
    if constexpr (RealArithmetic<Real>) return;
    reciprocal_ = Converted(Real(1.0)) / scale;
    inverse_ = limit / largest;
  }
  Real Divide(const Real& x) const;

 private:
  Real scale_, largest_, limit_;
  bool is_given_;  // the scale is an answer
  Real reciprocal_{}, inverse_{};
};

// A tie is exact only without the rounding of the scale.
template <RealArithmetic Real>
Real Exactly(const Real& x, const Real& scale, const Real& largest, const Real& limit,
             bool is_given) {
  return is_given ? x / scale : x * limit / largest;
}

template <class Real>
Real Divisor<Real>::Divide(const Real& x) const {
  if constexpr (RealArithmetic<Real>) return Exactly(x, scale_, largest_, limit_, is_given_);
  const Form form = CurrentRule().form;
  if (form == Form::kReciprocal) return x * reciprocal_;
  if (form == Form::kInverse) return x * inverse_;
  return x / scale_;
}

// The errors are those of the quotient by the scale. The inverse may be that of another number: the
// scale is rounded.
template <>
Counted Divisor<Counted>::Divide(const Counted& x) const {
  const Form form = CurrentRule().form;
  const Counted quotient = x / scale_;
  if (form == Form::kDivide) return quotient;
  Counted::Bounds bounds{quotient.error(), quotient.likely()};
  if (form != Form::kDefault) bounds = {};
  const auto include = [&](const Counted& other) {
    const auto [high, low] = other.center();
    const double apart = std::abs((high - quotient.center().high) + (low - quotient.center().low)) +
                         std::abs(high) * 0x1p-51 + other.drift() + quotient.drift();
    const double moved =
        other.center().high == quotient.center().high && other.center().low == quotient.center().low
            ? 0
            : apart;
    bounds.worst = std::max(bounds.worst, other.error() + moved);
    bounds.likely = std::max(bounds.likely, other.likely() + moved);
  };
  if (form != Form::kInverse) include(x * reciprocal_);
  if (form != Form::kReciprocal) include(x * inverse_);
  return quotient.WithError(bounds);
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
  const bool is_given = ScopedOutputs::AnswerFor(&scale) != nullptr;
  const ScopedStep at(Step::kQuantize);
  for (size_t n = 0; n < N; ++n) {
    for (size_t g = 0; g < G; ++g) {
      const Divisor<Real> by{own(n, g), largest[n * G + g], Converted(most), is_given};
      ForBlock(x.shape, n, g, [&](size_t flat) {
        const Real code = by.Divide(Converted(Real(x.data[flat])));
        codes.data[flat] = ClampOrNaN(code, -Converted(most), Converted(most));
      });
    }
  }
}

template <>
std::unique_ptr<Operation> MakeOperation<Quantize>() {
  return std::make_unique<RoundingOperation<Quantize>>();
}

}  // namespace sextant
