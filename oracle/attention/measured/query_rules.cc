#include "oracle/attention/measured/query_rules.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "oracle/diagnosis/fitted_number.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

// A part of the variance of log weights that a fit may leave; what it says is verified on the
// answer.
constexpr double kMostLeft = 1e-3;
constexpr double kDeviations = 6;  // standard deviations in an error bar

// Least squares of l = slope x + constant, from sums over keys.
struct Line {
  double xx = 0, xl = 0, ll = 0, count = 0;
  // Adds the keys of a row, whose constant is its own.
  void AddRow(const std::vector<double>& x, const std::vector<double>& l) {
    if (x.size() < 2) return;
    const auto n = static_cast<double>(x.size());
    double x_mean = 0, l_mean = 0;
    for (size_t i = 0; i < x.size(); ++i) x_mean += x[i] / n, l_mean += l[i] / n;
    for (size_t i = 0; i < x.size(); ++i) {
      xx += (x[i] - x_mean) * (x[i] - x_mean);
      xl += (x[i] - x_mean) * (l[i] - l_mean);
      ll += (l[i] - l_mean) * (l[i] - l_mean);
    }
    count += n - 1;
  }
  double Slope() const { return xx > 0 ? xl / xx : 0; }
  double Rest() const { return std::max(0.0, ll - Slope() * xl); }
  // 0 of equal numbers.
  double Left() const { return ll > 0 ? Rest() / ll : 0; }
  double Bar(double unit) const {
    return xx > 0 ? kDeviations * std::sqrt(Rest() / std::max(1.0, count - 1) / xx) + unit
                  : kInfinity;
  }
};

class Rules {
 public:
  Rules(const PlainAttention& plain, const AskedWeights& weights, DType dtype)
      : plain_(plain), n_(plain.sizes()), weights_(weights), unit_(4 * UnitRoundoffOf(dtype)) {}

  std::optional<QueryRule> Run() const {
    if (auto rule = Distances()) return rule;
    return Factors();
  }

 private:
  // The keys of a row that have weights.
  struct Row {
    std::vector<double> keys, scores, logs;
  };
  Row RowOf(size_t row) const {
    Row found;
    const auto scores = plain_.ScoresOf(row, plain_.KeyHeadOf(row / n_.S % n_.H));
    for (size_t t = 0; t < n_.T; ++t) {
      if (!(weights_.RowOf(row)[t] > 0) || plain_.CountOf(row, t) == 0) continue;
      found.keys.push_back(static_cast<double>(t));
      found.scores.push_back(scores[t]);
      found.logs.push_back(std::log(weights_.RowOf(row)[t]));
    }
    return found;
  }

  // A bias that is linear in the distance.
  std::optional<QueryRule> Distances() const {
    std::vector<double> slopes;
    std::string listed;
    bool is_alibi = true;
    for (size_t h = 0; h < n_.H; ++h) {
      Line line;
      for (size_t i = 0; i < n_.B * n_.S; ++i) {
        Row row = RowOf((i / n_.S * n_.H + h) * n_.S + i % n_.S);
        for (size_t j = 0; j < row.keys.size(); ++j) row.logs[j] -= row.scores[j];
        line.AddRow(row.keys, row.logs);
      }
      if (!(line.xx > 0) || line.Left() > kMostLeft) return std::nullopt;
      const MeasuredNumber measured{line.Slope(), line.Bar(unit_)};
      const double usual = std::exp2(-8 * static_cast<double>(h + 1) / static_cast<double>(n_.H));
      const bool is_usual = std::abs(usual - measured.value) <= measured.bar;
      is_alibi &= is_usual;
      const auto number = ShortNumber(measured);
      slopes.push_back(is_usual ? usual : number ? number->value : measured.value);
      listed += (listed.empty() ? "" : ", ") + ShortText(slopes.back());
    }
    const std::string text =
        is_alibi ? "an ALiBi bias is added to the scores: -2^(-8 (h + 1) / H) (i - j)"
                 : "a bias that is linear in the distance of query i and key j is "
                   "added to the scores: -m (i - j), with the slopes m " +
                       listed + " of the heads";
    return QueryRule{"bias_of_distance", text, [=, op = plain_.attributes()](MeasuredParts& parts) {
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
      Line line;
      for (size_t h = 0; h < n_.H; ++h) {
        const Row row = RowOf((i / n_.S * n_.H + h) * n_.S + i % n_.S);
        line.AddRow(row.scores, row.logs);
      }
      if (line.count < 2) continue;
      if (line.Left() > kMostLeft) return std::nullopt;
      of_query[i] = {line.Slope(), line.Bar(unit_)};
    }
    return NameOf(of_query);
  }

  int64_t PlaceOf(size_t i) const {
    return plain_.attributes().FirstIndex(i / n_.S) + static_cast<int64_t>(i % n_.S);
  }
  QueryRule RuleOf(const std::string& text, const std::vector<double>& factors) const {
    const auto shared = std::make_shared<const std::vector<double>>(factors);
    return {"scale_of_queries", text, [shared, S = n_.S](MeasuredParts& parts) {
              parts.factors_of_queries = [shared, S](size_t b, size_t, size_t s) {
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
        agrees &= !says(measured[i]) || std::abs(factors[i] - measured[i].value) <= measured[i].bar;
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
      const bool is_right = std::abs(measured[i].value - 1) <= measured[i].bar;
      const auto number = ShortNumber(measured[i]);
      factors.push_back(is_right ? 1 : number ? number->value : measured[i].value);
      if (is_right || ++others > kShown) continue;
      listed += (listed.empty() ? "" : ", ") + std::string("query ") + std::to_string(i % n_.S) +
                " by " + (number ? ShortText(number->value) : TextOf(measured[i]));
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
