#include "reference/base/text_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "reference/base/descriptor.h"
#include "reference/base/error.h"

namespace sextant {
namespace {

constexpr std::chrono::seconds kPatience{3};  // for the first writer of a pipe

// The number of bytes read, up to `count`; 0 at the end, also of a pipe without a writer.
size_t ReadSome(const Descriptor& file, char* to, size_t count) {
  for (;;) {
    pollfd waiting{.fd = file.get(), .events = POLLIN, .revents = 0};
    poll(&waiting, 1, 100);  // does not end for a pipe that never had a writer
    const ssize_t got = read(file.get(), to, count);
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EINTR && errno != EAGAIN) throw Error("cannot be read: ", std::strerror(errno));
  }
}

std::string ReadAll(const Descriptor& file, bool is_pipe, size_t most) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  std::string text;
  for (char block[1 << 16]; text.size() <= most;) {
    const size_t got = ReadSome(file, block, sizeof block);
    text.append(block, got);
    if (got > 0) continue;
    if (!text.empty() || !is_pipe) break;
    if (std::chrono::steady_clock::now() > end) throw Error("nobody writes into this pipe");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return text;
}

}  // namespace

std::string ReadText(const std::string& path, size_t most, const std::string& expected) {
  // Opening a pipe would wait for its writer.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (!file.open() || fstat(file.get(), &status) != 0)
    throw Error(path, ": cannot be read: ", std::strerror(errno));
  if (S_ISDIR(status.st_mode)) throw Error(path, ": is a folder, expected ", expected);
  try {
    std::string text = ReadAll(file, S_ISFIFO(status.st_mode), most);
    if (text.size() > most) throw Error("is longer than ", most >> 20, " MiB");
    return text;
  } catch (const Error& e) {
    throw Error(path, ": ", e.what(), ", expected ", expected);
  }
}

}  // namespace sextant
