#include "tools/api/line_stream.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "reference/base/descriptor.h"

namespace sextant::tools {
namespace {

void RequireGood(const std::ostream& out, const std::string& path) {
  if (!out) ThrowUnwritable(path);
}

// Opening a pipe that nobody reads would wait for ever.
void RequireReader(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_fifo(path, ignored)) return;
  if (!Descriptor(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)).open())
    throw Error(path, " cannot be written: nobody reads this pipe");
}

}  // namespace

void ThrowUnwritable(const std::string& path) {
  if (path == "-" && errno == EPIPE) throw ClosedOutput();
  throw Error(path == "-" ? "standard output" : path, " cannot be written",
              errno != 0 ? std::string(": ") + std::strerror(errno) : "");
}

LineStream::LineStream(const std::string& path, bool may_close)
    : path_(path), may_close_(may_close) {
  if (path.empty() || IsStandardOutput()) return;
  errno = 0;
  RequireReader(path);
  file_.open(path, std::ios::binary);
  RequireGood(file_, path_);
}

void LineStream::Write(const std::string& line) {
  if (path_.empty() || is_closed_) return;
  std::ostream& out = IsStandardOutput() ? std::cout : file_;
  errno = 0;
  out << line << "\n" << std::flush;
  is_closed_ = may_close_ && IsStandardOutput() && errno == EPIPE;
  if (!is_closed_) RequireGood(out, path_);
}

}  // namespace sextant::tools
