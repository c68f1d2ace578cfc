// One output of a wrong answer beside the right one, and its axes.
#pragma once

#include <algorithm>
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

// The likely bounds of |answer - exact value, to a double|, computed when they are read: a list of
// them would take as long as many a search.
class LikelyBounds {
 public:
  LikelyBounds(const GoldenTensor& golden, const PermittedTensor& permitted)
      : golden_(golden), permitted_(permitted) {}
  // Infinite: the element is not judged.
  double operator[](size_t i) const {
    return std::min(PermittedAt(i), permitted_.likely.data[i] + InaccuracyAt(i));
  }
  // The same of the permitted error.
  double PermittedAt(size_t i) const {
    const double bound = permitted_.error.data[i] + InaccuracyAt(i);
    return std::isfinite(bound) ? bound : kInfinity;
  }
  // True without a permitted error (NaN): then the element conforms to any number.
  bool LeavesOut(size_t i) const { return std::isnan(permitted_.error.data[i]); }
  std::vector<double> All() const;

 private:
  double InaccuracyAt(size_t i) const {
    return std::abs(golden_.radius.data[i]) + std::abs(golden_.low.data[i]);
  }
  const GoldenTensor& golden_;
  const PermittedTensor& permitted_;
};

struct AnsweredTensor {
  std::string name;
  DType dtype;
  Shape shape;
  std::vector<AxisView> axes;        // of more than one index
  const std::vector<double>& got;    // the answer
  const std::vector<double>& right;  // the exact values, to a double
  LikelyBounds bounds;               // of |got - right|
  std::vector<size_t> failing;       // above the permitted error; flat indices, ascending

  // True if the answer at `flat` is the right number of `source`, which another place must have.
  bool Holds(size_t flat, size_t source) const {
    const bool has_number =
        flat == source || (!bounds.LeavesOut(source) && !std::isnan(right[source]));
    return has_number && IsNear(flat, right[source], bounds[source]);
  }
  bool Conforms(size_t flat) const { return Holds(flat, flat); }
  bool IsNear(size_t flat, double expected, double bound) const;
};

// True if the first output was answered, and no other.
bool IsFirstAlone(const Observation& seen);

// Empty if the output was not answered. threads: 0 for all cores.
std::optional<AnsweredTensor> AnsweredTensorOf(const Observation& seen, size_t output,
                                               int threads = 1);

// The tensors of an answer. Each is made when it is first asked for: a large one takes a while.
class AnsweredTensors {
 public:
  // What is observed must outlive this object.
  explicit AnsweredTensors(const Observation& seen, int threads = 1)
      : seen_(seen), threads_(threads), tensors_(seen.golden.size()) {}
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
  const int threads_;
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
