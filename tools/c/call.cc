#include "tools/c/call.h"

#include <string>

#include "reference/base/printable.h"

namespace sextant::tools {
namespace {

thread_local std::string last_error;

}  // namespace

const char* LastError() { return last_error.c_str(); }

int Failed(int status, const char* why) noexcept {
  try {
    last_error = Marked(why);
  } catch (...) {
    last_error.clear();  // without memory there is no message
  }
  return status;
}

}  // namespace sextant::tools
