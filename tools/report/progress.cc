#include "tools/report/progress.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace sextant::tools {

using std::chrono::steady_clock;

Progress::Progress(std::string label)
    : label_(std::move(label)),
      terminal_(isatty(STDERR_FILENO) == 1),
      start_(steady_clock::now()),
      last_(start_) {}

void Progress::Clear() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

void Progress::operator()(double done) {
  if (!terminal_) return;
  const auto now = steady_clock::now();
  if (now - last_ < std::chrono::milliseconds(200)) return;
  last_ = now;
  const double passed = std::chrono::duration<double>(now - start_).count();
  const double left = done > 0 ? passed / done * (1 - done) : 0;
  std::fprintf(stderr, "\r\033[K%s %3.0f %%, %.0f s left", label_.c_str(), done * 100,
               std::ceil(left));
  std::fflush(stderr);
  shown_ = true;
}

Colors ColorsOfOutput() {
  const char* no_color = std::getenv("NO_COLOR");  // https://no-color.org: set and not empty
  if (isatty(STDOUT_FILENO) != 1 || (no_color && *no_color)) return {};
  return {{"\033[31m"}, {"\033[32m"}, {"\033[33m"}, {"\033[0m"}};
}

}  // namespace sextant::tools
