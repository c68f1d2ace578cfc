// Structs of the C interfaces begin with their size, so that newer callers may have more members.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "reference/base/error.h"

namespace sextant::tools {

inline constexpr size_t kMostStructBytes = 4096;

// The members of `given` that this program knows. Members beyond `least` bytes may be missing, and
// are 0 then. Throws Error if others are missing, or if a member that this program does not know is
// not 0. `what` names the struct: "the options".
template <class Struct>
Struct KnownMembers(const Struct& given, const char* what, const char* type,
                    size_t least = sizeof(Struct)) {
  const size_t size = given.struct_size;
  if (size < least || size > kMostStructBytes || size % alignof(Struct) != 0) {
    throw Error("struct_size of ", what, " is ", size, ", expected sizeof(", type, "), ",
                sizeof(Struct));
  }
  const std::string_view bytes(reinterpret_cast<const char*>(&given), size);
  const size_t unknown = bytes.find_first_not_of('\0', sizeof(Struct));
  if (unknown != bytes.npos)
    throw Error("unknown member at byte ", unknown, " of ", what, ", expected 0");
  Struct known{};
  std::memcpy(&known, &given, std::min(size, sizeof known));
  return known;
}

}  // namespace sextant::tools
