// Files that a reader never sees half written.
#pragma once

#include <functional>
#include <optional>
#include <ostream>
#include <string>

#include "fixtures/store/replacement.h"

namespace sextant::tools {

// A file that a command was asked to write at its end. It is made beside `path` at once, so that
// what cannot be written is known before the work; Write renames.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);  // empty: none was asked for. Throws Error
  explicit operator bool() const { return file_.has_value(); }
  void Write(const std::function<void(std::ostream&)>& write);  // throws Error

 private:
  std::string path_;
  std::optional<fixtures::Replacement> file_;
};

}  // namespace sextant::tools
