#include "oracle/diagnosis/answer/applied_function.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "oracle/diagnosis/evidence.h"
#include "reference/base/value_text.h"

namespace sextant::oracle {
namespace {

double Sigmoid(double y) { return 1 / (1 + std::exp(-y)); }

struct Applied {
  const char* text;
  double (*of)(double y);
};
constexpr Applied kFunctions[] = {
    {"is 0 where it should be negative: max(y, 0), a relu",
     [](double y) { return std::max(y, 0.0); }},
    {"has lost its sign: |y|, the absolute value", [](double y) { return std::abs(y); }},
    {"is 0 where it should be positive: min(y, 0)", [](double y) { return std::min(y, 0.0); }},
    {"has gone through the function y s(y), silu", [](double y) { return y * Sigmoid(y); }},
    {"has gone through the function gelu",
     [](double y) { return y * std::erfc(-y / std::numbers::sqrt2) / 2; }},
    {"has gone through the function tanh", [](double y) { return std::tanh(y); }},
    {"has gone through the function 1 / (1 + e^-y), sigmoid", Sigmoid},
    {"is the square of the right number", [](double y) { return y * y; }},
    {"is the square root of the right number", [](double y) { return std::sqrt(y); }},
    {"is the reciprocal of the right number", [](double y) { return 1 / y; }},
    {"is e^y of the right number y", [](double y) { return std::exp(y); }},
    {"is ln(y) of the right number y", [](double y) { return std::log(y); }},
    {"is rounded to whole numbers", [](double y) { return std::nearbyint(y); }}};

constexpr size_t kFunctionChoices = 20;  // at least as many as functions and limits

// f(right number) of an element, and how far the answer may be off: the number that the function
// got may be off by its bound at either side, and each of kRoundings numbers may be rounded to the
// dtype. silu has the most: e^-y, its sum with 1, the quotient, and y.
constexpr double kRoundings = 4;
struct Expected {
  double value, bound;
};
template <class Function>
Expected ExpectedAt(const AnsweredTensor& tensor, size_t flat, const Function& f) {
  const double y = tensor.right[flat], bound = tensor.bounds[flat], expected = f(y);
  if (std::isinf(bound)) return {expected, bound};
  // At the edge of where f has values it changes as much on the other side.
  const double before = std::abs(f(y - bound) - expected),
               after = std::abs(f(y + bound) - expected);
  const double change = std::isnan(before)  ? after
                        : std::isnan(after) ? before
                                            : std::max(before, after);
  const double rounding = expected == 0 ? 0 : kRoundings * UlpOf(tensor.dtype, expected);
  return {expected, change + rounding};
}

// True if every element is f(right number), and f changes enough of those that fail by more than
// they may be off: else it is not the function that makes them fail.
template <class Function>
bool IsFunction(const AnsweredTensor& tensor, const Function& f) {
  for (size_t i = 0; i < tensor.got.size(); ++i) {
    const Expected expected = ExpectedAt(tensor, i, f);
    const bool has_value = !std::isnan(expected.value) && !std::isnan(expected.bound);
    if (!has_value && !tensor.bounds.LeavesOut(i)) return false;
    if (!tensor.IsNear(i, expected.value, expected.bound)) return false;
  }
  const auto changed = std::ranges::count_if(tensor.failing, [&](size_t flat) {
    const Expected expected = ExpectedAt(tensor, flat, f);
    return !(std::abs(expected.value - tensor.right[flat]) <= expected.bound);
  });
  return IsEvidence(static_cast<size_t>(changed), kFunctionChoices);
}

// The number that all failing elements on one side of it are; the right ones are beyond it.
std::optional<std::string> LimitOf(const AnsweredTensor& tensor) {
  double low = -kInfinity, high = kInfinity;
  for (const size_t flat : tensor.failing) {
    const double y = tensor.got[flat];
    (y < tensor.right[flat] ? high : low) = y;
  }
  if (std::isnan(low) || std::isnan(high) || low > high) return std::nullopt;
  if (!IsFunction(tensor, [=](double y) { return std::clamp(y, low, high); })) return std::nullopt;
  std::string text;
  if (low > -kInfinity) text += " at least " + PrintValue(low);
  if (high < kInfinity) text += (text.empty() ? "" : " and") + (" at most " + PrintValue(high));
  return "is limited (clamped):" + text;
}

}  // namespace

std::optional<std::string> FindApplied(const AnsweredTensor& tensor) {
  if (!IsEvidence(tensor.failing.size(), kFunctionChoices)) return std::nullopt;
  for (const auto& [what, f] : kFunctions)
    if (IsFunction(tensor, f)) return tensor.name + " " + what;
  if (const auto limit = LimitOf(tensor)) return tensor.name + " " + *limit;
  return std::nullopt;
}

}  // namespace sextant::oracle
