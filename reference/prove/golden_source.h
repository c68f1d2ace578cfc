// A golden whose numbers are not in memory: they are read where they are needed.
#pragma once

#include "reference/prove/golden.h"
#include "reference/prove/slices.h"

namespace sextant {

class GoldenSource {
 public:
  virtual ~GoldenSource() = default;
  // The numbers that output `output` of the signature has in the slice, in tensors with its shape;
  // `permitted` has none. Several threads may read. Throws Error if a file cannot be read.
  virtual GoldenTensor Read(size_t output, const Slice& slice) const = 0;
};

// The numbers of all outputs of a case.
inline std::vector<GoldenTensor> ReadAll(const GoldenSource& golden, const Case& c) {
  std::vector<GoldenTensor> all;
  for (size_t o = 0; o < c.info().signature.outputs.size(); ++o) all.push_back(golden.Read(o, {}));
  return all;
}

}  // namespace sextant
