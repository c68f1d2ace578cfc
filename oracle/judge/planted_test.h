// Answers planted at the border of the permitted error, for tests of the judge.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "oracle/judge/judge.h"
#include "reference/case/random_test.h"
#include "reference/number/exact/interval.h"

namespace sextant::oracle {

inline constexpr size_t kPlaces = 24;  // of a case

// With enough bits for exact sums of doubles, MPFR decides without a rounding.
inline constexpr int kExactBits = 4400;

// |y - (high + low)| <= permitted + radius.
inline bool IsInside(const GoldenTensor& g, double permitted, size_t i, double y) {
  const ScopedPrecision exact(kExactBits);
  Interval error = Interval(y) - Interval(g.high.data[i]) - Interval(g.low.data[i]);
  if (!(y >= g.high.data[i])) error = Interval(0.0) - error;  // |low| is smaller than the distance
  const Interval beyond = error - Interval(permitted) - Interval(g.radius.data[i]);
  return Middle(beyond) <= 0;
}

// The last number of the dtype inside of the permitted error, on that side of the exact value, and
// the next one.
struct Border {
  double inside, outside;
};
inline std::optional<Border> BorderOf(const GoldenTensor& g, double permitted, size_t i,
                                      bool above) {
  if (g.bitwise && g.value.data[i] == 0) return std::nullopt;  // its neighbour has no sign
  if (g.dtype == DType::kI64) return std::nullopt;             // an index is judged beside others
  const auto next = above ? NextUp : NextDown;
  const auto before = above ? NextDown : NextUp;
  const double bound = permitted + g.radius.data[i];
  double y = RoundTo(g.dtype, above ? g.high.data[i] + bound : g.high.data[i] - bound);
  if (!std::isfinite(bound) || !std::isfinite(y)) return std::nullopt;
  while (!IsInside(g, permitted, i, y)) {
    if (above ? y < g.high.data[i] : y > g.high.data[i]) return std::nullopt;  // none is inside
    y = before(g.dtype, y);
  }
  while (std::isfinite(next(g.dtype, y)) && IsInside(g, permitted, i, next(g.dtype, y)))
    y = next(g.dtype, y);
  if (!std::isfinite(next(g.dtype, y))) return std::nullopt;
  return Border{y, next(g.dtype, y)};
}

// An answer of rounded exact values, with numbers at the border at places chosen by chance.
struct Planted {
  Planted(const ProvenAndPermitted& reference, Random& random) {
    for (const GoldenTensor& g : reference.golden) {
      inside.push_back({g.name, g.dtype, g.value});
      for (double& y : inside.back().values.data) y = std::isnan(y) && !g.bitwise ? 0 : y;
    }
    outside = inside;
    for (size_t n = 0; n < kPlaces; ++n) {
      const size_t o = random.Below(inside.size());
      if (inside[o].values.data.empty()) continue;
      const size_t i = random.Below(inside[o].values.data.size());
      const auto border = BorderOf(reference.golden[o], reference.permitted[o].error.data[i], i,
                                   random.Below(2) == 1);
      if (!border || outside[o].values.data[i] != inside[o].values.data[i]) continue;
      inside[o].values.data[i] = border->inside;
      outside[o].values.data[i] = border->outside;
      places.push_back(IndexText(inside[o].name, inside[o].values.shape, i));
    }
  }
  Tensors inside, outside;
  std::vector<std::string> places;  // distinct
};

// Operations on elements, norms, sums of products, softmax, tables.
inline const std::vector<std::string> kPlantedLines = {
    "rope pairing=half H=2 S=5 D=8 @position=0,1,77,8191,100000",
    "rope_table B=1 R=8 S=5 @position=0,1,77,8191,100000",
    "rope_frequencies R=32 base=500000",
    "rms_norm N=3 M=20",
    "layer_norm N=3 M=20",
    "softmax N=3 M=20 @x=normal(8)",
    "linear N=3 M=40 F=8",
    "activation kind=gelu N=4 F=16 @x=normal(4)",
    "gated kind=swiglu N=4 F=16",
    "attention H=2 K=1 S=4 T=6 D=8 mask=causal",
};

}  // namespace sextant::oracle
