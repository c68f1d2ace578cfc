// CountedLanes: 64 numbers that behave as Counted. A formula over CountedLanes gives in each lane
// the bits of the same formula over Counted, several times as fast: vectors compute the ordinary
// lanes of each operation. The others (an operand near the limits of its format, an overflow, a
// step that flushes ...) are computed by the operation of Counted.
// The operations are those of elementwise formulas: + - * Converted Clamp Tanh Sigmoid Erf Erfc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "reference/number/counted/counted.h"
#include "reference/number/counted/counted_span.h"
#include "reference/number/lanes/lane_arrays.h"

namespace sextant {

// The format of each lane.
class LaneFormats {
 public:
  LaneFormats() = default;  // no lane has a format
  explicit LaneFormats(const std::optional<DType>& all) { SetAll(~uint64_t{0}, all); }
  void SetAll(uint64_t lanes, const std::optional<DType>& format);
  // The lanes of `lanes` get the format that they have in `other`.
  void Take(uint64_t lanes, const LaneFormats& other);
  std::optional<DType> Of(size_t lane) const;
  std::optional<DType> OfAll() const;  // empty if not all lanes have the same one
  // The lanes whose numbers are values of `format`.
  uint64_t ContainedIn(DType format) const;
  bool operator==(const LaneFormats&) const = default;

 private:
  std::array<uint64_t, kDTypes.size()> lanes_{};  // of each type, a bit for each lane
};

class CountedLanes {
 public:
  explicit CountedLanes(double x) : CountedLanes(Counted(x)) {}
  CountedLanes(const Counted& x);  // in every lane
  // 1 to kLaneCount numbers; the last is in all other lanes, too.
  explicit CountedLanes(std::span<const Counted> numbers);
  explicit CountedLanes(const CountedSpan& numbers);
  explicit CountedLanes(const ExactSpan& numbers);

  Counted operator[](size_t lane) const;
  void CopyTo(std::span<Counted> numbers) const;
  // False, and no numbers, if a number has another format or is saturated.
  bool CopyTo(const CountedSpan& numbers) const;
  CountedLanes AroundCenterOf(const CountedLanes& other) const;

  friend CountedLanes operator+(const CountedLanes& a, const CountedLanes& b);
  friend CountedLanes operator-(const CountedLanes& a);
  friend CountedLanes operator*(const CountedLanes& a, const CountedLanes& b);
  friend CountedLanes Converted(const CountedLanes& a);
  friend CountedLanes Clamp(const CountedLanes& x, const CountedLanes& low,
                            const CountedLanes& high);
  friend CountedLanes Tanh(const CountedLanes& a);
  friend CountedLanes Sigmoid(const CountedLanes& a);
  friend CountedLanes Erf(const CountedLanes& a);
  friend CountedLanes Erfc(const CountedLanes& a);

 private:
  CountedLanes() {}  // without numbers
  void Set(size_t lane, const Counted& x);
  void SetNumbers(size_t lane, const Counted& x);
  // The lanes that vectors may compute in a step, and whether all of them are values of its format.
  struct Eligible {
    uint64_t lanes;
    bool are_values;
  };
  Eligible EligibleFor(const StepRule& rule) const;
  // Computes all lanes by `kernel`, and those that it leaves by `single`.
  template <class Kernel, class Single, class... Lanes>
  static CountedLanes Computed(Kernel kernel, Single single, const Lanes&... operands);

  LaneArrays numbers_;
  LaneFormats formats_;
  uint64_t saturated_ = 0;  // a bit for each lane
};

// Replaces each number by Converted(number).
void ConvertAll(const CountedSpan& numbers);

}  // namespace sextant
