// Prints "proving  37 %, 12 s left" to stderr if that is a terminal, else nothing.
#pragma once

#include <chrono>
#include <string>

#include "tools/report/printable_stream.h"

namespace sextant::tools {

class Progress {
 public:
  explicit Progress(std::string label);
  ~Progress() { Clear(); }
  void operator()(double done);  // 0 .. 1
  void Clear();                  // removes the line, before other text is printed

 private:
  std::string label_;
  bool shown_ = false;
  bool terminal_;
  std::chrono::steady_clock::time_point start_, last_;
};

// Empty unless stdout is a terminal and NO_COLOR is not set.
struct Colors {
  Color red{}, green{}, yellow{}, plain{};
};
Colors ColorsOfOutput();

}  // namespace sextant::tools
