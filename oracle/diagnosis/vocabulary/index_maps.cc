#include "oracle/diagnosis/vocabulary/index_maps.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "oracle/diagnosis/vocabulary/few_bits.h"
#include "reference/base/value_text.h"

namespace sextant::oracle {
namespace {

using Numbers = std::vector<double>;
using Seen = std::vector<ActingIndex>;

// Without repetitions.
void Append(Numbers& numbers, std::initializer_list<double> more) {
  for (const double x : more)
    if (std::ranges::find(numbers, x) == numbers.end()) numbers.push_back(x);
}

Numbers Shifts(const Numbers& indices) {
  Numbers shifts;
  for (double near = 1; near <= 16; ++near) Append(shifts, {near, -near});
  for (double power = 32; power <= 65536; power *= 2) Append(shifts, {power, -power});
  if (!indices.empty()) Append(shifts, {-indices.front()});
  return shifts;
}

Numbers Limits(const Numbers&) {
  Numbers limits;
  for (const double power : {32768, 65536, 4096, 2048, 8192, 1024, 512, 131072, 16384})
    Append(limits, {power, power - 1});
  for (double power = 2; power <= 1048576; power *= 2) Append(limits, {power, power - 1});
  for (double power = 10; power <= 1000000; power *= 10)
    Append(limits, {power, power - 1, 2 * power, 5 * power});
  return limits;
}
Numbers LimitsAndIndices(const Numbers& indices) {
  Numbers limits = Limits(indices);
  Append(limits, {0.0, 1.0});
  for (const double index : indices) Append(limits, {index});
  return limits;
}

Numbers Blocks(const Numbers&) {
  Numbers blocks;
  for (double power = 2; power <= 65536; power *= 2) Append(blocks, {power});
  for (double n = 3; n < 64; ++n) Append(blocks, {n});
  for (double power = 100; power <= 100000; power *= 10) Append(blocks, {power});
  return blocks;
}

Numbers Factors(const Numbers&) { return {-1, 2, 3, 4, 8, 16}; }
Numbers Bits(const Numbers&) {
  Numbers bits = {8, 11, 24, 4, 5, 6, 7, 9, 10};  // 8: bf16, 11: f16
  for (double n = 1; n < 24; ++n) Append(bits, {n});
  return bits;
}

Numbers Difference(const Seen& wrong) { return {wrong[0].as - wrong[0].right}; }
Numbers Sum(const Seen& wrong) { return {wrong[0].as + wrong[0].right}; }
Numbers Target(const Seen& wrong) { return {wrong[0].as}; }
// Divisors of all differences, the largest first, from 2 on.
Numbers Moduli(const Seen& wrong) {
  constexpr int64_t kMostTurns = 64;
  int64_t common = 0;
  for (const auto& [right, as] : wrong) common = std::gcd(common, static_cast<int64_t>(right - as));
  Numbers moduli;
  for (int64_t turns = 1; turns <= kMostTurns && turns < common; ++turns)
    if (common % turns == 0) moduli.push_back(static_cast<double>(common / turns));
  return moduli;
}

// All by which the quotients, rounded down, are the seen ones, powers of two first; if they are
// many or without an end, the least.
Numbers Divisors(const Seen& wrong) {
  constexpr double kMany = 64;
  double least = 2, most = std::numeric_limits<double>::infinity();
  for (const auto& [right, as] : wrong) {
    if (right < 0 || as < 0) return {};
    least = std::max(least, std::floor(right / (as + 1)) + 1);
    if (as > 0) most = std::min(most, std::floor(right / as));
  }
  if (most - least > kMany) return {least};
  Numbers divisors;
  for (double n = least; n <= most; ++n) divisors.push_back(n);
  std::ranges::stable_partition(divisors, [](double n) { return std::exp2(std::ilogb(n)) == n; });
  return divisors;
}

FewBits BitsOf(double n) { return {static_cast<int>(n)}; }

}  // namespace

const IndexMap kShifted{"shifted", "@ have # added", [](double i, double n) { return i + n; },
                        Shifts, Difference};
const IndexMap kClamped{"clamped", "@ above # act as #",
                        [](double i, double n) { return std::min(i, n); }, LimitsAndIndices,
                        Target};
const IndexMap kClampedBelow{"clamped_below", "@ below # act as #",
                             [](double i, double n) { return std::max(i, n); }, LimitsAndIndices,
                             Target};
const IndexMap kClampedBeyond{"clamped_beyond", "@ beyond # act as #",
                              [](double i, double n) { return std::clamp(i, -n, n); }};
const IndexMap kConstant{"constant", "all @ act as #", [](double, double n) { return n; }, nullptr,
                         Target};
const IndexMap kSubtracted{"subtracted", "@ are subtracted from #",
                           [](double i, double n) { return n - i; }, nullptr, Sum};
const IndexMap kWrapped{"wrapped", "@ are taken modulo #",
                        [](double i, double n) { return i - n * std::floor(i / n); }, Limits,
                        Moduli};
const IndexMap kDivided{"divided", "@ are divided by #, rounded down",
                        [](double i, double n) { return std::floor(i / n); }, Blocks, Divisors};
const IndexMap kMultiplied{"multiplied", "@ are multiplied by #",
                           [](double i, double n) { return i * n; }, Factors};
const IndexMap kRounded{"rounded", "@ are rounded to multiples of #",
                        [](double i, double n) { return n * std::nearbyint(i / n); }, Blocks};
const IndexMap kRoundedDown{"rounded_down", "@ are rounded down to multiples of #",
                            [](double i, double n) { return n * std::floor(i / n); }, Blocks};
const IndexMap kRoundedUp{"rounded_up", "@ are rounded up to multiples of #",
                          [](double i, double n) { return n * std::ceil(i / n); }, Blocks};
const IndexMap kRoundedToBits{"rounded_to_bits",
                              "@ are rounded to # significant bits (8: bf16, 11: f16)",
                              [](double i, double n) { return BitsOf(n).Nearest(i); }, Bits};
const IndexMap kCutToBits{"cut_to_bits", "@ are cut to # significant bits",
                          [](double i, double n) { return BitsOf(n).TowardZero(i); }, Bits};

std::string IndexMap::Sentence(const std::string& indices, double number) const {
  std::string text = sentence;
  const auto replace = [&](char place, const std::string& by) {
    for (size_t at = 0; (at = text.find(place, at)) != std::string::npos; at += by.size())
      text.replace(at, 1, by);
  };
  replace('#', PrintValue(number));
  replace('@', indices);
  return text;
}

}  // namespace sextant::oracle
