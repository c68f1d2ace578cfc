// Messages of the border protocol: safetensors blobs (oracle/subject/PROTOCOL.md).
//   8 bytes      size of the header, little-endian
//   header       JSON: {"__metadata__": {key: text}, name: {dtype, shape, data_offsets}, ...}
//   the tensors  raw little-endian elements, row-major, without gaps
// Format: https://github.com/huggingface/safetensors#format
// Reading goes in steps, so that a stranger's word is checked before it costs memory.
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

// What a header declares.
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

// A whole message. Every value must be one of its tensor's dtype.
std::string EncodeMessage(const Metadata& metadata, const Tensors& tensors);

// What a request says of the outputs it expects: {"y": {"dtype": "BF16", "shape": [1,2]}, ...}.
std::string DescribeOutputs(const std::vector<ExpectedTensor>& expected);

// The largest header accepted of a reply with these outputs: 64 KiB for its words, and what each
// tensor can need.
uint64_t HeaderLimit(const std::vector<ExpectedTensor>& expected);

// The header's size out of a message's first eight bytes. Throws Error beyond the limit.
size_t ParsePrefix(std::string_view prefix, uint64_t limit);

// Throws Error unless this is a header whose tensors fill the body without gap or overlap.
Header ParseHeader(std::string_view json);

// Throws Error unless the header's tensors are the expected ones (optional ones may be missing).
// The sum of the expected sizes then bounds body_size.
void CheckOutputs(const Header& header, const std::vector<ExpectedTensor>& expected);

// The tensors in a body of header.body_size bytes. Throws Error at an integer beyond 2^53.
Tensors DecodeBody(const Header& header, std::string_view body);

}  // namespace sextant::oracle
