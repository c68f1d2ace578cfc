// Slices: parts of a case, cut along axes on which its elements are independent.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "reference/case/case.h"
#include "reference/number/recipe/evaluation_context.h"

namespace sextant {

// A part of a case: some dimensions are restricted to a range, all others are complete.
struct Slice {
  std::map<std::string, std::pair<size_t, size_t>> ranges;  // letter -> first, count
};

// "H=2..3 S=0..4095", the first and the last index along each letter; empty for the whole case.
std::string TextOf(const Slice& slice);
// Throws Error if the case has no such slice.
Slice ParseSlice(const Case& c, const std::string& text);

// Slices of about at most `elements` output elements, in row-major order of the dimensions that are
// cut. Each is made when it is asked for: there may be as many as the case has elements.
class CaseCut {
 public:
  // `window`: slices of this part of the case alone.
  CaseCut(const Case& c, size_t elements, const Slice& window = {});
  size_t size() const;
  Slice operator[](size_t i) const;
  // The first slice that has an element of an output, by its flat index in the whole tensor.
  Slice With(const TensorSpec& output, size_t flat) const;

 private:
  struct Axis {
    std::string letter;
    size_t begin, extent, size;  // of the window; of a part: the last one may be smaller
    size_t parts() const { return (extent + size - 1) / size; }
  };
  Slice SliceOf(const std::vector<size_t>& parts) const;

  Case c_;
  Slice window_;
  std::vector<Axis> axes_;
};

// All of them.
std::vector<Slice> CutCase(const Case& c, size_t elements);

// The two halves of a slice along the first dimension that can be cut; empty if there is none.
std::optional<std::pair<Slice, Slice>> Halve(const Case& c, const Slice& slice);

// A slice of a part, counted from the beginning of the part.
Slice Within(Slice slice, const Slice& part);
// What both have; empty if they have nothing in common.
std::optional<Slice> Intersection(const Slice& a, const Slice& b);

// Copies the part of a tensor that lies in the slice, and writes it back.
Tensor<double> ExtractSlice(const Tensor<double>& whole, const TensorSpec& spec,
                            const Slice& slice);
void InsertSlice(const Tensor<double>& part, const TensorSpec& spec, const Slice& slice,
                 Tensor<double>& whole);

// The flat index in the whole tensor of every element of the part, in order.
std::vector<size_t> IndicesIn(const Shape& whole, const TensorSpec& spec, const Slice& slice);
// The same as runs of consecutive indices.
struct Run {
  size_t first, count;
};
std::vector<Run> RunsIn(const Shape& whole, const TensorSpec& spec, const Slice& slice);
Shape ShapeIn(const Shape& whole, const TensorSpec& spec, const Slice& slice);

// The first index, along a dimension, of the slice that this thread evaluates (ScopedSlice); 0 for
// a whole case. In most operations an element does not depend on its index. If it does (a query
// attends to the keys before it), the operation has the dimension as a Dimension member, which
// gives the whole extent, and calls SliceBegin for the beginning of the slice.
size_t SliceBegin(const std::string& letter);

// True if elements do not depend on their index along that axis.
bool IsIndependent(const Operation& operation, char letter);

}  // namespace sextant
