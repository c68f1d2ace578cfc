// Reads text from outside: a file, or a pipe.
#pragma once

#include <cstddef>
#include <string>

namespace sextant {

// All bytes. `expected` says in errors what the text should be: "a file of case lines". Throws
// Error that begins with the path if it cannot be read, is a folder, has more than `most` bytes
// (/dev/zero has), or is a pipe for which no writer comes in three seconds.
std::string ReadText(const std::string& path, size_t most, const std::string& expected);

}  // namespace sextant
