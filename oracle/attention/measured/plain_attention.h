// Attention in double, without error bounds: quick predictions for measurements.
#pragma once

#include <string>
#include <vector>

#include "oracle/attention/attention_parts.h"
#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

// The attributes of an operation for a case, with the dimensions of the case.
AttentionAttributes AttentionOf(const Case& c, const Operation& operation);

// Reads the attributes and inputs of a model with q, k and v, and perhaps a bias, a sink or scales.
// With positions, q and k are rotated first, by the recipe of the model. The case gives the
// dimensions. Does not own the inputs.
class PlainAttention {
 public:
  PlainAttention(const Case& c, const Hypothesis& model);
  PlainAttention(const PlainAttention&) = delete;  // it may refer to its own members

  const AttentionSizes& sizes() const { return n_; }
  const AttentionAttributes& attributes() const { return op_; }

  double scale() const { return scale_; }
  size_t KeyHeadOf(size_t h) const { return op_.KeyHeadOf(h); }
  // The score of every key, seen or not, of query row = (b H + h) S + s with key head g. `factor`
  // multiplies it before the cap; `clips`: the cap cuts scores off.
  std::vector<double> ScoresOf(size_t row, size_t g, double factor = 1, bool clips = false) const;
  // The right weight of every key of the row, also of those that the mask hides: e^score, divided
  // by the sum over the keys that it shows and the sink; infinity if there is neither.
  std::vector<double> WeightsOf(size_t row) const;
  // Value t of head g in the batch of the row, [E].
  std::span<const double> ValueOf(size_t row, size_t g, size_t t) const;
  // True if a factor of the products multiplies the scores.
  bool IsProportional() const { return !op_.soft_cap && (!bias_ || add_bias_ == "before_scale"); }
  // The score of the sink; -infinity without one.
  double SinkOf(size_t row) const;
  // How often the mask counts the key: 0 or 1.
  double CountOf(size_t row, size_t t) const;
  // y[E] of the row, with the keys that the mask shows; empty if it shows none.
  std::vector<double> Answer(size_t row, size_t key_head, size_t value_head) const;

 private:
  AttentionAttributes op_;
  AttentionSizes n_;
  size_t D_;
  double scale_;
  std::string add_bias_;  // as in the case
  // Rotated and scaled; empty if nothing is.
  std::vector<double> prepared_q_, prepared_k_, prepared_v_;
  const std::vector<double>&q_, &k_, &v_;
  const std::vector<double>*bias_ = nullptr, *sink_ = nullptr;
};

}  // namespace sextant::oracle
