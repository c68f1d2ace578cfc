// Messages of the protocol between Sextant and a subject's program: safetensors blobs
// (oracle/subject/PROTOCOL.md).
//   8 bytes      size of the header, little-endian
//   header       JSON: {"__metadata__": {key: text}, name: {dtype, shape, data_offsets}, ...}
//   the tensors  raw little-endian elements, row-major, without gaps
// Format: https://github.com/huggingface/safetensors#format
// Reading has several steps, so that every declared size is checked before memory is allocated.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reference/number/dtype.h"
#include "reference/number/tensor.h"

namespace sextant::oracle {

struct ExpectedTensor {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
  bool optional = false;
};

using Metadata = std::map<std::string, std::string>;

inline constexpr size_t kPrefixSize = 8;

// The parsed header of a message.
struct Header {
  struct Entry {
    std::string name;
    DType dtype = DType::kF32;
    Shape shape;
    uint64_t begin = 0, end = 0;  // bytes within the body
  };
  Metadata metadata;
  std::vector<Entry> entries;  // in the order of their bytes
  uint64_t body_size = 0;
};

// Encodes a whole message. Precondition: every value is exact in its tensor's dtype. Throws Error
// if the metadata are not UTF-8.
std::string EncodeMessage(const Metadata& metadata, const Tensors& tensors);

// The `outputs` of a request: {"y": {"dtype": "BF16", "shape": [1,2]}, ...}.
std::string DescribeOutputs(const std::vector<ExpectedTensor>& expected);

// The maximum header size in bytes of a reply with these outputs: 64 KiB for the metadata, and the
// maximum size of each tensor's entry.
uint64_t HeaderLimit(const std::vector<ExpectedTensor>& expected);

// Decodes the header's size from the first eight bytes of a message. Throws Error if it exceeds the
// limit.
size_t ParsePrefix(std::string_view prefix, uint64_t limit);

// Throws Error unless `json` is a header whose tensors fill the body without gap or overlap.
Header ParseHeader(std::string_view json);

// Throws Error unless the header's tensors are the expected ones (optional ones may be missing).
// After that, body_size is at most the sum of the expected sizes.
void CheckOutputs(const Header& header, const std::vector<ExpectedTensor>& expected);

// Decodes a body of header.body_size bytes. Throws Error at an integer above 2^53 in magnitude.
Tensors DecodeBody(const Header& header, std::string_view body);

}  // namespace sextant::oracle
