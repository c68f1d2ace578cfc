#include "oracle/layer/measured/row_added.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "oracle/layer/measured/constant.h"
#include "oracle/layer/measured/model.h"
#include "oracle/layer/tensor_places.h"
#include "reference/layer/embedding.h"

namespace sextant::oracle {
namespace {

// Each token has a further row of the table, the same for all tokens of a range.
struct WithMoreRows : Embedding {
  std::vector<size_t> more;  // [V]: the further row of each token
  template <class Real>
  void operator()(const Tensor<double>& token, const Tensor<Real>& table, Tensor<Real>& y) const {
    const size_t M = table.shape[1];
    for (size_t i = 0; i < y.data.size(); ++i) {
      const auto row = static_cast<size_t>(token.data[i / M]);
      y.data[i] = Real(scale) * (table(row, i % M) + table(more[row], i % M));
    }
  }
};

// The only row of the table that the answer to token s has more than its own.
std::optional<size_t> MoreRowOf(const Samples& samples, const Tensor<double>& table, size_t s,
                                double scale) {
  const size_t M = table.shape[1];
  std::optional<size_t> found;
  for (size_t row = 0; row < table.shape[0]; ++row) {
    bool fits = true;
    for (size_t j = 0; j < M && fits; ++j) {
      if (!samples.Has(s * M + j)) continue;
      const Sample sample = samples.At(s * M + j);
      fits = std::abs(sample.y - sample.right - scale * table(row, j)) <= sample.error;
    }
    if (fits && found) return std::nullopt;
    if (fits) found = row;
  }
  return found;
}

// In units of the permitted errors.
std::vector<double> DistancesOf(const Samples& samples, size_t elements) {
  std::vector<double> distances;
  for (size_t i = 0; i < elements; ++i) {
    if (!samples.Has(i)) continue;
    const Sample sample = samples.At(i);
    distances.push_back(std::abs(sample.y - sample.right) / sample.error);
  }
  return distances;
}

}  // namespace

std::vector<Explanation> MeasureRowAdded(const Observation& seen) {
  const Samples samples(seen, 0, ErrorBar::kTwicePermitted);
  const Tensor<double>& table = seen.inputs[kTable].values;
  const std::vector<double>& token = seen.inputs[kToken].values.data;
  if (!samples.IsAnswered() || CountOf(table.shape) == 0 || token.empty()) return {};
  const auto& right = dynamic_cast<const TypedOperation<Embedding>&>(seen.c.operation()).op();
  constexpr size_t kMostRows = size_t{1} << 24;  // most are refuted by their first number
  const size_t V = table.shape[0];
  if (V < 2 || token.size() * V > kMostRows) return {};
  std::map<size_t, size_t> more;  // of tokens
  for (size_t s = 0; s < token.size(); ++s) {
    const auto row = MoreRowOf(samples, table, s, right.scale);
    if (!row) return {};
    if (!more.emplace(static_cast<size_t>(token[s]), *row).second &&
        more[static_cast<size_t>(token[s])] != *row)
      return {};
  }
  WithMoreRows measured;
  measured.more.assign(V, more.begin()->second);
  std::string text;
  size_t ranges = 0;
  for (auto at = more.begin(); at != more.end();) {
    const size_t row = at->second;
    const auto first = at;
    size_t last = at->first;
    for (; at != more.end() && at->second == row; ++at) last = at->first;
    constexpr size_t kMostRanges = 5;
    if (++ranges > kMostRanges) return {};
    text += (text.empty() ? "" : "; ") + std::string("row ") + std::to_string(row) +
            " is added to those of tokens " + std::to_string(first->first) + " to " +
            std::to_string(last);
    for (size_t v = first->first; v < V; ++v) measured.more[v] = row;
  }
  Deviations found;
  found.Add("row_added", "of the table " + text);
  // Each range has one of V rows, and ends at one of V tokens.
  const double bits = 2 * static_cast<double>(ranges) * std::log2(static_cast<double>(V));
  if (!IsEvident(DistancesOf(samples, token.size() * table.shape[1]), found, bits)) return {};
  return {{found.name, found.sentence, MeasuredModel(seen, measured)}};
}

}  // namespace sextant::oracle
