#include "oracle/attention/measured/weights.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace sextant::oracle {
namespace {

constexpr size_t kMostQuestions = 32;

// y for other values; empty if the subject does not answer.
std::vector<double> AnswerWith(const Observation& seen, const AttentionSizes& n,
                               const std::function<double(size_t t, size_t e, size_t head)>& v) {
  Tensors inputs = seen.inputs;
  std::vector<double>& values = inputs[2].values.data;
  for (size_t i = 0; i < values.size(); ++i) values[i] = v(i / n.E % n.T, i % n.E, i / n.E / n.T);
  const Answer answer = seen.how.subject->answer(seen.c, inputs);
  if (answer.status != Answer::Status::kAnswered) return {};
  const auto y = std::ranges::find(answer.outputs, "y", &NamedTensor::name);
  if (y == answer.outputs.end() || y->values.data.size() != n.rows() * n.E) return {};
  const auto is_finite = [](double x) { return std::isfinite(x); };
  return std::ranges::all_of(y->values.data, is_finite) ? y->values.data : std::vector<double>();
}

// A subject with stored answers gives the same one to every question.
bool IsStored(const Observation& seen, const std::vector<double>& other) {
  const auto y = std::ranges::find(seen.answer, "y", &NamedTensor::name);
  return y != seen.answer.end() && std::ranges::equal(y->values.data, other, SameNumber);
}

// Where all values are 1, every column of a row is the sum of its weights, added in the same order:
// bf16, the coarsest format, rounds each by half a unit of 2^-7. If the columns of most rows differ
// by several units, y is no sum of weighted values. This only spares questions.
bool AreSums(const std::vector<double>& of_ones, const AttentionSizes& n) {
  constexpr double kFar = 4 * 0x1p-7;
  size_t other = 0;
  for (size_t row = 0; row < n.rows(); ++row) {
    const auto [least, most] = std::ranges::minmax(std::span(of_ones).subspan(row * n.E, n.E));
    other += most - least > kFar * std::max(std::abs(most), std::abs(least));
  }
  return 2 * other <= n.rows();
}

// The number of the head, 1 for the first, that a row reads; 0 if it has no weights.
std::vector<size_t> SourcesOf(const AskedWeights& weights) {
  std::vector<size_t> sources;
  for (size_t row = 0; row < weights.n.rows(); ++row) {
    double sum = 0;
    for (const double weight : weights.RowOf(row)) sum += weight;
    const double source = weights.sums[row] == 0 ? 0 : std::round(sum / weights.sums[row]);
    sources.push_back(source >= 0 ? static_cast<size_t>(source) : 0);
  }
  return sources;
}

std::vector<size_t> ValueHeads(const std::vector<size_t>& sources, const AttentionSizes& n) {
  std::vector<size_t> heads(n.H, n.K);
  for (size_t row = 0; row < n.rows(); ++row) {
    if (sources[row] == 0) continue;
    const size_t first = row / (n.H * n.S) * n.K + 1;
    if (sources[row] < first || sources[row] >= first + n.K) return {};
    size_t& head = heads[row / n.S % n.H];
    if (head != n.K && head != sources[row] - first) return {};
    head = sources[row] - first;
  }
  if (std::ranges::find(heads, n.K) != heads.end()) return {};
  return heads;
}

}  // namespace

std::optional<AskedWeights> AskWeights(const Observation& seen) {
  AskedWeights weights{AttentionSizes(seen.c), {}, {}, {}};
  const AttentionSizes& n = weights.n;
  if (!seen.how.subject || n.E == 0 || n.rows() == 0) return std::nullopt;
  if ((n.T + n.E - 1) / n.E > kMostQuestions) return std::nullopt;
  const std::vector<double> ones = AnswerWith(seen, n, [](size_t, size_t, size_t) { return 1; });
  if (ones.empty() || IsStored(seen, ones) || !AreSums(ones, n)) return std::nullopt;
  for (size_t row = 0; row < n.rows(); ++row) weights.sums.push_back(ones[row * n.E]);
  // A head's number must be a number of the dtype.
  const auto most = static_cast<double>(n.B * n.K);
  const bool has_sources = RoundTo(seen.inputs[2].dtype, most) == most;
  weights.of.resize(n.rows() * n.T);
  for (size_t first = 0; first < n.T; first += n.E) {
    const auto y = AnswerWith(seen, n, [&](size_t t, size_t e, size_t head) -> double {
      if (t != first + e) return 0;
      return has_sources ? static_cast<double>(head + 1) : 1;
    });
    if (y.empty()) return std::nullopt;
    for (size_t row = 0; row < n.rows(); ++row) {
      for (size_t t = first; t < std::min(n.T, first + n.E); ++t)
        weights.of[row * n.T + t] = y[row * n.E + t - first];
    }
  }
  if (!has_sources) return weights;
  const std::vector<size_t> sources = SourcesOf(weights);
  weights.value_heads = ValueHeads(sources, n);
  for (size_t i = 0; i < weights.of.size(); ++i)
    weights.of[i] /= static_cast<double>(std::max<size_t>(sources[i / n.T], 1));
  return weights;
}

}  // namespace sextant::oracle
