// One output of a wrong answer beside the right one, and its axes.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

// A tensor seen as [outer, extent, inner] around one axis.
struct AxisView {
  std::string name;  // "S"
  size_t outer, extent, inner;

  size_t slab() const { return outer * inner; }  // elements with one index on the axis
  size_t At(size_t index, size_t element) const {
    return (element / inner * extent + index) * inner + element % inner;
  }
  size_t IndexOf(size_t flat) const { return flat / inner % extent; }
  // The indices of these elements, which must be ascending, as the indices are.
  std::vector<size_t> IndicesOf(const std::vector<size_t>& elements) const;
};

struct AnsweredTensor {
  std::string name;
  DType dtype;
  Shape shape;
  std::vector<AxisView> axes;        // of more than one index
  const std::vector<double>& got;    // the answer
  const std::vector<double>& right;  // the exact values, to a double
  std::vector<double> bounds;        // likely ones, of |got - right|; infinite: not judged
  std::vector<size_t> failing;       // above the permitted error; flat indices, ascending
  std::vector<char> left_out;  // 1: without a permitted error (NaN), it conforms to any number

  // True if the answer at `flat` is the right number of `source`, which another place must have.
  bool Holds(size_t flat, size_t source) const {
    const bool has_number = flat == source || (!left_out[source] && !std::isnan(right[source]));
    return has_number && IsNear(flat, right[source], bounds[source]);
  }
  bool Conforms(size_t flat) const { return Holds(flat, flat); }
  bool IsNear(size_t flat, double expected, double bound) const;
};

// True if the first output was answered, and no other.
bool IsFirstAlone(const Observation& seen);

// Empty if the output was not answered.
std::optional<AnsweredTensor> AnsweredTensorOf(const Observation& seen, size_t output);

// The tensors of an answer. Each is made when it is first asked for: a large one takes a while.
class AnsweredTensors {
 public:
  // What is observed must outlive this object.
  explicit AnsweredTensors(const Observation& seen) : seen_(seen), tensors_(seen.golden.size()) {}
  const Observation& seen() const { return seen_; }
  size_t size() const { return tensors_.size(); }  // outputs
  // Null if the output was not answered.
  const AnsweredTensor* Of(size_t output);

 private:
  struct Made {
    bool is_made = false;
    std::optional<AnsweredTensor> tensor;
  };
  const Observation seen_;
  std::vector<Made> tensors_;
};

// True if some failing element is off by at least 1/16 of the typical size of the right numbers of
// its row or of its column, the smaller one. Numbers in other places and parts without a result
// make such errors, which roundings of results to 16 bits do not: where there is none, a search is
// spared.
bool HasLargeErrors(const AnsweredTensor& tensor);

// "12 to 15", "0, 2 to 4", "3 to 63 in steps of 4", "all 16", "9 of 64, the first is 3"
std::string IndicesText(const std::vector<size_t>& indices, size_t extent);

}  // namespace sextant::oracle
