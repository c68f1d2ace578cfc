#include "reference/prove/second_opinion.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <sstream>
#include <utility>

#include "reference/base/hash.h"
#include "reference/base/parallel.h"
#include "reference/number/exact/boost_real_error.h"
#include "reference/prove/case_slices.h"
#include "reference/prove/prove.h"

namespace sextant {
namespace {

using Bound = long double;

constexpr size_t kSliceElements = 64;

std::vector<Slice> SlicesOf(const Case& c, const SecondOpinionOptions& options) {
  const CaseCut all(c, kSliceElements, options.part);
  // The choice differs between cases. The prefix makes it independent of callers that choose cases
  // by the hash of their lines.
  const size_t first = options.one_in <= 1 ? 0
                                           : HashOf("slice of " + c.ToString()) %
                                                 std::min(options.one_in, all.size());
  std::vector<Slice> chosen;
  for (size_t i = first; i < all.size(); i += std::max<size_t>(1, options.one_in))
    chosen.push_back(all[i]);
  return chosen;
}

// True if no other number of the dtype is nearer to high + low. Both numbers of a tie are accepted.
// Beyond the tie of the largest number and the next one, which the type does not have, the value is
// infinite, or NaN.
bool IsNearest(DType dtype, double value, double high, double low) {
  const double largest = high < 0 ? -Lowest(dtype) : MaxFinite(dtype),
               tie = largest + UlpOf(dtype, largest) / 2;
  const double beyond = std::abs(high) - tie, rest = std::copysign(1.0, high) * low;
  if (!std::isfinite(value)) {
    const double expected = HasInfinity(dtype) ? std::copysign(kInfinity, high) : kNaN;
    return SameNumber(value, expected) && (beyond > 0 || (beyond == 0 && rest >= 0));
  }
  if (!IsRepresentable(dtype, value) || beyond > 0 || (beyond == 0 && rest > 0)) return false;
  for (const double other : {NextDown(dtype, value), NextUp(dtype, value)}) {
    const double farther = std::abs(high - other) - std::abs(high - value);
    if (farther < 0 || (farther == 0 && low * (other - value) > 0)) return false;
  }
  return true;
}

enum class Outcome { kConfirmed, kBeyond, kRefuted };

// Compares element i with x. `largest` is the largest |high| in the element's last axis.
Outcome OutcomeOf(const GoldenTensor& g, size_t i, double largest, const BoostReal& x) {
  const double high = g.high.data[i], low = g.low.data[i];
  if (std::isinf(ErrorOf(x))) return Outcome::kBeyond;
  const auto confirmed_if = [](bool same) {
    return same ? Outcome::kConfirmed : Outcome::kRefuted;
  };
  if (std::isnan(high)) return confirmed_if(std::isnan(x.High()));
  if (std::isinf(high)) return confirmed_if(x.High() == high);
  if (g.bitwise && std::signbit(high) != std::signbit(x.High())) return Outcome::kRefuted;
  const bool is_right = IsPower(g.choice) ? g.value.data[i] == Chosen(g.choice, g.dtype, high, low)
                                          : IsNearest(g.dtype, g.value.data[i], high, low);
  if (!is_right) return Outcome::kRefuted;
  const Bound rounding = static_cast<Bound>(UnitOfLow(high)) / 2;
  const Bound limit = rounding + g.radius.data[i] + ErrorOf(x);
  const Bound computed = 0x1p-50L;  // covers the rounding errors of this comparison
  if (!(DistanceOf(x, high, low) <= limit * (1 + computed))) return Outcome::kRefuted;
  const Bound enough = std::max(rounding, 0x1p-106L * largest);
  return ErrorOf(x) <= enough ? Outcome::kConfirmed : Outcome::kBeyond;
}

std::string Refutation(const GoldenTensor& g, size_t i, const BoostReal& x) {
  std::ostringstream text;
  text.precision(17);
  text << IndexText("golden/" + g.name, g.high.shape, i) << " is " << g.value.data[i] << " (high "
       << g.high.data[i] << ", low " << g.low.data[i] << "), and Boost.Multiprecision finds "
       << x.High() << ", " << static_cast<double>(DistanceOf(x, g.high.data[i], g.low.data[i]))
       << " from high + low";
  return text.str();
}

// The largest finite |high| of each row along the last axis.
std::vector<double> LargestOfRows(const GoldenTensor& g) {
  const size_t width = RowWidth(g.high.shape);
  std::vector<double> largest(g.high.data.size() / width);
  for (size_t i = 0; i < g.high.data.size(); ++i) {
    const double size = std::abs(g.high.data[i]);
    if (std::isfinite(size)) largest[i / width] = std::max(largest[i / width], size);
  }
  return largest;
}

// Collects the outcomes of elements. The result does not depend on the order of the slices.
class Outcomes {
 public:
  explicit Outcomes(const std::vector<GoldenTensor>& golden) : golden_(golden) {
    for (const GoldenTensor& g : golden) rows_.push_back(LargestOfRows(g));
  }

  void Add(size_t output, size_t i, const BoostReal& x) {
    const GoldenTensor& g = golden_[output];
    if (IsUnspecified(g, i) || std::isinf(g.radius.data[i])) return;
    const size_t row = i * rows_[output].size() / g.high.data.size();
    const Outcome outcome = OutcomeOf(g, i, rows_[output][row], x);
    const std::lock_guard lock(mutex_);
    ++opinion_.asked;
    opinion_.confirmed += outcome == Outcome::kConfirmed;
    opinion_.beyond += outcome == Outcome::kBeyond;
    if (outcome != Outcome::kRefuted) return;
    const std::pair<size_t, size_t> at(output, i);
    if (opinion_.refuted++ > 0 && at > first_) return;
    first_ = at;
    opinion_.first = Refutation(g, i, x);
  }

  const SecondOpinion& opinion() const { return opinion_; }

 private:
  const std::vector<GoldenTensor>& golden_;
  std::vector<std::vector<double>> rows_;
  std::mutex mutex_;
  std::pair<size_t, size_t> first_;
  SecondOpinion opinion_;
};

}  // namespace

SecondOpinion SecondOpinionOn(const Case& c, const InputTensors& inputs,
                              const std::vector<GoldenTensor>& golden,
                              const SecondOpinionOptions& options) {
  Outcomes outcomes(golden);
  const std::vector<Slice> slices = SlicesOf(c, options);
  InParallel(slices.size(), options.threads, [&](size_t piece) {
    const Slice& slice = slices[piece];
    const ScopedSlice in(&slice);
    Outputs<BoostReal> outputs = MakeOutputs<BoostReal>(c, slice);
    c.operation().Evaluate(InputsIn(c, inputs, slice), outputs);
    for (size_t o = 0; o < outputs.size(); ++o) {
      const auto indices = IndicesIn(golden[o].high.shape, c.info().signature.outputs[o],
                                     Within(slice, options.part));
      for (size_t i = 0; i < indices.size(); ++i)
        outcomes.Add(o, indices[i], outputs[o].values.data[i]);
    }
  });
  return outcomes.opinion();
}

}  // namespace sextant
