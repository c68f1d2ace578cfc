// The scores of every head, fitted to asked weights.
#pragma once

#include <algorithm>
#include <vector>

#include "oracle/attention/measured/plain_attention.h"
#include "oracle/attention/measured/weights.h"

namespace sextant::oracle {

// log weight = score + a constant of the row. The scores of query head h are those of query head
// `query` with key head `key`, multiplied by `factor`.
struct HeadFit {
  size_t query = 0, key = 0;
  double factor = 1, bar = 0;  // its error bar, from the residuals
  double left = 1;             // the part of the variance of log weights that it does not explain
  bool is_flat = false;        // all weights of a row are equal
};

struct ScoreFit {
  std::vector<HeadFit> heads;  // [H]
  size_t later = 0;            // the weight of key t multiplies the value of key (t + later) mod T
  bool clips = false;          // the cap cuts scores off
  size_t tile = 0;             // > 0: the constant is one of each tile of so many keys
  // The largest part of the variance that is left in any head.
  double left() const { return std::ranges::max(heads, {}, &HeadFit::left).left; }
};

// The simplest fit that explains the weights; empty if none does. It turns `weights` back by
// `later`.
std::optional<ScoreFit> FitScores(const PlainAttention& plain, DType dtype, AskedWeights& weights);

// The keys that have weights in a row and that the mask shows.
std::vector<char> ShownKeys(const PlainAttention& plain, const AskedWeights& weights, size_t row);

// At most so many queries of each head are read, evenly spread.
std::vector<size_t> SampledRows(const AttentionSizes& n, size_t h);

// The row of the same batch and query in another head.
inline size_t RowInHead(const AttentionSizes& n, size_t row, size_t h) {
  return row / (n.H * n.S) * n.H * n.S + h * n.S + row % n.S;
}

}  // namespace sextant::oracle
