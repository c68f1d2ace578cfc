// A rotation as a subject computes it, in four factors: the channels of each pair, the positions,
// the frequencies and the gain. Each can be measured and exchanged separately. Positions are inputs
// of an operation, so a wrong position is a changed input.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "oracle/rope/measured/table_rounding.h"
#include "reference/number/tensor/tensor.h"
#include "reference/rope/scaling.h"

namespace sextant::oracle {

// The frequency of one pair: `factor` times the scaled power base^-(k/n), radians per token.
struct PairFrequency {
  int64_t k = 0, n = 1;
  int64_t scaled_as = 0;  // the pair whose scaling applies
  double factor = 1;
  size_t axis = 0;  // of the positions
};

// The two sums of a pair (i, j), with c = cos and s = sin:
//   y_i = first_cos x_i c + first_sin x_j s,  y_j = second_sin x_i s + second_cos x_j c
// Each number is 1, -1 or 0. In place, one sum reads the result of the other instead of x. Some
// heads may turn backwards: with -s for s.
struct Flow {
  int first_cos = 1, first_sin = -1, second_sin = 1, second_cos = 1;
  enum class InPlace { kNo, kSecondReadsFirst, kFirstReadsSecond } in_place = InPlace::kNo;
  enum class Backwards { kNone, kOddHeads, kEvenHeads } backwards = Backwards::kNone;
  int SignOfSine(size_t head) const {
    const bool is_odd = head % 2 == 1;
    return backwards == (is_odd ? Backwards::kOddHeads : Backwards::kEvenHeads) ? -1 : 1;
  }
  bool operator==(const Flow&) const = default;
};

// What stands in the place of (c, s).
enum class Turn {
  kRight,
  kNegated,
  kSwapped,
  kCosineNegated,
  kQuarter,
  kQuarterBack,
  // No angle tells them.
  kOnlyCosines,
  kOnlySines,
  kCosineAbsolute,
  kSineAbsolute
};

// A factor of pair k of P at position p: z^t, or z^-t for keys, with
//   z = (k/P + gamma) / (1 + gamma),  t = power (p - center) / scale_base
struct Growth {
  double gamma = 0, scale_base = 0, center = 0;
  bool is_of_key = false;
  std::vector<size_t> pairs{};      // pair k grows as pair pairs[k]; empty: as itself
  std::vector<double> powers{};     // of each pair; empty: 1
  std::vector<double> positions{};  // of all tokens [B,S]; empty: those of the angles
  size_t length = 0;                // S, of these positions
  size_t PairOf(size_t k) const { return pairs.empty() ? k : pairs[k]; }
  double PowerOf(size_t k) const { return powers.empty() ? 1 : powers[k]; }
};

// The token whose position the row of head h and token s has: s itself; (h S + s) / H, as if x were
// stored as [B,S,H,D]; or h.
enum class RowPositions { kOfToken, kOfStoredRow, kOfHead };

// A channel outside the pairs: y at `to` is `factor` times x at `from`.
struct RestChannel {
  size_t to = 0, from = 0;
  double factor = 1;
};

// The row whose x the channels outside the pairs have: their own, or another of the same batch.
enum class RestRows { kOwn, kOfFirstToken, kOfFirstHead, kOfTokenBefore };

struct RotaryModel;

// A table, or the sums of one channel of each pair, that another model computes.
struct Elsewhere {
  enum class Where { kCosine, kSine, kFirstSum, kSecondSum } where = Where::kCosine;
  std::shared_ptr<const RotaryModel> model;
  std::vector<std::vector<double>> positions;  // [axes, B S]
  size_t length = 0;                           // S
};

struct RotaryModel {
  RopeScaling scaling, amplitude_of;  // of frequencies, and of cos and sin
  RotarySetting setting;              // base, seq_len and R
  std::vector<PairFrequency> pairs;   // [P]
  // The channels of pair k in x and in y, [P]. All other channels pass unchanged, but those of
  // rest.
  std::vector<PairOfChannels> read, written;
  std::vector<RestChannel> rest{};
  RestRows rest_rows = RestRows::kOwn;
  int amplitude_power = 1;                // of the configuration's amplitude
  double gain = 1;                        // multiplies cos and sin
  double cosine_gain = 1, sine_gain = 1;  // multiply cos and sin once more
  double cosine_offset = 0, sine_offset = 0;
  bool cosine_grows = true, sine_grows = true;  // if there is a growth
  bool forward = true;
  bool adds_operand = false;  // y_i and y_j are x_i and x_j more
  std::optional<Growth> growth{};
  Flow flow{};
  Turn turn{};
  RowPositions rows = RowPositions::kOfToken;
  bool has_coordinates = false;  // positions are any real numbers
  std::optional<Elsewhere> elsewhere{};
  std::optional<TableRounding> rounding{};
  // True if a row depends on others of the case.
  bool ReadsOtherRows() const {
    return rows != RowPositions::kOfToken || rest_rows != RestRows::kOwn;
  }
};

// The following templates are instantiated for Counted and Rounded.

// [P], radians per token. `given`: frequencies [P] that replace the scaled powers, or null.
template <class Real>
Tensor<Real> ModelFrequencies(const RotaryModel& model, const Tensor<Real>* given);

template <class Real>
Real ModelAmplitude(const RotaryModel& model);

// cos and sin, [B,S,P] each, with gain and direction.
template <class Real>
struct PairTables {
  Tensor<Real> cos, sin;
  // Those of the second channels, cos and sin; empty: the same.
  std::vector<Tensor<Real>> of_second{};
};
// frequency [P]; position [B,A,S].
template <class Real>
PairTables<Real> TablesOf(const RotaryModel& model, const Tensor<Real>& frequency,
                          const Tensor<double>& position);
// The same with the tables of `elsewhere`.
template <class Real>
PairTables<Real> AllTablesOf(const RotaryModel& model, const Tensor<Real>* given,
                             const Tensor<double>& position);

// x, y [B,H,S,D]; position [B,A,S]. Requires whole tensors if the model reads other rows.
template <class Real>
void RotateAt(const RotaryModel& model, const Tensor<Real>* given, const Tensor<double>& position,
              const Tensor<Real>& x, Tensor<Real>& y);

// x, y [B,H,S,D].
template <class Real>
void Rotate(const RotaryModel& model, const PairTables<Real>& tables, const Tensor<Real>& x,
            Tensor<Real>& y);

}  // namespace sextant::oracle
