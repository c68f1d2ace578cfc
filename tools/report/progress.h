// Prints "proving  37 %, 12 s left" to stderr if that is a terminal. If much time is left, it says
// once, anywhere, what bounds it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "tools/report/printable_stream.h"

namespace sextant::tools {

// "more than 4 minutes left" if that is worth saying after so many seconds, else empty.
std::string LongWait(double passed, double left);

class Progress {
 public:
  // `bound`: what a user can do if it takes long; empty: nothing.
  explicit Progress(std::string label, std::string bound = "");
  ~Progress() { Clear(); }
  void operator()(double done);  // 0 .. 1
  void Clear();                  // removes the line, before other text is printed

 private:
  std::string label_, bound_;
  bool shown_ = false;
  bool terminal_;
  std::chrono::steady_clock::time_point last_;
  // When this was first called, and with which part done.
  std::optional<std::pair<std::chrono::steady_clock::time_point, double>> begun_{};
};

// Empty unless stdout is a terminal and NO_COLOR is not set.
struct Colors {
  Color red{}, green{}, yellow{}, plain{};
};
Colors ColorsOfOutput();

}  // namespace sextant::tools
