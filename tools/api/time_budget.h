// Deals the seconds of a run to its cases.
#pragma once

#include <chrono>
#include <cstddef>

namespace sextant::tools {

// The next case has an equal share of the time that is left, or an eighth of it if that is more:
// most cases of a long file need far less than their share. Half of the share is for the proof; the
// rest is for comparing the answer with it, and for the causes of a failure. Time outside of
// Begin and End does not count: the subject's own.
class TimeBudget {
 public:
  TimeBudget(double seconds, size_t cases) : left_(seconds), cases_(cases) {}
  void Begin();  // a case, or what follows after a pause
  void Pause();
  void End();  // after Begin or Pause
  // May be called from any thread, between Begin and End.
  bool HasTimeForProof() const { return Passed() < share_ / 2; }
  bool HasTime() const { return Passed() < share_; }

 private:
  double Passed() const;  // seconds since Begin

  double left_, share_ = 0;
  size_t cases_;
  bool paused_ = true;
  std::chrono::steady_clock::time_point begin_{};
};

}  // namespace sextant::tools
