// The safetensors format: files of tensors, and the messages of the subject protocol.
//   8 bytes      size of the header, little-endian
//   header       JSON: {"__metadata__": {key: text}, name: {dtype, shape, data_offsets}, ...}
//   the tensors  raw little-endian elements, row-major, without gaps
// Format: https://github.com/huggingface/safetensors#format
// Reading has several steps, so that every declared size is checked before memory is allocated.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/number/tensor/tensor.h"
#include "reference/number/tensor/tensor_view.h"

namespace sextant {

using Metadata = std::map<std::string, std::string>;

inline constexpr size_t kPrefixSize = 8;

struct SafetensorsHeader {
  struct Entry {
    std::string name;
    std::string dtype;                // as in the header: "F32"
    std::optional<ElementType> type;  // none: a type that no operation has ("F6_E3M2")
    Shape shape;
    uint64_t begin = 0, end = 0;  // bytes within the body

    std::string TypeName() const;  // "f32"; the word of the header if the type is not known
    // The tensor in `body`, the bytes after the header. Throws Error if its type is not known.
    TensorView In(std::string_view body) const;
  };
  Metadata metadata;
  std::vector<Entry> entries;  // in the order of their bytes
  uint64_t body_size = 0;
};

std::string SafetensorsName(DType type);  // "BF16"

// The size of the header, from the first eight bytes.
uint64_t HeaderSize(std::string_view prefix);

// Throws Error unless `json` is a header whose tensors fill the body without gap or overlap.
SafetensorsHeader ParseSafetensorsHeader(std::string_view json);

struct SafetensorsTensor {
  std::string name;
  DType dtype;
  Shape shape;
};

// Encodes the size and the header of a file or message whose tensors follow in this order. Throws
// Error if the metadata are not UTF-8.
std::string EncodeSafetensorsHeader(const Metadata& metadata,
                                    const std::vector<SafetensorsTensor>& tensors);

// Encodes a whole file or message. Precondition: every value is exact in its tensor's dtype. Throws
// Error if the metadata are not UTF-8.
std::string EncodeSafetensors(const Metadata& metadata, const Tensors& tensors);

// "y:f32[2,3]", in the syntax of signatures.
std::string Declaration(const std::string& name, std::string_view dtype, const Shape& shape);

}  // namespace sextant
