#include "oracle/identify/key_heads.h"

#include <algorithm>
#include <numeric>

#include "oracle/identify/mean_of_values.h"
#include "reference/base/value_text.h"

namespace sextant::oracle {
namespace {

constexpr size_t kMostQueries = 8;  // of each head that are compared

// The key head of a query head: the one whose values explain its answers; none if several or no
// heads do.
std::optional<size_t> KeyHeadOf(const MeansOfValues& means, size_t h) {
  std::optional<size_t> found;
  const size_t step = std::max<size_t>(1, means.S() / kMostQueries);
  for (size_t g = 0; g < means.K(); ++g) {
    size_t seen = 0, explained = 0;
    for (size_t s = 0; s < means.S(); s += step) {
      const std::optional<KeyRange> keys = means.KeysOf(h, s, g);
      if (keys && keys->IsEmpty()) continue;  // an answer of 0 says nothing
      ++seen;
      explained += keys ? 1 : 0;
    }
    if (2 * explained <= seen || explained == 0) continue;  // queries without keys may differ
    if (found) return std::nullopt;
    found = g;
  }
  return found;
}

// The same from scores: those with the keys of its key head are these products times a factor.
std::optional<size_t> KeyHeadOf(const Exchange& scored, size_t h) {
  constexpr double kRest = 0.01;  // of the squared scores; more than roundings to bf16 leave
  const Tensor<double>&q = Find(scored.inputs, "q").values, &k = Find(scored.inputs, "k").values;
  const Tensor<double>& scores = scored.answer[0].values;
  const size_t S = scores.shape[2], T = scores.shape[3], D = q.shape[3];
  std::optional<size_t> found;
  for (size_t g = 0; g < k.shape[1]; ++g) {
    double xx = 0, xy = 0, yy = 0;
    for (size_t i = 0; i < S * T; ++i) {
      const double y = scores.data[h * S * T + i];
      const auto row = q.data.begin() + static_cast<std::ptrdiff_t>((h * S + i / T) * D);
      const auto key = k.data.begin() + static_cast<std::ptrdiff_t>((g * T + i % T) * D);
      const double x = std::inner_product(row, row + static_cast<std::ptrdiff_t>(D), key, 0.0);
      xx += x * x, xy += x * y, yy += y * y;
    }
    if (!(yy - xy * xy / xx < kRest * yy)) continue;
    if (found) return std::nullopt;
    found = g;
  }
  return found;
}

// Of every query head; empty if one of them is not known.
std::vector<size_t> KeyHeads(const std::vector<Exchange>& exchanges) {
  const Exchange& first = exchanges[0];
  const std::optional<MeansOfValues> means = MeansOfValues::In(exchanges);
  const bool has_scores = first.answer.size() == 1 && first.answer[0].name == "scores";
  if (!means && !has_scores) return {};
  std::vector<size_t> heads;
  for (int64_t h = 0; h < first.c.dimensions().at("H"); ++h) {
    const auto head = means ? KeyHeadOf(*means, static_cast<size_t>(h))
                            : KeyHeadOf(first, static_cast<size_t>(h));
    if (!head) return {};
    heads.push_back(*head);
  }
  return heads;
}

// The rows of `tensor` [B,K,...] that the query heads read: [B,H,...].
void Gather(const std::vector<size_t>& key_heads, Tensor<double>& tensor) {
  Shape shape = tensor.shape;
  shape[1] = key_heads.size();
  Tensor<double> gathered(shape);
  const size_t K = tensor.shape[1];
  const size_t size = K == 0 ? 0 : tensor.data.size() / (tensor.shape[0] * K);
  auto to = gathered.data.begin();
  for (size_t b = 0; b < shape[0]; ++b) {
    for (const size_t g : key_heads) {
      const auto from = tensor.data.begin() + static_cast<std::ptrdiff_t>((b * K + g) * size);
      to = std::copy(from, from + static_cast<std::ptrdiff_t>(size), to);
    }
  }
  tensor = std::move(gathered);
}

}  // namespace

std::vector<size_t> OtherKeyHeads(const std::vector<Exchange>& exchanges) {
  const Dimensions& dimensions = exchanges[0].c.dimensions();
  if (!dimensions.contains("K") || !dimensions.contains("H")) return {};
  const auto K = static_cast<size_t>(dimensions.at("K"));
  if (K < 2) return {};
  std::vector<size_t> heads = KeyHeads(exchanges), expected;
  for (size_t h = 0; h < heads.size(); ++h) expected.push_back(h / (heads.size() / K));
  return heads == expected ? std::vector<size_t>{} : heads;
}

Exchange WithOwnKeyHeads(Exchange exchange, const std::vector<size_t>& key_heads) {
  if (key_heads.empty()) return exchange;
  exchange.c = exchange.c.With("K=" + std::to_string(key_heads.size()));
  for (NamedTensor& input : exchange.inputs) {
    if (input.name == "k" || input.name == "v") Gather(key_heads, input.values);
  }
  return exchange;
}

std::string TextOfKeyHeads(const std::vector<size_t>& key_heads) {
  const size_t K = 1 + std::ranges::max(key_heads);
  std::vector<int64_t> list(key_heads.begin(), key_heads.end());
  bool is_tiled = true;
  for (size_t h = 0; h < key_heads.size(); ++h) is_tiled = is_tiled && key_heads[h] == h % K;
  return is_tiled ? "h mod " + std::to_string(K) : PrintValue(list);
}

}  // namespace sextant::oracle
