// Rows of an answer that rotates channels, in one form for every operation, and the errors that a
// recipe permits in a rotation by an unknown angle.
#pragma once

#include <complex>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "oracle/rope/measured/model.h"
#include "reference/case/case.h"
#include "reference/number/recipe/recipe.h"
#include "reference/rope/scaling.h"

namespace sextant::oracle {

using Complex = std::complex<long double>;

// Rows that rotate together are the replicates of a token: its heads.
struct RotaryRows {
  size_t tokens = 0, replicates = 0, width = 0;
  std::vector<double> x, y;      // [tokens, replicates, width]
  std::vector<size_t> token_of;  // the index in [B,S] of each token
  std::vector<size_t> heads;     // [replicates]
  std::vector<double> errors{};  // that are permitted in y; empty: x has no errors
  const double* RowOfX(size_t t, size_t n) const { return &x[(t * replicates + n) * width]; }
  const double* RowOfY(size_t t, size_t n) const { return &y[(t * replicates + n) * width]; }
  // The larger of the finite ones of two channels.
  double ErrorOf(size_t t, size_t n, PairOfChannels written) const;
};

// Tensors [B,H,S,D]. Heads, or tokens, with a permitted error of NaN are left out: something else
// explains them.
struct RotatedTensors {
  const Tensor<double>&x, &y;
  const Tensor<double>* permitted = nullptr;  // null: nothing is left out
  bool x_has_errors = false;                  // it was computed: they are in those permitted in y
};
// The rows of at most `tokens` tokens, evenly spread, and of at most `replicates` heads.
RotaryRows RowsOf(const RotatedTensors& of, size_t tokens, size_t replicates);

// The error that a recipe permits in a channel of a pair that is rotated by any angle.
class RotationErrors {
 public:
  RotationErrors(const Case& c, const Recipe& recipe, double amplitude)
      : c_(c), recipe_(recipe), amplitude_(amplitude) {}
  // Of a pair whose channels are at most `magnitude`.
  double Of(double magnitude);

 private:
  double Compute(double magnitude) const;
  const Case& c_;
  const Recipe& recipe_;
  double amplitude_;
  std::map<int, double> of_exponent_;
};

// The sums of a pair that are looked at: one reads other numbers than the other in some bugs.
enum class ChannelSums { kBoth, kFirst, kSecond };
// z = c + i s, the numbers by which a pair of channels is rotated; in the right flow, y = z x.
struct PairFit {
  Complex z;
  double bar = 0;            // bound of the error of z; infinite if it is not known
  bool is_rotation = false;  // the replicates agree on z
  // Of c and of s alone; infinite if it is not known.
  double cos_bar = std::numeric_limits<double>::infinity(), sin_bar = cos_bar;
};
PairFit FitPair(const RotaryRows& rows, size_t token, PairOfChannels read, PairOfChannels written,
                const Flow& flow, RotationErrors& errors, ChannelSums sums = ChannelSums::kBoth);

// The fits of all pairs at all tokens, [tokens, pairs].
struct PairFits {
  size_t tokens = 0, pairs = 0;
  std::vector<PairFit> of;
  const PairFit& operator()(size_t t, size_t k) const { return of[t * pairs + k]; }
};

}  // namespace sextant::oracle
