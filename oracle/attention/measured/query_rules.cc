#include "oracle/attention/measured/query_rules.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include "oracle/attention/measured/score_fit.h"
#include "oracle/attention/measured/score_sums.h"
#include "oracle/diagnosis/measured_number.h"
#include "oracle/position/measured/alibi_factors.h"
#include "reference/number/recipe/rounding_units.h"
#include "reference/position/alibi_slopes.h"

namespace sextant::oracle {
namespace {

// A part of the variance of log weights that a fit may leave; what it says is verified on the
// answer.
constexpr double kMostLeftByQueries = 1e-3;

class Rules {
 public:
  Rules(const PlainAttention& plain, const AskedWeights& weights, DType dtype)
      : plain_(plain), n_(plain.sizes()), weights_(weights), unit_(4 * UnitRoundoffOf(dtype)) {}

  std::optional<QueryRule> Run() const {
    if (auto rule = Distances()) return rule;
    return Factors();
  }

 private:
  std::vector<double> ScoresOf(size_t row) const {
    return plain_.ScoresOf(row, plain_.KeyHeadOf(row / n_.S % n_.H));
  }
  size_t RowOf(size_t query, size_t h) const {
    return (query / n_.S * n_.H + h) * n_.S + query % n_.S;
  }

  // The slope of head h: the logarithms of the weights, less the scores, over the keys.
  std::optional<MeasuredNumber> SlopeOf(size_t h) const {
    std::vector<double> keys(n_.T);
    std::iota(keys.begin(), keys.end(), 0.0);
    ScoreSums sums;
    for (size_t i = 0; i < n_.B * n_.S; ++i) {
      const size_t row = RowOf(i, h);
      const std::vector<double> scores = ScoresOf(row);
      std::vector<double> rest(weights_.RowOf(row).begin(), weights_.RowOf(row).end());
      for (size_t t = 0; t < n_.T; ++t) rest[t] /= std::exp(scores[t]);
      sums.AddKeys(rest, keys, ShownKeys(plain_, weights_, row), {0, n_.T});
    }
    if (!(sums.xx > 0) || !(sums.Left() <= kMostLeftByQueries)) return std::nullopt;
    return MeasuredNumber{sums.Slope(), sums.Bar(unit_)};
  }

  // The slopes of a formula that all heads have, and what is said of it.
  struct Slopes {
    std::string text;
    std::vector<double> of;
  };
  Slopes NameSlopes(const std::vector<MeasuredNumber>& measured) const {
    const auto agrees = [&](const std::vector<double>& slopes) {
      return std::ranges::equal(measured, slopes, [](const MeasuredNumber& one, double slope) {
        return one.MayBe(slope);
      });
    };
    const auto all = [&](const std::function<double(size_t h)>& of) {
      std::vector<double> slopes;
      for (size_t h = 0; h < n_.H; ++h) slopes.push_back(of(h));
      return slopes;
    };
    const std::string added = "an ALiBi bias is added to the scores: ";
    for (const SlopeFormula& formula : kSlopeFormulas) {
      const std::vector<double> slopes = all([&](size_t h) { return formula.At(h, n_.H); });
      if (agrees(slopes)) return {added + "-" + formula.Text() + " (i - j)", slopes};
    }
    const std::vector<double> alibi = all([&](size_t h) {
      const auto [numerator, denominator] =
          AlibiSlopes::ExponentOf(static_cast<int64_t>(h), static_cast<int64_t>(n_.H));
      return std::exp2(-AlibiSlopes().max_bias * static_cast<double>(numerator) /
                       static_cast<double>(denominator));
    });
    if (agrees(alibi)) return {added + "-m (i - j), with the slopes m of alibi_slopes", alibi};
    std::string listed;
    std::vector<double> slopes;
    for (const MeasuredNumber& one : measured) {
      slopes.push_back(ShortNumber(one).value_or(one.value));
      listed += (listed.empty() ? "" : ", ") + ShortText(slopes.back());
    }
    return {
        "a bias that is linear in the distance of query i and key j is added to the scores: "
        "-m (i - j), with the slopes m " +
            listed + " of the heads",
        slopes};
  }

  // A bias that is linear in the distance.
  std::optional<QueryRule> Distances() const {
    std::vector<MeasuredNumber> measured;
    for (size_t h = 0; h < n_.H; ++h) {
      const auto slope = SlopeOf(h);
      if (!slope) return std::nullopt;
      measured.push_back(*slope);
    }
    const auto [text, slopes] = NameSlopes(measured);
    return QueryRule{"bias_of_distance", text,
                     [slopes = slopes, op = plain_.attributes()](MeasuredParts& parts) {
                       parts.added = [=](size_t b, size_t h, size_t s, size_t t) {
                         const int64_t place = op.FirstIndex(b) + static_cast<int64_t>(s);
                         return slopes[h] * static_cast<double>(static_cast<int64_t>(t) - place);
                       };
                     }};
  }

  // The scores of each query are multiplied by a number.
  std::optional<QueryRule> Factors() const {
    if (!plain_.IsProportional()) return std::nullopt;
    std::vector<MeasuredNumber> of_query(n_.B * n_.S, {1, kInfinity});
    for (size_t i = 0; i < n_.B * n_.S; ++i) {
      ScoreSums sums;
      for (size_t h = 0; h < n_.H; ++h) {
        const size_t row = RowOf(i, h);
        sums.AddKeys(weights_.RowOf(row), ScoresOf(row), ShownKeys(plain_, weights_, row),
                     {0, n_.T});
      }
      if (sums.count < 2 || !(sums.xx > 0)) continue;
      if (!(sums.Left() <= kMostLeftByQueries)) return std::nullopt;
      of_query[i] = {sums.Slope(), sums.Bar(unit_)};
    }
    return NameOf(of_query);
  }

  int64_t PlaceOf(size_t i) const {
    return plain_.attributes().FirstIndex(i / n_.S) + static_cast<int64_t>(i % n_.S);
  }
  QueryRule RuleOf(const std::string& text, const std::vector<double>& factors) const {
    const auto shared = std::make_shared<const std::vector<double>>(factors);
    return {"scale_of_queries", text, [shared, S = n_.S](MeasuredParts& parts) {
              parts.factors = [shared, S](size_t b, size_t, size_t s, size_t) {
                return (*shared)[b * S + s];
              };
            }};
  }
  std::optional<QueryRule> NameOf(const std::vector<MeasuredNumber>& measured) const {
    if (auto logarithm = Logarithm(measured)) return logarithm;
    return Listed(measured);
  }
  // ln(i + 1) / ln(n), where the last query says n.
  std::optional<QueryRule> Logarithm(const std::vector<MeasuredNumber>& measured) const {
    const auto says = [](const MeasuredNumber& one) { return std::isfinite(one.bar); };
    constexpr ptrdiff_t kFewest = 3;
    if (std::ranges::count_if(measured, says) < kFewest) return std::nullopt;
    size_t last = measured.size() - 1;
    while (!says(measured[last])) --last;
    if (!(measured[last].value > 0)) return std::nullopt;
    const double log_of_last = std::log(static_cast<double>(PlaceOf(last) + 1));
    const double base = std::round(std::exp(log_of_last / measured[last].value));
    for (const bool is_at_least_1 : {true, false}) {
      std::vector<double> factors;
      bool agrees = base > 1 && std::isfinite(base);
      for (size_t i = 0; i < measured.size(); ++i) {
        const double a = std::log(static_cast<double>(PlaceOf(i) + 1)) / std::log(base);
        factors.push_back(!says(measured[i]) ? 1 : is_at_least_1 ? std::max(1.0, a) : a);
        agrees &= !says(measured[i]) || measured[i].MayBe(factors[i]);
      }
      if (agrees)
        return RuleOf("scores are multiplied by ln(i + 1) / ln(" + ShortText(base) +
                          "), where i is the place of the query" +
                          (is_at_least_1 ? ", or by 1 if that is larger" : ""),
                      factors);
    }
    return std::nullopt;
  }
  std::optional<QueryRule> Listed(const std::vector<MeasuredNumber>& measured) const {
    constexpr size_t kShown = 4, kFewest = 3;
    std::string listed;
    std::vector<double> factors;
    size_t others = 0;
    for (size_t i = 0; i < measured.size(); ++i) {
      const bool is_right = measured[i].MayBe(1);
      factors.push_back(is_right ? 1 : ShortNumber(measured[i]).value_or(measured[i].value));
      if (is_right || ++others > kShown) continue;
      listed += (listed.empty() ? "" : ", ") + std::string("query ") + std::to_string(i % n_.S) +
                " by " + ShortestText(measured[i]);
    }
    if (others < kFewest) return std::nullopt;
    return RuleOf("scores are multiplied by a number of each query: " + listed + " ... (" +
                      std::to_string(others) + " of " + std::to_string(measured.size()) +
                      " queries)",
                  factors);
  }

  const PlainAttention& plain_;
  const AttentionSizes n_;
  const AskedWeights& weights_;
  const double unit_;
};

}  // namespace

std::optional<QueryRule> QueryRuleOf(const PlainAttention& plain, const AskedWeights& weights,
                                     DType dtype) {
  return Rules(plain, weights, dtype).Run();
}

}  // namespace sextant::oracle
