// The attributes shared by the attention operations.
#pragma once

#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "reference/attention/attention_mask.h"

namespace sextant {

// Throws Error unless K divides H, so that H query heads can share K key heads.
void CheckSharing(int64_t H, int64_t K);

// Where a bias is added, if not to the capped score.
enum class AddBias {
  kBeforeCap,    // cap(q.k scale + bias)
  kBeforeScale,  // cap((q.k + bias) scale)
};
constexpr std::array<std::string_view, 2> NamesOf(AddBias) {
  return {"before_cap", "before_scale"};
}

struct AttentionAttributes : AttentionMask {
  std::optional<double> scale{};     // unset: D^-1/2
  std::optional<double> soft_cap{};  // unset: none
  Dimension H{}, K{};
  void Visit(auto&& v) {
    v("scale", scale);
    v("soft_cap", soft_cap);
    AttentionMask::Visit(v);
    v("H", H);
    v("K", K);
  }
  void Check() const;  // throws Error

  // The key/value head that query head h reads: floor(h / (H/K)).
  size_t KeyHeadOf(size_t h) const { return h / static_cast<size_t>(H.value / K.value); }
};

}  // namespace sextant
