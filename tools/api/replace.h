// Output files that appear complete or not at all.
#pragma once

#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "fixtures/store/replacement.h"

namespace sextant::tools {

// A file that a command writes at its end. The constructor creates a temporary file beside `path`,
// so that an unwritable path is an error before the work starts, and removes an old file at `path`:
// nobody mistakes it for the result of a run that ends early. Write fills the temporary file and
// renames it to `path`.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);  // empty: no file. Throws Error
  explicit operator bool() const { return file_.has_value(); }
  void Write(const std::function<void(std::ostream&)>& write);  // throws Error

 private:
  std::string path_;
  std::optional<fixtures::Replacement> file_;
};

// Throws Error if the output is a regular file that one of the arguments names as an input: FILE,
// NAME=FILE, NAME=FILE:TENSOR or KIND:FILE. Other arguments are ignored.
void RequireNoInput(const std::string& output, const std::vector<std::string>& arguments);

}  // namespace sextant::tools
