// The floating-point environment of code that is called by, or calls, code of others.
#pragma once

#include <cfenv>

namespace sextant::tools {

// While it lives, this thread rounds to nearest and does not flush subnormal numbers, whatever was
// set before: proofs, error bounds and the parsing of numbers rely on it.
class ScopedFloatingPoint {
 public:
  ScopedFloatingPoint() {
    std::fegetenv(&others_);
    std::fesetenv(FE_DFL_ENV);
  }
  // This thread has `environment`, for code of others that is called.
  explicit ScopedFloatingPoint(const std::fenv_t& environment) {
    std::fegetenv(&others_);
    std::fesetenv(&environment);
  }
  ~ScopedFloatingPoint() { std::fesetenv(&others_); }
  ScopedFloatingPoint(const ScopedFloatingPoint&) = delete;
  ScopedFloatingPoint& operator=(const ScopedFloatingPoint&) = delete;
  const std::fenv_t& others() const { return others_; }  // what was set before

 private:
  std::fenv_t others_;
};

}  // namespace sextant::tools
