#include "oracle/layer/measured/altered_function.h"

#include <algorithm>
#include <cmath>

#include "oracle/layer/measured/shared_range.h"

namespace sextant::oracle {
namespace {

using AlterationKind = Alteration::Kind;

using Fact = NamedAlteration;  // # is the number, or the limits
constexpr Fact kWithoutNumber[] = {
    {AlterationKind::kSquared, false, "value_squared", "the value of the function is squared"},
    {AlterationKind::kTimesArgument, false, "value_times_x",
     "the value of the function is multiplied by x"},
    {AlterationKind::kGateSquared, true, "gate_squared",
     "the factor of x in the function is squared"},
    {AlterationKind::kOfAbsolute, false, "argument_absolute", "the function is taken at |x|"},
    {AlterationKind::kOdd, false, "odd", "the function is taken at |x|, and has the sign of x"},
    {AlterationKind::kTwice, false, "function_twice", "the function is applied twice"},
    {AlterationKind::kAbsolute, false, "value_absolute", "the function has its absolute value"}};
constexpr Fact kBelow[] = {
    {AlterationKind::kZeroBelow, false, "zero_below", "the function is 0 where x < #"},
    {AlterationKind::kSameBelow, false, "same_below", "the function is x where x < #"}};
constexpr Fact kAbove[] = {
    {AlterationKind::kZeroAbove, false, "zero_above", "the function is 0 where x > #"},
    {AlterationKind::kSameAbove, false, "same_above", "the function is x where x > #"}};
constexpr Fact kAdded[] = {
    {AlterationKind::kArgumentAdded, false, "argument_offset", "the function is taken at x + #"},
    {AlterationKind::kGateArgumentAdded, true, "gate_argument_offset",
     "x is multiplied by the factor of x + # instead of x"}};
constexpr Fact kLimited[] = {
    {AlterationKind::kLimited, false, "value_limited", "the value of the function is limited to #"},
    {AlterationKind::kGateLimited, true, "gate_limited",
     "the factor of x in the function is limited to #"}};

std::string WithNumber(std::string sentence, const std::string& number) {
  return sentence.replace(sentence.find('#'), 1, number);
}

class AlterationFitter {
 public:
  AlterationFitter(const std::vector<Pair>& pairs, const Function& right)
      : pairs_(pairs), right_(right) {}

  std::vector<FunctionFit> All() {
    const bool is_gated = curves::IsGated(right_.curve);
    for (const Fact& fact : AlterationsWithoutNumber(right_.curve))
      Try({fact.kind}, fact.name, fact.sentence, {});
    for (const Fact& fact : kBelow) TryEnd(fact, false);
    for (const Fact& fact : kAbove) TryEnd(fact, true);
    TrySaturated();
    for (const Fact& fact : kAdded)
      if (!fact.of_gate || is_gated) TryAdded(fact);
    for (const Fact& fact : kLimited)
      if (!fact.of_gate || is_gated) TryLimited(fact);
    return std::move(fits_);
  }

 private:
  Function With(const Alteration& alteration) const {
    Function f = right_;
    f.alteration = alteration;
    return f;
  }

  void Try(const Alteration& alteration, const std::string& name, const std::string& sentence,
           const std::vector<Constant>& measured) {
    const Function f = With(alteration);
    if (!std::ranges::all_of(pairs_, [&](const Pair& pair) { return Fits(f, pair); })) return;
    FunctionFit fit{f, {}};
    for (const Constant& constant : measured) fit.deviations.Count(constant);
    fit.deviations.Add(name, sentence);
    fits_.push_back(fit);
  }

  // From which x on, or up to which, nothing fits: that number is between two arguments.
  void TryEnd(const Fact& fact, bool is_above) {
    const double sign = is_above ? -1 : 1;
    double last = -kInfinity, next = kInfinity;  // that does not fit, and that fits, times the sign
    for (const Pair& pair : pairs_)
      if (!Fits(right_, pair)) last = std::max(last, sign * pair.x);
    for (const Pair& pair : pairs_)
      if (sign * pair.x > last) next = std::min(next, sign * pair.x);
    if (std::isinf(next) || std::isinf(last)) return;
    const Constant end =
        ConstantsIn({sign * (is_above ? next : last), sign * (is_above ? last : next)}, {}).front();
    Try({fact.kind, end.value}, fact.name, WithNumber(fact.sentence, end.text), {end});
  }

  // 0 below a number, and x above its opposite, from the arguments that are nearest to 0 and do not
  // fit.
  void TrySaturated() {
    double nearest = kInfinity, before = 0;
    for (const Pair& pair : pairs_)
      if (!Fits(right_, pair)) nearest = std::min(nearest, std::abs(pair.x));
    for (const Pair& pair : pairs_)
      if (std::abs(pair.x) < nearest) before = std::max(before, std::abs(pair.x));
    if (std::isinf(nearest)) return;
    const Constant end = ConstantsIn({before, nearest}, {}).front();
    Try({AlterationKind::kSaturated, -end.value, end.value}, "saturated",
        "the function is 0 where x < -" + end.text + " and x where x > " + end.text, {end});
  }

  // The functions are monotone on most parts of that size; where one is not, nothing is found. The
  // parts overlap, so that a number is not at an end.
  void TryAdded(const Fact& fact) {
    constexpr double kMost = 4, kPart = 0.125;
    constexpr int kCoarse = 6, kFine = 60;
    for (double low = -kMost; low < kMost; low += kPart / 2) {
      const Range part{low, low + kPart};
      const auto shared = [&](int halvings) {
        Range all = part;
        for (const Pair& pair : pairs_) {
          const auto at = [&](double added) {
            return pair.weight * ValueOf(With({fact.kind, added}), pair.x, pair.x);
          };
          all.Intersect(Solutions(at, part, pair.y, pair.error, halvings));
          if (all.IsEmpty()) break;
        }
        return all;
      };
      if (shared(kCoarse).IsEmpty()) continue;
      const Range range = shared(kFine);
      const bool is_at_end =
          range.Middle() < low + kPart / 4 || range.Middle() >= low + kPart * 3 / 4;
      if (range.IsEmpty() || range.Contains(0) || is_at_end) continue;
      const Constant added = ConstantsIn(range, {}).front();
      Try({fact.kind, added.value}, fact.name, WithNumber(fact.sentence, added.text), {added});
    }
  }

  // The limits that the pairs share whose values are too small, or too large.
  void TryLimited(const Fact& fact) {
    Range least, most;
    bool has_least = false, has_most = false;
    for (const Pair& pair : pairs_) {
      if (Fits(right_, pair)) continue;
      const bool of_gate = fact.of_gate;
      const Range number = Quotient(pair.y, pair.error, pair.weight * (of_gate ? pair.x : 1));
      const double expected = of_gate ? curves::GateAt(right_.curve, right_.c, pair.x, pair.x)
                                      : curves::ValueAt(right_.curve, right_.c, pair.x, pair.x);
      const bool is_more = number.Middle() > expected;
      (is_more ? least : most).Intersect(number);
      (is_more ? has_least : has_most) = true;
    }
    if (least.IsEmpty() || most.IsEmpty() || !(has_least || has_most)) return;
    Alteration alteration{fact.kind};
    std::vector<Constant> measured;
    std::string text;
    if (has_least) {
      measured.push_back(ConstantsIn(least, {}).front());
      alteration.low = measured.back().value;
      text = "at least " + measured.back().text;
    }
    if (has_most) {
      measured.push_back(ConstantsIn(most, {}).front());
      alteration.high = measured.back().value;
      text += (has_least ? " and at most " : "at most ") + measured.back().text;
    }
    Try(alteration, fact.name, WithNumber(fact.sentence, text), measured);
  }

  const std::vector<Pair>& pairs_;
  const Function& right_;
  std::vector<FunctionFit> fits_;
};

}  // namespace

std::vector<NamedAlteration> AlterationsWithoutNumber(Curve right) {
  std::vector<NamedAlteration> all;
  for (const NamedAlteration& one : kWithoutNumber)
    if (!one.of_gate || curves::IsGated(right)) all.push_back(one);
  return all;
}

std::vector<FunctionFit> FitAlterations(const std::vector<Pair>& pairs, const Function& right) {
  return AlterationFitter(pairs, right).All();
}

}  // namespace sextant::oracle
