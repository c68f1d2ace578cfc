#include "oracle/layer/measured/unknown_function.h"

#include <algorithm>
#include <cmath>

#include "oracle/diagnosis/measured_number.h"

namespace sextant::oracle {
namespace {

// Neighbours that tell: a function may change by less between them than the values spread.
constexpr size_t kFewestPairs = 32;
constexpr double kNarrow = 1.0 / 8;
// Values that roundings to 16 bits, or common approximations, do not explain.
constexpr double kLarge = 1.0 / 16;

double SpreadOf(const std::vector<Pair>& pairs) {
  const auto value = [](const Pair& pair) { return ValueOf(pair); };
  const auto [least, largest] = std::ranges::minmax(pairs, {}, value);
  return ValueOf(largest) - ValueOf(least);
}

bool IsFunction(const std::vector<Pair>& pairs) {
  const double spread = SpreadOf(pairs);
  size_t telling = 0;
  for (size_t i = 1; i < pairs.size(); ++i) {
    const Pair &a = pairs[i - 1], &b = pairs[i];
    const double most = MostBetween(a, b);
    if (std::abs(ValueOf(b) - ValueOf(a)) > most) return false;
    telling += most <= kNarrow * spread;
  }
  return telling >= kFewestPairs;
}

std::string PairText(const Pair& pair, const Function& right) {
  return "at " + TwoDigits(pair.x) + " it is " + ShortText(ValueOf(pair)) + ", expected " +
         ShortText(ValueOf(right, pair.x, pair.x));
}

}  // namespace

std::optional<std::string> UnknownFunctionText(std::vector<Pair> pairs, const Function& right) {
  // Where the weight is small, the value is not known.
  std::erase_if(pairs, [](const Pair& pair) {
    return pair.weight == 0 || !std::isfinite(ValueOf(pair)) ||
           ErrorOf(pair) > kLarge * std::max(1.0, std::abs(ValueOf(pair)));
  });
  std::ranges::sort(pairs, {}, &Pair::x);
  if (pairs.size() < kFewestPairs || !IsFunction(pairs)) return std::nullopt;
  const double least = kLarge * SpreadOf(pairs);
  std::erase_if(pairs, [&](const Pair& pair) {
    return std::abs(ValueOf(pair) - ValueOf(right, pair.x, pair.x)) <= least;
  });
  if (pairs.empty()) return std::nullopt;
  std::string text = "y is a function of x, but none of the known ones: " +
                     PairText(pairs[pairs.size() / 4], right);
  if (pairs.size() > 1) text += "; " + PairText(pairs[pairs.size() * 3 / 4], right);
  return text;
}

}  // namespace sextant::oracle
