#include "oracle/attention/measured/factors.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <numeric>

#include "oracle/attention/measured/key_rules.h"
#include "oracle/attention/measured/keys_of_heads.h"
#include "oracle/attention/measured/operands.h"
#include "oracle/attention/measured/query_rules.h"
#include "oracle/attention/measured/rounded_weights.h"
#include "oracle/attention/measured/score_fit.h"
#include "oracle/attention/measured/sum_fit.h"
#include "oracle/diagnosis/evidence.h"
#include "oracle/diagnosis/fitted_number.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

std::string ListedHeads(const std::vector<size_t>& numbers) {
  std::string text;
  for (const size_t number : numbers) text += (text.empty() ? "" : " ") + std::to_string(number);
  return text;
}

// A factor by which something is often multiplied, if it is within the error bar.
NamedValue NamedFactor(const MeasuredNumber& measured) {
  for (const double often : {2.0, 0.5, -1.0, 4.0, 0.25, 3.0, 1.0 / 3, std::numbers::sqrt2,
                             std::numbers::ln2, std::numbers::log2e})
    if (measured.MayBe(often)) return {often, ShortText(often)};
  return NamedNumber(measured);
}

class Factors {
 public:
  Factors(const Observation& seen, const Hypothesis& base, const WithParts& with_parts,
          AskedWeights weights)
      : seen_(seen),
        with_parts_(with_parts),
        plain_(seen.c, base),
        n_(plain_.sizes()),
        weights_(std::move(weights)),
        model_(base) {}

  std::vector<Explanation> Run(const std::vector<NamedValue>& scales,
                               const std::vector<Deviation>& masks) {
    if (FindsLargestAlone()) {
      Say("weights_of_largest_key", "only the key with the largest score counts");
      parts_.largest_alone = true;
      return Result();
    }
    const auto fit = FitScores(plain_, seen_.c.dtype(), weights_);
    if (!fit) return {};
    SetHeads(*fit);
    SetKeys(*fit, masks);
    SetScores(*fit, scales);
    if (fit->tile > 0) {
      parts_.tile = fit->tile;
      Say("tiles_not_rescaled", "the weights of each tile of " + std::to_string(fit->tile) +
                                    " keys are relative to the largest score up to it: they are "
                                    "not rescaled");
    }
    if (fit->later > 0) {
      parts_.later = fit->later;
      Say("values_of_other_keys", "the weight of key t multiplies the value of key (t + " +
                                      std::to_string(fit->later) + ") mod " + std::to_string(n_.T));
    }
    SetSum(*fit);
    return Result();
  }

  // Weights that are rounded, scores that depend on the query or on the key, with all else as it
  // should be.
  std::vector<Explanation> By(decltype(&QueryRuleOf) rule_of) {
    const auto rule = rule_of(plain_, weights_, seen_.c.dtype());
    if (!rule) return {};
    rule->set(parts_);
    Say(rule->name, rule->text);
    return Result();
  }

 private:
  void Say(const std::string& name, const std::string& text) {
    name_ += (name_.empty() ? "" : "+") + name;
    text_ += (text_.empty() ? "" : "; and ") + text;
  }
  std::vector<Explanation> Result() {
    if (name_.empty()) return {};
    const auto edit = [&](MeasuredParts& parts) { parts = parts_; };
    return {{name_, text_, {with_parts_(*model_.operation, edit), model_.inputs, model_.recipe}}};
  }

  // Every row has one weight, that of the largest right score, and some row sees several keys.
  bool FindsLargestAlone() const {
    bool sees_several = false;
    for (size_t row = 0; row < n_.rows(); ++row) {
      const auto weights = weights_.RowOf(row);
      const auto count = std::ranges::count_if(weights, [](double w) { return w != 0; });
      if (count == 0) continue;
      const auto scores = plain_.ScoresOf(row, plain_.KeyHeadOf(row / n_.S % n_.H));
      size_t largest = n_.T, visible = 0;
      for (size_t t = 0; t < n_.T; ++t) {
        if (plain_.CountOf(row, t) == 0) continue;
        ++visible;
        if (largest == n_.T || scores[t] > scores[largest]) largest = t;
      }
      if (count != 1 || largest == n_.T || weights[largest] == 0) return false;
      sees_several |= visible > 1;
    }
    return sees_several;
  }

  void SetHeads(const ScoreFit& fit) {
    std::vector<size_t> own(n_.H), query, key, right;
    std::iota(own.begin(), own.end(), size_t{0});
    for (size_t h = 0; h < n_.H; ++h) {
      query.push_back(fit.heads[h].query);
      key.push_back(fit.heads[h].key);
      right.push_back(plain_.KeyHeadOf(h));
    }
    const std::vector<size_t> value = weights_.value_heads.empty() ? right : weights_.value_heads;
    if (query == own && key == right && value == right) return;
    parts_.inputs = std::make_shared<const Tensors>(seen_.inputs);
    parts_.query_heads = query;
    parts_.key_heads = key;
    parts_.value_heads = value;
    std::vector<size_t> of_query;  // the right key head of the query head
    for (const size_t h : query) of_query.push_back(plain_.KeyHeadOf(h));
    const std::string all = "0 to " + std::to_string(n_.H - 1);
    if (query != own)
      Say("heads_moved", "heads " + all + " of y are those of query heads " + ListedHeads(query));
    if (key == of_query && value == of_query) return;
    const char* of = key == value ? "" : key == of_query ? " of values" : " of keys";
    Say("heads_read", "query heads " + all + " read the heads" + of + " " +
                          ListedHeads(key == of_query ? value : key) + ", expected " +
                          ListedHeads(of_query));
    if (key != value && key != of_query && value != of_query)
      Say("heads_read", "and those of values " + ListedHeads(value));
  }

  void SetKeys(const ScoreFit& fit, const std::vector<Deviation>& masks) {
    const CountedKeys visible = VisibleIn(weights_, plain_, seen_.c.dtype(), {0, n_.H});
    const bool differs = visible.counts != visible.expected;
    const auto masked = differs ? MaskedScoreOf(plain_, weights_, fit) : std::nullopt;
    if (masked) {
      parts_.masked_score = masked->score;
      parts_.masked_adds = masked->adds;
      const std::string score = ShortText(masked->score);
      Say("mask_value", masked->adds
                            ? score +
                                  " is added to the scores of masked keys, expected "
                                  "-infinity"
                            : "masked keys have the score " + score + ", expected -infinity");
      return;
    }
    auto keys = KeysOfHeads(weights_, plain_, visible, model_, masks, seen_.c);
    if (!keys) keys = OtherKeysOf(visible, plain_, model_, masks, seen_.c);
    if (!keys) return;
    parts_.counts = keys->counts;
    Say(keys->sentence.name, keys->sentence.text);
  }

  void SetScores(const ScoreFit& fit, const std::vector<NamedValue>& scales) {
    if (fit.clips) {
      parts_.cap_clips = true;
      Say("soft_cap_clips", "the cap cuts scores off, instead of bending them by tanh");
    }
    if (std::ranges::all_of(fit.heads, &HeadFit::is_flat)) {
      parts_.score_factors.assign(n_.H, 0);
      Say("weights_equal", "all keys that a query sees have the same weight: their mean");
      return;
    }
    // Heads whose factors agree have one.
    double sum = 0, weight = 0, worst = 0;
    for (const HeadFit& head : fit.heads) {
      if (!(head.bar < kInfinity)) continue;
      sum += head.factor / (head.bar * head.bar), weight += 1 / (head.bar * head.bar);
    }
    if (!(weight > 0)) return;
    const double common = sum / weight;
    for (const HeadFit& head : fit.heads)
      if (head.bar < kInfinity) worst = std::max(worst, std::abs(head.factor - common) / head.bar);
    if (worst <= 1) {
      if (!IsRightFactor(common)) SetScale({common, 1 / std::sqrt(weight)}, scales);
    } else {
      SetScaleOfHeads(fit);
    }
  }
  // Rounding to bf16 may cause it.
  static bool IsRightFactor(double factor) {
    return std::abs(factor - 1) <= 2 * UnitRoundoffOf(DType::kBF16);
  }
  void SetScale(const MeasuredNumber& factor, const std::vector<NamedValue>& scales) {
    const double right = plain_.scale();
    const MeasuredNumber scale{factor.value * right, std::abs(factor.bar * right)};
    NamedValue named = NamedNumber(scale);
    for (const NamedValue& likely : scales) {
      if (!scale.MayBe(likely.value)) continue;
      named = {likely.value, likely.text.empty() ? ShortText(likely.value) : likely.text};
      break;
    }
    const auto changed = WithAttributes(model_, {{"scale", PrintValue(named.value)}});
    if (!changed) return;
    model_ = *changed;
    Say("scale_changed",
        "scores are multiplied by " + named.text + ", expected " + PrintValue(right));
  }
  // The factors of some heads beside right ones.
  void SetScaleOfHeads(const ScoreFit& fit) {
    std::string text;
    for (size_t h = 0; h < n_.H; ++h) {
      const auto& [query, key, factor, bar, left, is_flat] = fit.heads[h];
      parts_.score_factors.push_back(1);
      if (!(bar < kInfinity) || IsRightFactor(factor) || std::abs(factor - 1) <= bar) continue;
      const NamedValue named = NamedFactor({factor, bar});
      parts_.score_factors.back() = named.value;
      text += (text.empty() ? "" : ", ") + std::to_string(h) + " by " + named.text;
    }
    if (text.empty())
      parts_.score_factors.clear();
    else
      Say("scale_of_heads", "scores of some heads are multiplied in addition: head " + text);
  }

  void SetSum(const ScoreFit& fit) {
    MeasuredParts& parts = parts_;
    const auto found = FitSum(plain_, seen_.c.dtype(), weights_, fit, parts);
    if (!found) return;
    Say(found->name, found->text);
    if (found->sinks.empty()) return;
    Tensors inputs = model_.inputs;
    InputNamed(inputs, "sink").data = found->sinks;
    model_.inputs = std::move(inputs);
  }

  const Observation& seen_;
  const WithParts& with_parts_;
  const PlainAttention plain_;
  const AttentionSizes n_;
  AskedWeights weights_;
  Hypothesis model_;
  MeasuredParts parts_;
  std::string name_, text_;
};

}  // namespace

std::vector<Explanation> MeasureFactors(const Observation& seen, const Hypothesis& base,
                                        const WithParts& with_parts, const KnownDeviations& known) {
  const auto weights = AskWeights(seen);
  if (!weights) return {};
  Evidence evidence(seen);
  const auto explaining = [&](const Hypothesis& model) {
    const auto fails = [&](const Explanation& one) { return !evidence.FitOf(one.model).explains; };
    auto found = Factors(seen, model, with_parts, *weights).Run(known.scales, known.masks);
    std::erase_if(found, fails);
    for (const auto& rule_of : {RoundedWeightsOf, QueryRuleOf, KeyRuleOf}) {
      if (!found.empty()) return found;
      found = Factors(seen, model, with_parts, *weights).By(rule_of);
      std::erase_if(found, fails);
    }
    return found;
  };
  std::vector<Explanation> all = explaining(base);
  if (!all.empty()) return all;
  for (const Explanation& other : OtherOperands(seen.c, base, *weights, known.operands)) {
    if (evidence.FitOf(other.model).explains) all.push_back(other);
    for (const auto& [name, sentence, model] : explaining(other.model))
      all.push_back({other.name + "+" + name, other.sentence + "; and " + sentence, model});
  }
  return all;
}

}  // namespace sextant::oracle
