// What the fuzzers share: which exceptions are right, and the input as a file.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "reference/base/error.h"
#include "reference/number/tensor/tensor.h"

namespace sextant::fuzz {

// Bad input is refused with Error. Any other exception ends the fuzzer, which is a finding.
template <class Work>
void MayRefuse(const Work& work) {
  try {
    work();
  } catch (const Error&) {
  }
}

// Ends the fuzzer unless a property holds.
inline void Require(bool holds) {
  if (!holds) std::abort();
}

inline std::string_view TextOf(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// At most so many elements are read or drawn, so that an input takes milliseconds.
inline constexpr size_t kMostElements = size_t{1} << 16;
inline bool IsSmall(const Shape& shape) {
  size_t count = 1;
  for (const size_t extent : shape) {
    if (extent > kMostElements || (count *= extent) > kMostElements) return false;
  }
  return true;
}

// A file in the folder for temporary files, for parsers that read one; removed at the end.
class InputFile {
 public:
  // The name may have a folder before it.
  explicit InputFile(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / (std::to_string(getpid()) + "-" + name)) {
    std::filesystem::create_directories(path_.parent_path());
  }
  ~InputFile() { std::filesystem::remove(path_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // Writes the file anew; returns its path.
  std::string With(std::string_view bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
    return path_.string();
  }

 private:
  const std::filesystem::path path_;
};

}  // namespace sextant::fuzz
