#include "tools/api/time_budget.h"

#include <algorithm>

namespace sextant::tools {

void TimeBudget::Begin() {
  constexpr size_t kMostShares = 8;
  share_ = std::max(0.0, left_) / static_cast<double>(std::clamp<size_t>(cases_, 1, kMostShares));
  begin_ = std::chrono::steady_clock::now();
  paused_ = false;
}

void TimeBudget::Pause() {
  if (!paused_) left_ -= Passed();
  paused_ = true;
}

void TimeBudget::End() {
  Pause();
  if (cases_ > 0) --cases_;
}

double TimeBudget::Passed() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

}  // namespace sextant::tools
