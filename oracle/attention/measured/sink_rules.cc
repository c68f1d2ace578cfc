#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "oracle/attention/measured/weight_sums.h"

namespace sextant::oracle {
namespace {

using Rule = MeasuredParts::SinkRule;

SumRule SinkRuleOf(const WeightSums& sums, SumFit fit, const WeightSums::Other& term,
                   std::function<void(MeasuredParts&)> set) {
  return {.fit = std::move(fit), .distance = sums.Distance(term), .set = std::move(set)};
}

// The sink is compared with other numbers than the scores are.
void AddOtherLargest(const WeightSums& sums, std::vector<SumRule>& rules) {
  const auto set = [](Rule rule) {
    return [rule](MeasuredParts& parts) { parts.sink_rule = rule; };
  };
  rules.push_back(SinkRuleOf(
      sums,
      {"sink_not_shifted",
       "e^sink is added to the sum of e^(score - largest), expected e^(sink - largest)",
       {}},
      [&](const WeightSum& r) { return std::exp(sums.sinks()[r.head]); }, set(Rule::kFromLargest)));
  rules.push_back(SinkRuleOf(
      sums,
      {"sink_of_other_largest",
       "the sink is relative to the larger of the largest score and itself, the scores are "
       "relative to the largest score",
       {}},
      [&](const WeightSum& r) {
        const double sink = sums.sinks()[r.head];
        return std::exp(sink - std::max(r.largest, sink));
      },
      set(Rule::kFromLarger)));
  rules.push_back(SinkRuleOf(
      sums,
      {"sink_in_base_2",
       "the sink is compared with log2 of the sum of e^score instead of its natural logarithm",
       {}},
      [&](const WeightSum& r) {
        const double lse = r.largest + std::log(r.keys);
        return r.keys * std::exp(sums.sinks()[r.head] - lse / std::numbers::ln2);
      },
      set(Rule::kBase2)));
}

// The sink of another head, by the query.
void AddSinksOfQueries(const WeightSums& sums, std::vector<SumRule>& rules) {
  const AttentionSizes n = sums.sizes();
  const std::vector<double>& sinks = sums.sinks();
  struct Index {
    const char* text;
    std::function<size_t(size_t h, size_t s)> of;
  };
  const std::vector<Index> indices = {
      {"s mod H", [H = n.H](size_t, size_t s) { return s % H; }},
      {"(h S + s) mod H", [n](size_t h, size_t s) { return (h * n.S + s) % n.H; }},
      {"(h + s) mod H", [n](size_t h, size_t s) { return (h + s) % n.H; }},
      {"(h S + s) / H", [n](size_t h, size_t s) { return (h * n.S + s) / n.H % n.H; }}};
  for (const auto& [text, of] : indices) {
    rules.push_back(SinkRuleOf(
        sums,
        {"sink_of_other_head", std::string("query s of head h has the sink of head ") + text, {}},
        [&, of = of](const WeightSum& r) {
          return std::exp(sinks[of(r.head, r.row % n.S)] - r.largest);
        },
        [of = of, sinks](MeasuredParts& parts) {
          parts.sinks = [of, sinks](size_t, size_t h, size_t s) { return sinks[of(h, s)]; };
        }));
  }
}

// The head whose sink is the most like the other terms of each head; its own if none is.
std::vector<size_t> SinksRead(const WeightSums& sums) {
  const std::vector<double>& right = sums.sinks();
  std::vector<size_t> read;
  for (size_t h = 0; h < right.size(); ++h) {
    const auto distance = [&](size_t g) {
      return sums.DistanceOfHead(
          h, [&](const WeightSum& r) { return std::exp(right[g] - r.largest); });
    };
    size_t best = h;
    for (size_t g = 0; g < right.size(); ++g)
      if (distance(g) < distance(best)) best = g;
    read.push_back(best);
  }
  return read;
}

std::string SinksText(const std::vector<size_t>& read) {
  std::string text = "heads 0 to " + std::to_string(read.size() - 1) + " have the sinks of heads";
  for (const size_t head : read) text += " " + std::to_string(head);
  return text;
}

using SinkOf = std::function<double(size_t h)>;
SumRule SinkRuleOf(const WeightSums& sums, const std::string& name, const std::string& text,
                   const SinkOf& sink_of) {
  SumRule rule;
  rule.fit = {name, text, {}};
  for (size_t h = 0; h < sums.sinks().size(); ++h) rule.fit.sinks.push_back(sink_of(h));
  rule.distance = sums.Distance(
      [&](const WeightSum& r) { return std::exp(rule.fit.sinks[r.head] - r.largest); });
  return rule;
}

std::vector<SumRule> SinksOfOtherHeads(const WeightSums& sums) {
  const std::vector<double>& right = sums.sinks();
  const size_t H = right.size();
  std::vector<SumRule> rules;
  const auto add = [&](const std::string& text, const std::function<size_t(size_t h)>& head_of) {
    rules.push_back(
        SinkRuleOf(sums, "sink_of_other_head", text, [&](size_t h) { return right[head_of(h)]; }));
  };
  for (size_t shift = 1; shift < H; ++shift) {
    add("head h has the sink of head (h + " + std::to_string(shift) + ") mod " + std::to_string(H),
        [&](size_t h) { return (h + shift) % H; });
  }
  add("head h has the sink of head H - 1 - h", [&](size_t h) { return H - 1 - h; });
  for (size_t one = 0; one < H; ++one)
    add("every head has the sink of head " + std::to_string(one), [&](size_t) { return one; });
  const std::vector<size_t> read = SinksRead(sums);
  add(SinksText(read), [&](size_t h) { return read[h]; });
  return rules;
}

}  // namespace

std::vector<SumRule> RulesOfSinks(const WeightSums& sums) {
  const std::vector<double>& right = sums.sinks();
  std::vector<SumRule> rules;
  AddOtherLargest(sums, rules);
  AddSinksOfQueries(sums, rules);
  const auto add = [&](const std::string& name, const std::string& text, const SinkOf& sink_of) {
    rules.push_back(SinkRuleOf(sums, name, text, sink_of));
  };
  add("sink_missing", "the sink is not in the sum", [](size_t) { return -kInfinity; });
  add("sink_of_zero", "every sink is 0", [](size_t) { return 0.0; });
  for (const double factor : {-1.0, 2.0, 0.5})
    add("sink_multiplied", "the sink is multiplied by " + ShortText(factor),
        [&](size_t h) { return factor * right[h]; });
  for (SumRule& rule : SinksOfOtherHeads(sums)) rules.push_back(std::move(rule));
  double factor = 0;
  const std::string text = NumberOf(sums.FactorOfSinks(), factor);
  if (std::isfinite(factor))
    add("sink_multiplied", "the sink is multiplied by " + text,
        [&](size_t h) { return factor * right[h]; });
  double count = 0;
  MeasuredNumber measured = sums.Count([](const WeightSum& r) { return r.sink; });
  measured.value += 1;
  const std::string number = NumberOf(measured, count);
  if (count > 0)
    add("sink_repeated", "the sink counts " + number + " times",
        [&](size_t h) { return right[h] + std::log(count); });
  return rules;
}

}  // namespace sextant::oracle
