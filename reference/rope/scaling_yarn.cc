#include "reference/rope/scaling_yarn.h"

#include <algorithm>
#include <vector>

#include "reference/number/real.h"

namespace sextant {

void YarnScaling::Check(const RotarySetting& setting) const {
  ExpectAboveZero(kName, "factor", factor);
  ExpectAboveZero(kName, "original_max_position_embeddings", original_max_position_embeddings);
  ExpectAboveZero(kName, "beta_fast", beta_fast);
  ExpectAboveZero(kName, "beta_slow", beta_slow);
  if (ramp == YarnRamp::kRotations && !(beta_fast > beta_slow)) {
    throw Error(kName, ": beta_fast is ", beta_fast, ", expected more than beta_slow, ", beta_slow,
                ", for ramp=rotations");
  }
  if (setting.base == 1) throw Error(kName, ": base is 1, expected another number");
  for (const auto& m : {mscale, mscale_all_dim}) {
    if (m && *m < 0) throw Error(kName, ": an mscale is ", *m, ", expected at least 0");
  }
}

namespace {

// All values of floor(x') - floor(x), where x' is x as an implementation may compute it.
std::vector<double> ShiftsOfFloor(const Counted& x) {
  std::vector<double> shifts;
  constexpr double kMost = 4;  // limits the number of alternatives; a larger error leaves no ramp
  const DoubleDouble error = std::min(x.Permitted(), kMost);
  const double exact = Floor(x), least = floor(x.center() - error);
  for (double n = least; n <= floor(x.center() + error); ++n) shifts.push_back(n - exact);
  return shifts;
}

}  // namespace

std::vector<YarnScaling> YarnScaling::Alternatives(const RotarySetting& setting) const {
  std::vector<YarnScaling> all;
  if (!truncate || ramp != YarnRamp::kIndex) return all;
  const ScopedStep at(Step::kFrequency);
  for (const double low : ShiftsOfFloor(IndexOf<Counted>(beta_fast, setting))) {
    for (const double up : ShiftsOfFloor(-IndexOf<Counted>(beta_slow, setting))) {
      if (low == 0 && up == 0) continue;
      all.push_back(*this);
      all.back().low_shift = low;
      all.back().high_shift = -up;  // ceil(x) = -floor(-x)
    }
  }
  return all;
}

}  // namespace sextant
