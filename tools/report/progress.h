// "proving  37 %, 12 s left" on stderr, if that is a terminal; silent otherwise.
#pragma once

#include <chrono>
#include <string>

namespace sextant::tools {

class Progress {
 public:
  explicit Progress(std::string label);
  ~Progress();                   // clears the line
  void operator()(double done);  // 0 .. 1

 private:
  std::string label_;
  bool shown_ = false;
  bool terminal_;
  std::chrono::steady_clock::time_point start_, last_;
};

// Colours for stdout: empty texts unless it is a terminal and NO_COLOR is not set.
struct Colors {
  std::string red, green, yellow, plain;
};
Colors ColorsOfOutput();

}  // namespace sextant::tools
