#include "oracle/attention/measured/keys.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>

#include "oracle/attention/measured/key_sentences.h"
#include "oracle/attention/measured/least_squares.h"
#include "oracle/attention/measured/plain_attention.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

// More unknowns would take seconds. Each row has E equations; there are kTimes more equations than
// unknowns where there are so many.
constexpr size_t kMostUnknowns = 384, kTimes = 16;

// A number of times that is measured worse than this cannot be told from one more or less.
constexpr double kWorstBar = 0.25;
// An integer is assumed within so many standard deviations.
constexpr double kAssumedWithin = 6;

// The unknown that a key of a row has; empty: the key is not read in any case.
struct Unknowns {
  size_t count, groups;  // no equation has unknowns of two groups, which have equal sizes
  std::function<std::optional<size_t>(size_t row, size_t t)> of;
};

struct Problem {
  const Observation& seen;
  const PlainAttention& plain;
  const Tensor<double>&y, &permitted;
  const MeasuredParts& parts;  // of the model

  size_t HeadOf(size_t row, const std::vector<size_t>& heads) const {
    const size_t h = row / plain.sizes().S % plain.sizes().H;
    return heads.empty() ? plain.KeyHeadOf(h) : heads[h];
  }
};

// Adds the equations of a row: E of them, each in units of its error.
void AddRow(const Problem& of, const Unknowns& unknowns, size_t row, LeastSquares& squares) {
  const AttentionSizes& n = of.plain.sizes();
  const std::vector<double> scores = of.plain.ScoresOf(row, of.HeadOf(row, of.parts.key_heads));
  const size_t value_head = of.HeadOf(row, of.parts.value_heads);
  const double sink = of.plain.SinkOf(row);
  double largest = sink;
  for (size_t t = 0; t < n.T; ++t)
    if (of.plain.CountOf(row, t) > 0) largest = std::max(largest, scores[t]);
  if (!std::isfinite(largest)) return;
  double sum = std::exp(sink - largest);
  for (size_t t = 0; t < n.T; ++t)
    if (of.plain.CountOf(row, t) > 0) sum += std::exp(scores[t] - largest);
  std::vector<double> equation(unknowns.count);
  for (size_t e = 0; e < n.E; ++e) {
    const double y = of.y.data[row * n.E + e], unit = of.permitted.data[row * n.E + e] * sum;
    if (!std::isfinite(y) || !std::isfinite(unit) || unit == 0) continue;
    std::ranges::fill(equation, 0);
    for (size_t t = 0; t < n.T; ++t) {
      const auto unknown = unknowns.of(row, t);
      const double weight = std::exp(scores[t] - largest);
      if (unknown && std::isfinite(weight))
        equation[*unknown] += weight * (of.plain.ValueOf(row, value_head, t)[e] - y) / unit;
    }
    squares.Add(equation, std::exp(sink - largest) * y / unit);
  }
}

// The expected number of times of each unknown: 1 if any row sees it.
std::vector<double> ExpectedOf(const Problem& of, const Unknowns& unknowns) {
  std::vector<double> expected(unknowns.count);
  for (size_t row = 0; row < of.plain.sizes().rows(); ++row) {
    for (size_t t = 0; t < of.plain.sizes().T; ++t) {
      const auto unknown = unknowns.of(row, t);
      if (unknown && of.plain.CountOf(row, t) > 0) expected[*unknown] = 1;
    }
  }
  return expected;
}

// Without a sink, the equations give the x of a group up to a factor; with one, a factor of all x
// is one of the sink. Therefore the median of the larger ones is 1.
void Normalize(std::span<double> x, std::span<double> bar) {
  std::vector<double> counting;
  const double largest = std::ranges::max(x);
  for (const double count : x)
    if (count > largest / 2) counting.push_back(count);
  if (counting.empty()) return;
  const auto middle = counting.begin() + static_cast<std::ptrdiff_t>(counting.size() / 2);
  std::ranges::nth_element(counting, middle);
  for (size_t j = 0; j < x.size(); ++j) x[j] /= *middle, bar[j] /= *middle;
}

// The mean of the expected unknowns of each group is 1.
void AddMeans(const std::vector<double>& expected, size_t groups, LeastSquares& squares) {
  const size_t size = expected.size() / groups;
  for (size_t group = 0; group < groups; ++group) {
    std::vector<double> equation(expected.size());
    for (size_t j = group * size; j < (group + 1) * size; ++j) equation[j] = expected[j];
    squares.Add(equation, std::accumulate(equation.begin(), equation.end(), 0.0));
  }
}

// How often each unknown counts: an integer, if the error bar permits it; the expected number if
// the answers do not say it.
std::vector<double> CountsOf(const Problem& of, const Unknowns& unknowns,
                             const std::vector<double>& expected) {
  const AttentionSizes& n = of.plain.sizes();
  LeastSquares squares(unknowns.count);
  const size_t wanted = kTimes * unknowns.count / n.E + n.H;
  const size_t step = std::max<size_t>(1, n.rows() / wanted);
  for (size_t row = 0; row < n.rows(); row += step) AddRow(of, unknowns, row, squares);
  const bool has_sink = n.rows() > 0 && of.plain.SinkOf(0) > -kInfinity;
  if (!has_sink) AddMeans(expected, unknowns.groups, squares);
  // Permitted errors are those of the worst case; the residuals say how large errors are.
  auto [x, bar, rms] = squares.Solve();
  for (double& error : bar) error *= rms;
  const size_t size = unknowns.count / unknowns.groups;
  for (size_t group = 0; group < unknowns.groups; ++group)
    Normalize(std::span(x).subspan(group * size, size), std::span(bar).subspan(group * size, size));
  std::vector<double> counts = expected;
  for (size_t j = 0; j < x.size(); ++j) {
    if (!(bar[j] < kWorstBar)) continue;
    const double whole = std::round(x[j]);
    // What rounding to bf16 may cause is a precision.
    const double near =
        std::max(kAssumedWithin * bar[j], 2 * UnitRoundoffOf(DType::kBF16) * std::max(1.0, whole));
    counts[j] = std::max(0.0, std::abs(x[j] - whole) <= near ? whole : x[j]);
  }
  return counts;
}

Deviation DeviationOf(KeySentence sentence, OfKey counts, const WithParts& with_parts) {
  return {
      .name = std::move(sentence.name),
      .factor = "keys",
      .values = {{1}},
      .changed = [counts, with_parts](const Hypothesis& base, double) -> std::optional<Hypothesis> {
        const auto edit = [&](MeasuredParts& parts) { parts.counts = counts; };
        return Hypothesis{with_parts(*base.operation, edit), base.inputs, base.recipe};
      },
      .sentence = [text = std::move(sentence.text)](const std::string&) { return text; }};
}

// At least half of the equations test what the others give. The channels of a row have no more
// independent ones than it has keys, but one.
bool IsTested(const AttentionSizes& n, size_t unknowns) {
  const size_t equations = n.rows() * std::min(n.E, n.T - std::min<size_t>(n.T, 1));
  return unknowns <= kMostUnknowns && equations >= 2 * unknowns;
}

// The unknowns are the keys of each batch, beyond key_length too, that the rest of the mask shows.
std::optional<Deviation> ByKey(const Problem& of, const WithParts& with_parts) {
  const AttentionSizes& n = of.plain.sizes();
  if (!IsTested(n, n.B * n.T)) return std::nullopt;
  AttentionAttributes longer = of.plain.attributes();
  IntegerList first;
  for (size_t b = 0; b < n.B; ++b) first.push_back(longer.FirstIndex(b));
  longer.align.reset();
  longer.query_offset = first;
  longer.key_length.reset();
  const auto is_read = [longer](size_t b, size_t s, size_t t) {
    const KeyRange keys = longer.KeysOf(b, s);
    return keys.first <= t && t < keys.last;
  };
  const Unknowns unknowns{n.B * n.T, n.B, [&](size_t row, size_t t) -> std::optional<size_t> {
                            const size_t b = row / (n.H * n.S);
                            if (!is_read(b, row % n.S, t)) return std::nullopt;
                            return b * n.T + t;
                          }};
  const std::vector<double> expected = ExpectedOf(of, unknowns);
  const std::vector<double> counts = CountsOf(of, unknowns, expected);
  // The sentence is that of the first batch that differs.
  KeySentence sentence;
  for (size_t b = 0; b < n.B && sentence.text.empty(); ++b) {
    const auto part = [&](const std::vector<double>& all) {
      return std::vector<double>(all.begin() + b * n.T, all.begin() + (b + 1) * n.T);
    };
    sentence = SentenceOfKeys(part(counts), part(expected));
    if (n.B > 1 && !sentence.text.empty())
      sentence.text = "in batch " + std::to_string(b) + ", " + sentence.text;
  }
  if (sentence.text.empty()) return std::nullopt;
  const auto count = [is_read, counts, T = n.T](size_t b, size_t, size_t s, size_t t) {
    return is_read(b, s, t) ? counts[b * T + t] : 0;
  };
  return DeviationOf(std::move(sentence), count, with_parts);
}

// The unknowns are the distances from the query's own key.
std::optional<Deviation> ByDistance(const Problem& of, const WithParts& with_parts) {
  const AttentionSizes& n = of.plain.sizes();
  const AttentionAttributes op = of.plain.attributes();
  if (n.S == 1 || !IsTested(n, n.S + n.T - 1)) return std::nullopt;
  const int64_t least = -op.FirstIndex(0) - static_cast<int64_t>(n.S) + 1;
  const auto index_of = [op, least, n](size_t b, size_t s, size_t t) -> std::optional<size_t> {
    if (static_cast<int64_t>(t) >= op.KeyLength(b)) return std::nullopt;
    const int64_t own = static_cast<int64_t>(s) + op.FirstIndex(b);
    const int64_t index = static_cast<int64_t>(t) - own - least;
    if (index < 0 || index >= static_cast<int64_t>(n.S + n.T - 1)) return std::nullopt;
    return static_cast<size_t>(index);
  };
  const Unknowns unknowns{n.S + n.T - 1, 1, [&](size_t row, size_t t) {
                            return index_of(row / (n.H * n.S), row % n.S, t);
                          }};
  const std::vector<double> expected = ExpectedOf(of, unknowns);
  const std::vector<double> counts = CountsOf(of, unknowns, expected);
  KeySentence sentence = SentenceOfDistances(counts, expected, least);
  if (sentence.text.empty()) return std::nullopt;
  sentence.text += " (" + std::to_string(n.S) + " queries)";
  const auto count = [index_of, counts](size_t b, size_t, size_t s, size_t t) {
    const auto index = index_of(b, s, t);
    return index ? counts[*index] : 0;
  };
  return DeviationOf(std::move(sentence), count, with_parts);
}

}  // namespace

std::vector<Deviation> KeysByAnswers(const Observation& seen, const Hypothesis& base,
                                     const WithParts& with_parts) {
  const AttentionSizes n(seen.c);
  const auto at = std::ranges::find(seen.answer, "y", &NamedTensor::name);
  std::vector<Deviation> found;
  if (at == seen.answer.end() || n.E == 0 || n.rows() == 0) return found;
  if (!IsTested(n, n.B * n.T) && !IsTested(n, n.S + n.T - 1)) return found;
  MeasuredParts parts;
  with_parts(*base.operation, [&](MeasuredParts& of_base) { parts = of_base; });
  const PlainAttention plain(seen.c, base);
  const Problem problem{seen, plain, at->values, seen.permitted[kAttended].error, parts};
  if (parts.counts) return found;
  if (auto keys = ByKey(problem, with_parts)) found.push_back(std::move(*keys));
  if (auto distances = ByDistance(problem, with_parts)) found.push_back(std::move(*distances));
  return found;
}

// The products of the normal equations; an evaluation of a slice has about as many as 2^15.
size_t CostOfKeys(const Case& c) {
  const AttentionSizes n(c);
  size_t products = 0;
  for (const size_t unknowns : {n.B * n.T, n.S + n.T})
    if (unknowns <= kMostUnknowns) products += kTimes * unknowns * unknowns * unknowns;
  return products >> 15;
}

}  // namespace sextant::oracle
