#include "oracle/identify/rotation_window.h"

#include <algorithm>

namespace sextant::oracle {
namespace {

// The first channel that changes, and the end of the last; equal if none does.
std::pair<size_t, size_t> ChangedChannels(const std::vector<Rotated>& all) {
  size_t first = all[0].rows.width, last = 0;
  for (const auto& [rows, position] : all) {
    for (size_t i = 0; i < rows.x.size(); ++i) {
      if (SameNumber(rows.x[i], rows.y[i])) continue;
      first = std::min(first, i % rows.width);
      last = std::max(last, i % rows.width + 1);
    }
  }
  return {first, std::max(first, last)};
}

}  // namespace

std::vector<ChannelWindow> WindowsOf(const Claim& asked, const Case& c,
                                     const std::vector<Rotated>& all) {
  const auto [first, end] = ChangedChannels(all);
  const size_t D = all[0].rows.width;
  std::vector<ChannelWindow> windows;
  const auto add = [&](size_t offset, size_t R) {
    for (const Pairing pairing : {Pairing::kHalf, Pairing::kInterleaved})
      windows.push_back({pairing, offset, R});
  };
  const bool is_free = asked.contains("R") && asked.contains("offset");
  const Claim given = ClaimOf(c);
  const auto fixed = [&](const char* key, size_t other) {
    return given.contains(key) ? std::stoul(given.at(key)) : other;
  };
  if (!is_free) add(fixed("offset", 0), fixed("R", D));
  if (!is_free) return windows;
  if (D % 2 == 0) add(0, D);
  for (size_t R = 2; R <= D; R += 2) {
    for (size_t offset = 0; offset + R <= D; ++offset) {
      if (offset <= first && end <= offset + R && R < D) add(offset, R);
    }
  }
  return windows;
}

Claim WithWindow(Claim claim, const ChannelWindow& window) {
  const auto set = [&](const char* key, const std::string& text) {
    if (const auto at = claim.find(key); at != claim.end()) at->second = text;
  };
  set("pairing", PrintValue(window.pairing));
  set("R", std::to_string(window.R));
  set("offset", std::to_string(window.offset));
  return claim;
}

}  // namespace sextant::oracle
