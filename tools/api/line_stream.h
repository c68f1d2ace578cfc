// A file of lines that grows while a command works.
#pragma once

#include <fstream>
#include <string>

#include "reference/base/error.h"

namespace sextant::tools {

// Nobody reads standard output any longer: the program ends quietly.
class ClosedOutput : public Error {};
// Throws Error with the reason of errno, or ClosedOutput. "-": standard output.
[[noreturn]] void ThrowUnwritable(const std::string& path);

// Lines are written at once, also to a pipe. Unlike an OutputFile, the file is not complete before
// the end of the run; its last line must say so.
class LineStream {
 public:
  // Empty: nothing is written. "-": standard output. `may_close`: lines that nobody reads any
  // longer are no error. Throws Error if the file cannot be written.
  explicit LineStream(const std::string& path, bool may_close = false);
  explicit operator bool() const { return !path_.empty(); }
  bool IsStandardOutput() const { return path_ == "-"; }
  void Write(const std::string& line);  // without a newline at its end; throws as ThrowUnwritable

 private:
  std::string path_;
  bool may_close_, is_closed_ = false;
  std::ofstream file_;
};

}  // namespace sextant::tools
