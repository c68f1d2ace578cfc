#include "oracle/rope/measured/rest.h"

#include <algorithm>
#include <cmath>

#include "oracle/diagnosis/vocabulary/axis_orders.h"
#include "oracle/rope/measured/numbers.h"

namespace sextant::oracle {
namespace {

bool IsCopyOf(const RotaryRows& rows, size_t to, size_t from) {
  for (size_t row = 0; row < rows.x.size(); row += rows.width)
    if (!SameNumber(rows.y[row + to], rows.x[row + from])) return false;
  return true;
}

// The factors by which a channel is multiplied.
LongRange FactorOf(const RotaryRows& rows, size_t channel, RotationErrors& errors) {
  LongRange common;
  for (size_t i = channel; i < rows.x.size(); i += rows.width) {
    const long double x = rows.x[i], y = rows.y[i];
    if (x == 0 || !std::isfinite(rows.x[i])) continue;
    const double error = errors.Of(std::max(std::abs(rows.x[i]), std::abs(rows.y[i])));
    common.Intersect(Quotient({y - error, y + error}, x));
  }
  return common;
}

// Channel i of the n outside has channel from(i) of them, for all i.
std::optional<OtherRestChannels> InOtherOrder(const std::vector<size_t>& outside,
                                              const RotaryRows& rows) {
  const size_t n = outside.size();
  const auto all_are = [&](auto from) {
    for (size_t i = 0; i < n; ++i)
      if (!IsCopyOf(rows, outside[i], from(i))) return false;
    return true;
  };
  const auto made = [&](std::string sentence, auto from) {
    OtherRestChannels rest{"rest_in_other_order", std::move(sentence), {}};
    for (size_t i = 0; i < n; ++i) rest.channels.push_back({outside[i], from(i), 1});
    return rest;
  };
  for (const AxisOrder& order : OrdersOf(n, OrdersFor::kFew)) {
    const auto other = [&](size_t i) { return outside[order.from(i)]; };
    if (all_are(other))
      return made("the channels outside the rotated ones are in another order: " + order.text,
                  other);
  }
  for (size_t other = 0; other + n <= rows.width; ++other) {
    const auto shifted = [&](size_t i) { return other + i; };
    if (other != outside[0] && all_are(shifted))
      return made(Phrase("the channels outside the rotated ones have x of channels ", other, " to ",
                         other + n - 1),
                  shifted);
  }
  return std::nullopt;
}

}  // namespace

std::optional<OtherRestChannels> OtherRest(const std::vector<PairOfChannels>& written,
                                           const RotaryRows& rows, RotationErrors& errors) {
  std::vector<bool> used(rows.width);
  for (const PairOfChannels& pair : written) used[pair.first] = used[pair.second] = true;
  std::vector<size_t> outside;
  for (size_t c = 0; c < rows.width; ++c)
    if (!used[c]) outside.push_back(c);
  if (outside.empty() || rows.x.empty()) return std::nullopt;
  LongRange factors;
  for (const size_t c : outside) factors.Intersect(FactorOf(rows, c, errors));
  if (factors.IsEmpty()) return InOtherOrder(outside, rows);
  if (factors.Contains(1) || std::isinf(factors.high - factors.low)) return std::nullopt;
  const double factor = SimplestRatioIn(factors);
  OtherRestChannels rest{
      factor == 0 ? "rest_zeroed" : "rest_multiplied",
      factor == 0 ? std::string("the channels outside the rotated ones are 0")
                  : Phrase("the channels outside the rotated ones are multiplied by ", factor),
      {}};
  for (const size_t c : outside) rest.channels.push_back({c, c, factor});
  return rest;
}

}  // namespace sextant::oracle
