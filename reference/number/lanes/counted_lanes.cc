#include "reference/number/lanes/counted_lanes.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <memory>

#include "reference/number/recipe/evaluation_context.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant {
namespace {

constexpr uint64_t kAll = ~uint64_t{0};
static_assert(kLaneCount == 64, "a bit for each lane");

constexpr uint64_t BitOf(size_t lane) { return uint64_t{1} << lane; }

// Calls work(lane) for each lane of the set.
template <class Work>
void ForEachLane(uint64_t lanes, Work work) {
  for (; lanes != 0; lanes &= lanes - 1) work(static_cast<size_t>(std::countr_zero(lanes)));
}

}  // namespace

void LaneFormats::SetAll(uint64_t lanes, const std::optional<DType>& format) {
  for (uint64_t& of_type : lanes_) of_type &= ~lanes;
  if (format) lanes_[static_cast<size_t>(*format)] |= lanes;
}

void LaneFormats::Take(uint64_t lanes, const LaneFormats& other) {
  for (size_t i = 0; i < lanes_.size(); ++i)
    lanes_[i] = (lanes_[i] & ~lanes) | (other.lanes_[i] & lanes);
}

std::optional<DType> LaneFormats::Of(size_t lane) const {
  for (size_t i = 0; i < lanes_.size(); ++i) {
    if (lanes_[i] & BitOf(lane)) return static_cast<DType>(i);
  }
  return std::nullopt;
}

std::optional<DType> LaneFormats::OfAll() const {
  const auto at = std::ranges::find(lanes_, kAll);
  if (at == lanes_.end()) return std::nullopt;
  return static_cast<DType>(at - lanes_.begin());
}

uint64_t LaneFormats::ContainedIn(DType format) const {
  uint64_t contained = 0;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    if (lanes_[i] != 0 && Contains(format, static_cast<DType>(i))) contained |= lanes_[i];
  }
  return contained;
}

LaneRule::LaneRule(const StepRule& of)
    : rule(of), level_1(this_context.double_centers), ordinary(of) {
  if (of.exact) return;
  const Grid grid = GridOf(of.format);
  least_normal = PowerOfTwo(grid.min_exponent);
  largest_binade = PowerOfTwo(grid.max_exponent);
  dropped_bits = (uint64_t{1} << (53 - grid.precision)) - 1;
}

CountedLanes::CountedLanes(const Counted& x)
    : formats_(x.format()), saturated_(x.saturated() ? kAll : 0) {
  std::ranges::fill(numbers_.high, x.center().high);
  std::ranges::fill(numbers_.low, x.center().low);
  std::ranges::fill(numbers_.error, x.error());
  std::ranges::fill(numbers_.likely, x.likely());
  std::ranges::fill(numbers_.drift, x.drift());
}

CountedLanes::CountedLanes(std::span<const Counted> numbers) {
  assert(!numbers.empty() && numbers.size() <= kLaneCount);
  const Counted& last = numbers.back();
  const auto of = [&](size_t lane) -> const Counted& {
    return lane < numbers.size() ? numbers[lane] : last;
  };
  for (size_t lane = 0; lane < kLaneCount; ++lane) SetNumbers(lane, of(lane));
  formats_ = LaneFormats(last.format());
  if (last.saturated()) saturated_ = kAll;
  for (size_t lane = 0; lane < numbers.size(); ++lane) {
    if (of(lane).format() != last.format()) formats_.SetAll(BitOf(lane), of(lane).format());
    if (of(lane).saturated() != last.saturated()) saturated_ ^= BitOf(lane);
  }
}

CountedLanes::CountedLanes(const CountedSpan& numbers) : formats_(numbers.format) {
  assert(numbers.count > 0 && numbers.count <= kLaneCount);
  const auto copy = [&](const double* from, double* to) {
    std::copy_n(from, numbers.count, to);
    std::fill(to + numbers.count, to + kLaneCount, from[numbers.count - 1]);
  };
  copy(numbers.numbers.high, numbers_.high);
  copy(numbers.numbers.low, numbers_.low);
  copy(numbers.numbers.error, numbers_.error);
  copy(numbers.numbers.likely, numbers_.likely);
  copy(numbers.numbers.drift, numbers_.drift);
}

CountedLanes::CountedLanes(const ExactSpan& numbers) : formats_(numbers.type) {
  assert(!numbers.values.empty() && numbers.values.size() <= kLaneCount);
  const auto end = std::ranges::copy(numbers.values, numbers_.high).out;
  std::fill(end, numbers_.high + kLaneCount, numbers.values.back());
  for (double* const zeros : {numbers_.low, numbers_.error, numbers_.likely, numbers_.drift})
    std::fill_n(zeros, kLaneCount, 0.0);
}

void CountedLanes::SetNumbers(size_t lane, const Counted& x) {
  numbers_.high[lane] = x.center().high;
  numbers_.low[lane] = x.center().low;
  numbers_.error[lane] = x.error();
  numbers_.likely[lane] = x.likely();
  numbers_.drift[lane] = x.drift();
}

void CountedLanes::Set(size_t lane, const Counted& x) {
  SetNumbers(lane, x);
  formats_.SetAll(BitOf(lane), x.format());
  saturated_ = (saturated_ & ~BitOf(lane)) | (x.saturated() ? BitOf(lane) : 0);
}

namespace {

inline void SetNumber(const LaneArrays& numbers, size_t lane, const std::optional<DType>& format,
                      bool saturated, Counted& to) {
  std::construct_at(&to, DoubleDouble(numbers.high[lane], numbers.low[lane]),
                    Counted::Bounds{numbers.error[lane], numbers.likely[lane]}, numbers.drift[lane],
                    format, saturated);
}

}  // namespace

Counted CountedLanes::operator[](size_t lane) const {
  Counted number;
  SetNumber(numbers_, lane, formats_.Of(lane), (saturated_ & BitOf(lane)) != 0, number);
  return number;
}

void CountedLanes::CopyTo(std::span<Counted> numbers) const {
  if (const auto format = formats_.OfAll(); format && saturated_ == 0) {
    for (size_t lane = 0; lane < numbers.size(); ++lane)
      SetNumber(numbers_, lane, *format, false, numbers[lane]);
  } else {
    for (size_t lane = 0; lane < numbers.size(); ++lane) numbers[lane] = (*this)[lane];
  }
}

bool CountedLanes::CopyTo(const CountedSpan& numbers) const {
  if (saturated_ != 0 || formats_ != LaneFormats(numbers.format)) return false;
  const CountedNumbers& to = numbers.numbers;
  std::copy_n(numbers_.high, numbers.count, to.high);
  std::copy_n(numbers_.low, numbers.count, to.low);
  std::copy_n(numbers_.error, numbers.count, to.error);
  std::copy_n(numbers_.likely, numbers.count, to.likely);
  std::copy_n(numbers_.drift, numbers.count, to.drift);
  return true;
}

CountedLanes CountedLanes::AroundCenterOf(const CountedLanes& other) const {
  CountedLanes y = *this;
  std::ranges::copy(other.numbers_.high, y.numbers_.high);
  std::ranges::copy(other.numbers_.low, y.numbers_.low);
  std::ranges::copy(other.numbers_.drift, y.numbers_.drift);
  return y;
}

CountedLanes::Eligible CountedLanes::EligibleFor(const StepRule& rule) const {
  const uint64_t values = rule.exact ? kAll : formats_.ContainedIn(rule.format);
  return {(values == kAll ? kAll : ~values) & ~saturated_, values == kAll};
}

template <class Kernel, class Single, class... Lanes>
CountedLanes CountedLanes::Computed(Kernel kernel, Single single, const Lanes&... operands) {
  const StepRule& rule = CurrentRule();
  CountedLanes y;
  uint64_t right = 0;
  if (rule.exact || !rule.flushes) {
    right = kernel(LaneRule(rule),
                   LaneOperand{operands.numbers_, operands.EligibleFor(rule).are_values}...,
                   y.numbers_);
    ((right &= operands.EligibleFor(rule).lanes), ...);
  }
  y.formats_ = LaneFormats(FormatOf(rule));
  ForEachLane(~right, [&](size_t lane) { y.Set(lane, single(operands[lane]...)); });
  return y;
}

CountedLanes operator+(const CountedLanes& a, const CountedLanes& b) {
  return CountedLanes::Computed(
      AddLanes, [](const Counted& x, const Counted& y) { return x + y; }, a, b);
}

CountedLanes operator-(const CountedLanes& a) {
  CountedLanes y = a;
  for (size_t lane = 0; lane < kLaneCount; ++lane) {
    y.numbers_.high[lane] = -a.numbers_.high[lane];
    y.numbers_.low[lane] = -a.numbers_.low[lane];
  }
  return y;
}

CountedLanes operator*(const CountedLanes& a, const CountedLanes& b) {
  return CountedLanes::Computed(
      MultiplyLanes, [](const Counted& x, const Counted& y) { return x * y; }, a, b);
}

CountedLanes Converted(const CountedLanes& a) {
  if (CurrentRule().exact) return a;
  return CountedLanes::Computed(
      ConvertLanes, [](const Counted& x) { return Converted(x); }, a);
}

void ConvertAll(const CountedSpan& numbers) {
  const std::optional<DType> format = FormatOf(CurrentRule());
  for (size_t first = 0; first < numbers.count; first += kLaneCount) {
    const CountedSpan part = numbers.Part(first, std::min(kLaneCount, numbers.count - first));
    const CountedLanes converted = Converted(CountedLanes(part));
    if (converted.CopyTo(CountedSpan{part.numbers, part.count, format})) continue;
    for (size_t lane = 0; lane < part.count; ++lane) Set(part.numbers, lane, converted[lane]);
  }
}

CountedLanes Tanh(const CountedLanes& a) {
  return CountedLanes::Computed(
      TanhLanes, [](const Counted& x) { return Tanh(x); }, a);
}

CountedLanes Sigmoid(const CountedLanes& a) {
  return CountedLanes::Computed(
      SigmoidLanes, [](const Counted& x) { return Sigmoid(x); }, a);
}

CountedLanes Erf(const CountedLanes& a) {
  return CountedLanes::Computed(
      ErfLanes, [](const Counted& x) { return Erf(x); }, a);
}

CountedLanes Erfc(const CountedLanes& a) {
  return CountedLanes::Computed(
      ErfcLanes, [](const Counted& x) { return Erfc(x); }, a);
}

CountedLanes Clamp(const CountedLanes& x, const CountedLanes& low, const CountedLanes& high) {
  CountedLanes y;
  const auto clamped = ClampLanes(x.numbers_, low.numbers_, high.numbers_, y.numbers_);
  y.formats_.Take(clamped.low, low.formats_);
  y.formats_.Take(clamped.high, high.formats_);
  const uint64_t right = clamped.right & ~(x.saturated_ | low.saturated_ | high.saturated_);
  ForEachLane(~right, [&](size_t lane) { y.Set(lane, Clamp(x[lane], low[lane], high[lane])); });
  return y;
}

}  // namespace sextant
