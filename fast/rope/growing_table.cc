#include "fast/rope/growing_table.h"

#include <cmath>
#include <vector>

#include "fast/rope/rope_table.h"

namespace sextant::fast {
namespace {

// Sets `rounded` to x rounded to T. The error of x is at most 2^-51 |amplitude|: half an ulp
// (2^-53) each for the table, the amplitude, the product and this test. Returns false if the exact
// value may round to another T.
template <Element T>
bool RoundIfDecided(double x, double amplitude, T& rounded) {
  const double error = std::abs(amplitude) * 0x1p-51;
  rounded = FromDouble<T>(x - error);
  return ToDouble(rounded) == ToDouble(FromDouble<T>(x + error));
}

// e^(growth (position - center)) for all pairs. Moving to the next position takes one
// multiplication per pair; moving to any other position computes the exponentials again.
class Amplitudes {
 public:
  Amplitudes(double center, std::span<const GrowingRotation> rotations)
      : center_(center), rotations_(rotations), current_(rotations.size()) {
    for (const GrowingRotation& rotation : rotations) steps_.push_back(exp(rotation.growth));
  }
  void MoveTo(double position) {
    const bool next = count_ > 0 && count_ <= kMostSteps && position == position_ + 1;
    count_ = next ? count_ + 1 : 1;
    position_ = position;
    for (size_t k = 0; k < current_.size(); ++k) {
      DoubleDouble& a = current_[k];
      a = next && a.high > kLeast && a.high < kMost ? a * steps_[k] : exp(Exponent(k));
    }
  }
  double operator[](size_t k) const { return current_[k].high; }
  // x times amplitude k. 0 stays 0; a product outside the range of double is infinite. If the
  // amplitude is near a limit of that range, it is scaled by a power of two, and the product is
  // scaled back, so that no bits are lost before.
  DoubleDouble Times(const DoubleDouble& x, size_t k) const {
    const double a = current_[k].high;
    const int shift = a < kLeast ? 600 : a > kMost ? -600 : 0;
    if (x.high == 0) return 0.0;
    const DoubleDouble shifted =
        shift == 0 ? current_[k] : exp(Exponent(k) + kLn2 * static_cast<double>(shift));
    const DoubleDouble product = x * shifted;
    return std::isfinite(product.high) ? ldexp(product, -shift) : x.high * shifted.high;
  }

 private:
  static constexpr double kLeast = 0x1p-800, kMost = 0x1p800;  // in between, no low part underflows
  static constexpr int kMostSteps = 256;

  DoubleDouble Exponent(size_t k) const {
    return rotations_[k].growth * TwoSum(position_, -center_);
  }

  double center_, position_ = 0;
  int count_ = 0;  // consecutive positions so far
  std::span<const GrowingRotation> rotations_;
  std::vector<DoubleDouble> current_, steps_;
};

}  // namespace

template <Element T>
void FillGrowingTable(std::span<const double> position, double center,
                      std::span<const GrowingRotation> rotations, T* cosine, T* sine) {
  const size_t n = rotations.size();
  std::vector<DoubleDouble> frequency;
  for (const GrowingRotation& rotation : rotations) frequency.push_back(rotation.frequency);
  std::vector<double> unit_cosine, unit_sine;
  if constexpr (!std::same_as<T, double>) {
    unit_cosine.resize(position.size() * n);
    unit_sine.resize(unit_cosine.size());
    FillTable<double>(position, frequency, 1.0, unit_cosine.data(), unit_sine.data());
  }
  Amplitudes amplitudes(center, rotations);
  for (size_t i = 0; i < position.size() * n; ++i) {
    const double p = position[i / n];
    if (i % n == 0) amplitudes.MoveTo(p);
    if constexpr (!std::same_as<T, double>) {
      const double a = amplitudes[i % n];
      if (RoundIfDecided(unit_cosine[i] * a, a, cosine[i]) &&
          RoundIfDecided(unit_sine[i] * a, a, sine[i]))
        continue;
    }
    const SineCosine cos_sin = SinCos(frequency[i % n] * p);
    cosine[i] = FromDoubleDouble<T>(amplitudes.Times(cos_sin.cosine, i % n));
    sine[i] = FromDoubleDouble<T>(amplitudes.Times(cos_sin.sine, i % n));
  }
}

template void FillGrowingTable(std::span<const double>, double, std::span<const GrowingRotation>,
                               double*, double*);
template void FillGrowingTable(std::span<const double>, double, std::span<const GrowingRotation>,
                               float*, float*);
template void FillGrowingTable(std::span<const double>, double, std::span<const GrowingRotation>,
                               F16*, F16*);
template void FillGrowingTable(std::span<const double>, double, std::span<const GrowingRotation>,
                               BF16*, BF16*);

}  // namespace sextant::fast
