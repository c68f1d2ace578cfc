#include "tools/api/line_stream.h"

#include <cerrno>
#include <cstring>
#include <iostream>

namespace sextant::tools {
namespace {

void RequireGood(const std::ostream& out, const std::string& path) {
  if (!out) ThrowUnwritable(path);
}

}  // namespace

void ThrowUnwritable(const std::string& path) {
  if (path == "-" && errno == EPIPE) throw ClosedOutput();
  throw Error(path == "-" ? "standard output" : path, " cannot be written",
              errno != 0 ? std::string(": ") + std::strerror(errno) : "");
}

LineStream::LineStream(const std::string& path) : path_(path) {
  if (path.empty() || IsStandardOutput()) return;
  errno = 0;
  file_.open(path, std::ios::binary);
  RequireGood(file_, path_);
}

void LineStream::Write(const std::string& line) {
  if (path_.empty()) return;
  std::ostream& out = IsStandardOutput() ? std::cout : file_;
  errno = 0;
  out << line << "\n" << std::flush;
  RequireGood(out, path_);
}

}  // namespace sextant::tools
