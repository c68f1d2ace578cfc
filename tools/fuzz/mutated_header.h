// Mutates files that begin with the size of a header, which a fuzzer would seldom hit: it then fits
// the header in most inputs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

namespace sextant::fuzz {

// The little-endian size of the header: so many bytes, at this place. The header follows it.
struct HeaderSizeField {
  size_t at, bytes;
};

// Changes the header, the bytes after it, or all bytes. Returns the new size.
inline size_t MutateParts(uint8_t* data, size_t size, size_t most, unsigned seed,
                          HeaderSizeField field) {
  const size_t begin = field.at + field.bytes;
  uint64_t length = 0;
  if (size >= begin) std::memcpy(&length, data + field.at, field.bytes);
  constexpr unsigned kMutateAll = 8;  // one input in so many
  if (size < begin || length > size - begin || size == most || seed % kMutateAll == 0)
    return LLVMFuzzerMutate(data, size, most);
  std::string head(data + begin, data + begin + length), body(data + begin + length, data + size);
  std::string& part = body.empty() || seed % 3 != 0 ? head : body;
  const size_t room = most - (size - part.size());
  const size_t old = part.size();
  part.resize(room);
  part.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(part.data()), std::min(old, room), room));
  length = head.size();
  std::memcpy(data + field.at, &length, field.bytes);
  std::copy(body.begin(), body.end(), std::copy(head.begin(), head.end(), data + begin));
  return begin + head.size() + body.size();
}

}  // namespace sextant::fuzz
