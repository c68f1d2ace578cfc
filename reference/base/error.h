// The only exception for invalid input from outside (files, command lines, shapes, attributes).
// The order of a message: where, the value found, the value expected, the names that exist:
// "dimension R is 7, expected ...". Each program catches it once, in main, and exits with status 2.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace sextant {

class Error : public std::runtime_error {
 public:
  // Joins the parts; numbers are printed with 17 digits.
  template <class... Parts>
  explicit Error(const Parts&... parts) : std::runtime_error(Join(parts...)) {}

 private:
  template <class... Parts>
  static std::string Join(const Parts&... parts) {
    std::ostringstream out;
    out.imbue(std::locale::classic());
    out.precision(17);
    (out << ... << parts);
    return out.str();
  }
};

}  // namespace sextant
