// Rotary formulas with one mutation.
#pragma once

#include <optional>

#include "oracle/defect/defect.h"
#include "reference/case/operation.h"
#include "reference/rope/rope.h"
#include "reference/rope/rope_complex.h"
#include "reference/rope/rope_cos_sin.h"
#include "reference/rope/rope_frequencies.h"
#include "reference/rope/rope_given.h"
#include "reference/rope/rope_matrix.h"
#include "reference/rope/rope_rotate.h"
#include "reference/rope/rope_table.h"

namespace sextant::oracle {

// The rotated window of a head: R of its D channels, from `offset` on.
struct Head {
  Pairing pairing;
  size_t offset, R, D;
};

// The rotation of channel c: y[target] = cos_sign x[c] cos[pair] + sine_sign x[partner] sin[pair];
// y[target] = 0 if cos_sign is 0.
struct ChannelRotation {
  size_t partner, pair, target;
  int cos_sign, sine_sign;
};

// The pair of channel w of a window, and whether w is the first channel of the pair.
inline size_t PairOf(Pairing pairing, size_t w, size_t R) {
  return pairing == Pairing::kHalf ? w % (R / 2) : w / 2;
}
inline bool IsFirst(Pairing pairing, size_t w, size_t R) {
  return pairing == Pairing::kHalf ? w < R / 2 : w % 2 == 0;
}

// The correct rotation of channel c; empty outside the window, where x[c] stays unchanged.
inline std::optional<ChannelRotation> CorrectRotation(const Head& head, size_t c) {
  if (c < head.offset || c >= head.offset + head.R) return std::nullopt;
  const size_t w = c - head.offset, k = PairOf(head.pairing, w, head.R);
  const auto [first, second] = ChannelsOf(head.pairing, k, head.R);
  const bool is_first = IsFirst(head.pairing, w, head.R);
  return ChannelRotation{head.offset + (is_first ? second : first), k, c, 1, is_first ? -1 : 1};
}

struct Row {
  size_t b, s;
};

// The exponent of base^-(k/n).
struct Exponent {
  int64_t k, n;
};

// One mutation in a rotation by positions. Members with their default values change nothing.
struct RotaryMutation {
  std::string_view name{}, why{};
  std::optional<ChannelRotation> (*rotation)(const Head&, size_t c) = CorrectRotation;
  // The row of the tables for (b, h, s), with S rows per batch; null: row (b, s).
  Row (*row)(size_t b, size_t h, size_t s, size_t S) = nullptr;
  // The exponent of pair k; null: 2k/R.
  Exponent (*exponent)(int64_t k, int64_t R, int64_t D) = nullptr;
  // Frequencies are computed correctly, then stored in this format.
  std::optional<DType> frequency_format{};
  enum class Flow {
    kRight,
    kTwice,    // the rotation is applied to its own result
    kInPlace,  // the second channel of a pair reads the rotated first one
    kAdded,    // x + sin and x + cos
    kSwapped,  // cos and sin exchanged
    kCosOnly,  // the amplitude multiplies only cos
    kIterated  // the angle of each pair is computed from that of the previous pair
  } flow = Flow::kRight;
};

// Tables of R columns. The correct formula uses the first R/2, one for each pair; mutations also
// read the frequencies that follow, one for each channel.
template <class Real>
struct Tables {
  Tensor<Real> cos, sin;
};

// The following templates are instantiated for Counted and Rounded.

// The first `count` frequencies of a configuration, with the exponents of the mutation.
template <class Real>
Tensor<Real> MutatedFrequencies(const RotaryMutation& mutation, const RopeFrequencies& from,
                                size_t count, const Head& head);

template <class Real>
Tables<Real> MutatedTables(const RotaryMutation& mutation, const Tensor<double>& position,
                           const Tensor<Real>& frequencies, const Real& amplitude);

// Angles are products of the position and powers of base^(-2/R), each rounded.
template <class Real>
Tables<Real> IteratedTables(const RopeFrequencies& from, const Tensor<double>& position,
                            const Tensor<Real>& frequencies, const Real& amplitude);

template <class Real>
void Apply(const RotaryMutation& mutation, const Head& head, bool forward, const Tensor<Real>& x,
           Tables<Real> tables, Tensor<Real>& y);

// The operation with one mutation.
template <class Op>
struct Mutated;

template <>
struct Mutated<RopeRotate> : RopeRotate {
  RotaryMutation mutation;
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& cos, const Tensor<Real>& sin,
                  Tensor<Real>& y) const {
    const Head head{pairing, static_cast<size_t>(offset), 2 * cos.shape[2], x.shape[3]};
    Apply<Real>(mutation, head, direction == Direction::kForward, x, {cos, sin}, y);
  }
};

template <>
struct Mutated<RopeGiven> : RopeGiven {
  RotaryMutation mutation;
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<double>& position,
                  const Tensor<Real>& inv_freq, Tensor<Real>& y) const {
    const Head head{pairing, static_cast<size_t>(offset), 2 * inv_freq.shape[0], x.shape[3]};
    Apply<Real>(mutation, head, direction == Direction::kForward, x,
                MutatedTables(mutation, position, inv_freq, Real(attention_factor)), y);
  }
};

template <>
struct Mutated<Rope> : Rope {
  RotaryMutation mutation;
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<double>& position, Tensor<Real>& y) const {
    const auto width = static_cast<size_t>(R.value);
    const Head head{pairing, static_cast<size_t>(offset), width, x.shape[3]};
    const auto frequencies = MutatedFrequencies<Real>(mutation, Frequencies(), width, head);
    Real amplitude;
    {
      const ScopedStep at(Step::kFrequency);
      amplitude = AmplitudeOf<Real>(scaling, Frequencies().Setting());
    }
    const bool iterated = mutation.flow == RotaryMutation::Flow::kIterated;
    Apply<Real>(mutation, head, direction == Direction::kForward, x,
                iterated ? IteratedTables(Frequencies(), position, frequencies, amplitude)
                         : MutatedTables(mutation, position, frequencies, amplitude),
                y);
  }
};

template <>
struct Mutated<RopeComplex> : RopeComplex {
  RotaryMutation mutation;
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<double>& position, Tensor<Real>& y) const {
    Mutated<Rope> rope;
    static_cast<RopeAttributes&>(rope) = *this;
    rope.mutation = mutation;
    rope(x, position, y);
  }
};

// Column h of the matrix is the rotated unit vector h.
template <>
struct Mutated<RopeMatrix> : RopeMatrix {
  RotaryMutation mutation;
  template <class Real>
  void operator()(const Tensor<double>& position, Tensor<Real>& matrix) const {
    const size_t S = matrix.shape[0], width = matrix.shape[1];
    Mutated<Rope> rope;
    static_cast<RopeAttributes&>(rope) = {
        .pairing = pairing, .base = base, .scaling = scaling, .seq_len = seq_len, .R = D};
    rope.mutation = mutation;
    Tensor<Real> unit({1, width, S, width}), rotated({1, width, S, width});
    std::ranges::fill(unit.data, Real(0.0));
    for (size_t h = 0; h < width; ++h) {
      for (size_t s = 0; s < S; ++s) unit(0, h, s, h) = Real(1.0);
    }
    rope(unit, {{1, S}, position.data}, rotated);
    for (size_t s = 0; s < S; ++s) {
      for (size_t i = 0; i < width; ++i) {
        for (size_t h = 0; h < width; ++h) matrix(s, i, h) = rotated(0, h, s, i);
      }
    }
  }
};

template <>
struct Mutated<RopeFrequencies> : RopeFrequencies {
  RotaryMutation mutation;
  template <class Real>
  void operator()(Tensor<Real>& inv_freq, Tensor<Real>& attention_factor) const {
    const size_t half = inv_freq.shape[0];
    inv_freq = MutatedFrequencies<Real>(mutation, *this, half, {{}, 0, 2 * half, 2 * half});
    const ScopedStep at(Step::kFrequency);
    attention_factor() = AmplitudeOf<Real>(scaling, Setting());
  }
};

template <>
struct Mutated<RopeCosSin> : RopeCosSin {
  RotaryMutation mutation;
  template <class Real>
  void operator()(const Tensor<double>& position, Tensor<Real>& cos, Tensor<Real>& sin) const {
    const auto width = static_cast<size_t>(R.value);
    const auto frequencies =
        MutatedFrequencies<Real>(mutation, Frequencies(), width / 2, {{}, 0, width, width});
    Real amplitude;
    {
      const ScopedStep at(Step::kFrequency);
      amplitude = AmplitudeOf<Real>(scaling, Setting());
    }
    const Tables<Real> half = MutatedTables(mutation, position, frequencies, amplitude);
    Arrange(half.cos, cos);
    Arrange(half.sin, sin);
  }
};

}  // namespace sextant::oracle
