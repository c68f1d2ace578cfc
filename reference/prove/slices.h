// Cuts the tensors of a case along axes on which its elements are independent.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "reference/case/case.h"
#include "reference/number/evaluation_context.h"

namespace sextant {

// One box of a case: some letters restricted to a range, all others whole.
struct Slice {
  std::map<std::string, std::pair<size_t, size_t>> ranges;  // letter -> first, count
};

// Slices of at most about `elements` output elements each, in row-major order of the cut letters.
std::vector<Slice> CutCase(const Case& c, size_t elements);

// A slice in two, along the first letter that can be cut; empty if there is none.
std::optional<std::pair<Slice, Slice>> Halve(const Case& c, const Slice& slice);

// The part of a tensor that lies in the slice, and putting it back.
Tensor<double> Take(const Tensor<double>& whole, const TensorSpec& spec, const Slice& slice);
void Put(const Tensor<double>& part, const TensorSpec& spec, const Slice& slice,
         Tensor<double>& whole);

// For every element of the part in order: its flat index in the whole.
std::vector<size_t> IndicesIn(const Shape& whole, const TensorSpec& spec, const Slice& slice);
Shape ShapeIn(const Shape& whole, const TensorSpec& spec, const Slice& slice);

// Where the slice begins that this thread evaluates a formula for (ScopedSlice); 0 for a whole
// case. An element of most operations does not depend on where it stands. An operation of which it
// does (a query sees the keys before it) has the sliced letter as a Dimension member, so that it
// knows how many there are, and asks here where the slice begins.
size_t FirstOf(const std::string& letter);

// True if elements do not depend on their places along that axis.
bool IsIndependent(const Operation& operation, char letter);

}  // namespace sextant
