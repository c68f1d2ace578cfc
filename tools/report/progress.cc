#include "tools/report/progress.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "reference/base/count_text.h"

namespace sextant::tools {

using std::chrono::steady_clock;

std::string LongWait(double passed, double left) {
  constexpr double kSoon = 5, kLong = 60;  // seconds: the speed is known, and it is worth a line
  if (passed < kSoon || left < kLong) return "";
  const auto minutes = static_cast<size_t>(left / 60);
  return "more than " + CountText(minutes, "minute") + " left";
}

Progress::Progress(std::string label, std::string bound)
    : label_(std::move(label)),
      bound_(std::move(bound)),
      terminal_(isatty(STDERR_FILENO) == 1),
      last_(steady_clock::now()) {}

void Progress::Clear() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

void Progress::operator()(double done) {
  if (!terminal_ && bound_.empty()) return;
  const auto now = steady_clock::now();
  if (now - last_ < std::chrono::milliseconds(200)) return;
  last_ = now;
  if (!begun_) begun_ = {now, done};  // before, tensors were drawn and the subject answered
  const double passed = std::chrono::duration<double>(now - begun_->first).count();
  const double made = done - begun_->second;
  const double left = made > 0 ? passed / made * (1 - done) : 0;
  if (const std::string wait = LongWait(passed, left); !bound_.empty() && !wait.empty()) {
    Clear();
    std::fprintf(stderr, "sextant: %s: %s; %s\n", label_.c_str(), wait.c_str(), bound_.c_str());
    bound_.clear();
  }
  if (!terminal_) return;
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
