// Rows of a table of cos and sin in vectors: the same bits as the entries of rope_table for single
// numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "reference/number/counted/counted_numbers.h"
#include "reference/number/real.h"

namespace sextant {

// Sines and cosines in double-double: arrays with one element per pair.
struct SinesAndCosines {
  const double *sine_high, *sine_low, *cosine_high, *cosine_low;
};

// How numbers are rounded to the format of a step; nothing is rounded if the step is exact.
struct StepRange : OrdinaryRange {
  explicit StepRange(const StepRule& rule);
  double function;  // as half_ulp, for functions accurate to `ulps`
  double least_normal, most_finite;
  uint64_t more_bits;  // of a double, which the format does not have
};

// kPowerOfTwo: plain unless the position is rounded. kSpecial: no result is plain.
enum class FrequencyKind { kPlain, kPowerOfTwo, kSpecial };

// The entries of one position: arrays with one element per pair.
struct PlainEntries {
  size_t count;
  double position, position_error;  // of the position as a number of step angle
  CountedNumbers frequency;
  const double* special;          // FrequencyKind
  SinesAndCosines coarse, fine;   // of the two parts of the position
  bool backwards;                 // the angle of `fine` is negative
  StepRange angle, trig, table;   // the steps
  bool angle_converts, converts;  // to the format of step trig, and of step table
  Counted amplitude;
  CountedNumbers cos, sin;  // the results
  double* ordinary;         // 0 where an entry is a special case, and its results are wrong
};

class PlainTable {
 public:
  // inv_freq  [R/2]  must outlive this object, as the amplitude
  PlainTable(std::span<const Counted> inv_freq, const Counted& amplitude);

  // The entries of a position, an integer: cos, sin [R/2].
  void operator()(double position, std::span<Counted> cos, std::span<Counted> sin);

 private:
  using Arrays = std::vector<double>;
  SinesAndCosines AtInteger(int64_t position);
  // Computes the entries of a position. False if all of them are special cases.
  bool FillPlain(double position);

  std::span<const Counted> inv_freq_;
  const Counted& amplitude_;
  Counted converted_amplitude_;
  StepRule angle_, trig_, table_;
  bool plain_;                            // no step flushes, and the amplitude is ordinary
  std::vector<AngleTable<Counted>> one_;  // for special cases
  CountedArrays frequency_, cos_, sin_;
  Arrays special_, ordinary_;
  std::unordered_map<int64_t, Arrays> at_integer_;  // parts of positions
};

}  // namespace sextant
