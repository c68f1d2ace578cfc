// Messages of the protocol between Sextant and a subject's program: blobs in the safetensors format
// (reference/number/tensor/safetensors.h, oracle/subject/PROTOCOL.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reference/number/tensor/dtype.h"
#include "reference/number/tensor/safetensors.h"
#include "reference/number/tensor/tensor.h"

namespace sextant::oracle {

struct ExpectedTensor {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
  bool optional = false;
};

// The `outputs` of a request: {"y": {"dtype": "BF16", "shape": [1,2]}, ...}.
std::string DescribeOutputs(const std::vector<ExpectedTensor>& expected);

// The maximum header size in bytes of a reply with these outputs: 64 KiB for the metadata, and the
// maximum size of each tensor's entry.
uint64_t HeaderLimit(const std::vector<ExpectedTensor>& expected);

// Decodes the header's size from the first eight bytes of a message. Throws Error if it exceeds the
// limit.
size_t ParsePrefix(std::string_view prefix, uint64_t limit);

// Throws Error unless the header's tensors are the expected ones (optional ones may be missing).
// After that, body_size is at most the sum of the expected sizes.
void CheckOutputs(const SafetensorsHeader& header, const std::vector<ExpectedTensor>& expected);

// Decodes a body of header.body_size bytes. Throws Error at an integer above 2^53 in magnitude.
Tensors DecodeBody(const SafetensorsHeader& header, std::string_view body);

}  // namespace sextant::oracle
