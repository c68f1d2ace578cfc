// The attributes shared by the operations that rotate by positions under a configuration.
#pragma once

#include "reference/rope/rope_frequencies.h"
#include "reference/rope/rope_rotate.h"

namespace sextant {

struct RopeAttributes {
  Pairing pairing{};
  double base = 10000;
  RopeScaling scaling{};
  std::optional<int64_t> seq_len{};
  int64_t offset = 0;
  Direction direction = Direction::kForward;
  Dimension D{}, R{};
  void Visit(auto&& v) {
    v("pairing", pairing, kRequired);
    VisitUnpaired(v);
  }
  // All attributes but `pairing`, for operations with a fixed pairing.
  void VisitUnpaired(auto&& v) {
    v("base", base);
    v("scaling", scaling);
    v("seq_len", seq_len);
    v("offset", offset);
    v("direction", direction);
    v("D", D);
    v("R", R);
  }
  void Check() const {
    Frequencies().Check();
    Rotation().Check();
  }

  RopeFrequencies Frequencies() const {
    return {.base = base, .scaling = scaling, .seq_len = seq_len, .R = R};
  }
  RotarySetting Setting() const { return Frequencies().Setting(); }
  RopeRotate Rotation() const {
    return {.pairing = pairing, .offset = offset, .direction = direction, .D = D, .R = R};
  }
};

}  // namespace sextant
