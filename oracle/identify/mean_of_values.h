// The answer of attention where all scores are nearly 0: a mean of the values of visible keys.
#pragma once

#include <optional>
#include <vector>

#include "oracle/identify/misfit.h"
#include "reference/attention/attention_mask.h"

namespace sextant::oracle {

// The question in which all scores are nearly 0 (ProbesOf) and its answer, row by row.
class MeansOfValues {
 public:
  // Empty if nobody answered that question, or if it has no values.
  static std::optional<MeansOfValues> In(const std::vector<Exchange>& exchanges);

  const Case& c() const { return *c_; }
  size_t H() const { return y_->shape[1]; }
  size_t K() const { return v_->shape[1]; }
  size_t S() const { return y_->shape[2]; }

  // The range of keys of head g whose mean is nearest to the answer to query s of head h, in the
  // first batch, and the squared distance, relative to the answer; no keys if the answer is 0.
  struct Nearest {
    KeyRange keys;
    double distance;
  };
  Nearest NearestTo(size_t h, size_t s, size_t g) const;
  // The same if it is near enough to be that mean.
  std::optional<KeyRange> KeysOf(size_t h, size_t s, size_t g) const;

 private:
  const Case* c_ = nullptr;
  const Tensor<double>*v_ = nullptr, *y_ = nullptr, *sink_ = nullptr;
};

}  // namespace sextant::oracle
