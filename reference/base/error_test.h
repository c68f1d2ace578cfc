// The message of an Error, for tests.
#pragma once

#include <string>

#include "reference/base/error.h"

namespace sextant {

// The message of the Error that `work` throws; "" if it throws none.
std::string MessageOf(const auto& work) {
  try {
    work();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace sextant
