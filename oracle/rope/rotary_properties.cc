#include "oracle/rope/rotary_properties.h"

#include <cmath>

#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"
#include "oracle/rope/any_angle.h"
#include "reference/case/operations.h"

namespace sextant::oracle {

Case AsRope(const Case& c) {
  const auto rope = MakeOperationNamed("rope");
  std::string line = "rope";
  for (const Attribute& a : c.operation().Attributes()) {
    if (!a.dimension && !a.text.empty() && Case::Has(*rope, a.name)) {
      line += " " + a.name + "=" + a.text;
    }
  }
  const Shape x = c.ShapeOf(c.signature().inputs[0]);
  const std::string letters = "BHSD";
  for (size_t i = 0; i < letters.size(); ++i) {
    line += std::string(" ") + letters[i] + "=" + std::to_string(x[i]);
  }
  return Case::Parse(line + " R=" + std::to_string(ExtentOf(c, "R")) +
                     " dtype=" + std::string(NameOf(c.dtype())));
}

namespace {

Tensors WithX(Tensors inputs, const Tensor<double>& x) {
  inputs[0].values = x;
  return inputs;
}

Case InDirection(const Case& c, bool forward) {
  return c.With(forward ? "direction=forward" : "direction=transpose");
}

// Rotates the answer `first` again, with its permitted errors: after a rotation, errors e and f of
// a pair are at most amplitude (e + f) in each channel.
class RotatedAgain {
 public:
  RotatedAgain(const Case& c, const Tensors& inputs, const Response& first, const Ask& ask)
      : window_(c),
        first_(first),
        again_(AskAtAnyAngle(c, WithX(inputs, first.outputs[0].values), ask)) {}
  Measured operator()(size_t r, size_t k, bool of_second) const {
    const auto [i, j] = window_.Pair(r, k);
    const size_t at = of_second ? j : i;
    // Any answer is permitted for an input of NaN. Return the first NaN, so that the property
    // fails.
    for (const size_t channel : {i, j}) {
      if (std::isnan(first_(0, channel).value())) return first_(0, channel);
    }
    const double carried = first_(0, i).error() + first_(0, j).error();
    return again_(0, at) +
           Measured(0, std::abs(window_.amplitude.value()) * carried * (1 + 0x1p-50));
  }

 private:
  Window window_;
  const Response& first_;
  Response again_;
};

Comparisons CheckRotaryZero(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Window window(c);
  const Response y = ask(c, WithPositions(inputs, [](double) { return 0; }));
  return EachEqual(y, [&](size_t i) {
    const Measured x = inputs[0].values.data[i];
    return window.Holds(i % window.width) ? x * window.amplitude : x;
  });
}

Comparisons CheckRotaryLength(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Window window(c);
  const Measured a = window.amplitude;
  const Response y = AskAtAnyAngle(c, inputs, ask);
  const auto x = [&](size_t i) { return Measured(inputs[0].values.data[i]); };
  Comparisons comparisons;
  window.ForEachPair([&](size_t, size_t, size_t i, size_t j) {
    comparisons.Equal(y(0, i) * y(0, i) + y(0, j) * y(0, j), a * a * (x(i) * x(i) + x(j) * x(j)),
                      {y, 0, i});
  });
  return comparisons;
}

// R_m^T R_n = a R_(n-m); for m = n this is the identity times a^2.
Comparisons CheckComposition(const Case& c, const Tensors& inputs, const Ask& ask, double m,
                             bool same) {
  const Window window(c);
  const Response forward = AskAtAnyAngle(InDirection(c, true), inputs, ask);
  const auto moved = [&](double n) { return same ? n : m; };
  const RotatedAgain back(InDirection(c, false), WithPositions(inputs, moved), forward, ask);
  const Response between =
      ask(InDirection(c, true), WithPositions(inputs, [&](double n) { return same ? 0 : n - m; }));
  Comparisons comparisons;
  window.ForEachPair([&](size_t r, size_t k, size_t i, size_t j) {
    comparisons.Equal(back(r, k, false), between(0, i) * window.amplitude, {between, 0, i});
    comparisons.Equal(back(r, k, true), between(0, j) * window.amplitude, {between, 0, j});
  });
  return comparisons;
}

// R_m R_n = R_n R_m, here for m = 7.
Comparisons CheckRotaryOrder(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Window window(c);
  const Tensors by_seven = WithPositions(inputs, [](double) { return 7; });
  const Response n = AskAtAnyAngle(c, inputs, ask), m = AskAtAnyAngle(c, by_seven, ask);
  const RotatedAgain n_then_m(c, by_seven, n, ask), m_then_n(c, inputs, m, ask);
  Comparisons comparisons;
  window.ForEachPair([&](size_t r, size_t k, size_t i, size_t j) {
    comparisons.Equal(n_then_m(r, k, false), m_then_n(r, k, false), {n, 0, i});
    comparisons.Equal(n_then_m(r, k, true), m_then_n(r, k, true), {n, 0, j});
  });
  return comparisons;
}

// q at m and k at n are the first two rows of every head. Both positions are shifted by 1000.
Comparisons CheckRotaryDistance(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Window window(c);
  const size_t length = inputs[0].values.shape[2];
  Comparisons comparisons;
  if (length < 2) return comparisons;
  const Response here = ask(c, inputs);
  const Response there = ask(c, WithPositions(inputs, [](double p) { return p + 1000; }));
  for (size_t r = 0; r < window.rows; r += length) {
    Measured score_here = 0, score_there = 0;
    for (size_t channel = 0; channel < window.width; ++channel) {
      const size_t q = window.Row(r) + channel, k = window.Row(r + 1) + channel;
      score_here = score_here + here(0, q) * here(0, k);
      score_there = score_there + there(0, q) * there(0, k);
    }
    comparisons.Equal(score_here, score_there, {here, 0, window.Row(r)});
  }
  return comparisons;
}

// At position 1 a frequency f <= 1 rotates (1, 0) to (cos f, sin f), both at least 0. For f = 1 the
// angle exceeds pi / 4, so the sine is at least the cosine.
Comparisons CheckRotarySign(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Window window(c);
  Comparisons comparisons;
  if (NumberOf(c, "base", 2) < 1) return comparisons;
  Tensors one = WithPositions(inputs, [](double) { return 1; });
  std::vector<double>& x = one[0].values.data;
  std::ranges::fill(x, 0);
  for (size_t r = 0; r < window.rows; ++r) {
    for (size_t k = 0; k < window.pairs; ++k) x[window.Pair(r, k).first] = 1;
  }
  const Response y = ask(c, one);
  const bool forward = TextOf(c, "direction") != "transpose";
  const bool given = TextOf(c, "base").empty();
  const bool radian =
      given ? InputNamed(one, "inv_freq").data[0] == 1 : TextOf(c, "scaling") == "none";
  window.ForEachPair([&](size_t, size_t k, size_t i, size_t j) {
    const Measured sine = forward ? y(0, j) : -y(0, j);
    comparisons.AtMost(0, y(0, i), {y, 0, i});
    comparisons.AtMost(radian && k == 0 ? y(0, i) : 0, sine, {y, 0, j});
  });
  return comparisons;
}

}  // namespace

Property ChannelsOutsidePass() {
  return {"channels_outside_pass", "channels outside the rotated window do not change",
          [](const Case& c, const Tensors& inputs, const Ask& ask) {
            const Window window(c);
            const Response y = ask(c, inputs);
            Comparisons comparisons;
            for (size_t i = 0; i < y.size(); ++i) {
              if (window.Holds(i % window.width)) continue;
              comparisons.Equal(y(0, i), inputs[0].values.data[i], {y, 0, i});
            }
            return comparisons;
          }};
}

Property LinearInX() {
  return {"linear_in_x", "-2 x gives -2 y",
          [](const Case& c, const Tensors& inputs, const Ask& ask) {
            Comparisons comparisons;
            ExpectProportional(ask(c, WithX(inputs, Times(inputs[0].values, -2))), -2,
                               ask(c, inputs), comparisons);
            return comparisons;
          }};
}

// P permutes interleaved channels to half order: R_half P x = P R_interleaved x.
Property PairingsAgree() {
  return {"pairings_agree",
          "both pairings are the same rotation up to a permutation of the channels",
          [](const Case& c, const Tensors& inputs, const Ask& ask) {
            const Case half = c.With("pairing=half"), neighbours = c.With("pairing=interleaved");
            const Window to(half), from(neighbours);
            Tensor<double> permuted = inputs[0].values;
            for (size_t r = 0; r < to.rows; ++r) {
              for (size_t k = 0; k < to.pairs; ++k) {
                permuted.data[to.Pair(r, k).first] = inputs[0].values.data[from.Pair(r, k).first];
                permuted.data[to.Pair(r, k).second] = inputs[0].values.data[from.Pair(r, k).second];
              }
            }
            const Response a = ask(half, WithX(inputs, permuted)), b = ask(neighbours, inputs);
            Comparisons comparisons;
            to.ForEachPair([&](size_t r, size_t k, size_t i, size_t j) {
              const auto [i2, j2] = from.Pair(r, k);
              comparisons.Equal(a(0, i), b(0, i2), {a, 0, i});
              comparisons.Equal(a(0, j), b(0, j2), {a, 0, j});
            });
            return comparisons;
          }};
}

std::vector<Property> PropertiesOfPositions() {
  return {
      {"identity_at_position_zero", "at position 0 nothing rotates", CheckRotaryZero},
      {"keeps_length", "the length of every pair of channels is multiplied by the amplitude alone",
       CheckRotaryLength},
      {"transpose_rotates_back",
       "rotation and transpose together multiply x by the squared amplitude",
       [](const Case& c, const Tensors& inputs, const Ask& ask) {
         return CheckComposition(c, inputs, ask, 0, true);
       }},
      {"angles_add", "rotating by n and back by m equals rotating by n - m",
       [](const Case& c, const Tensors& inputs, const Ask& ask) {
         return CheckComposition(c, inputs, ask, 7, false);
       }},
      {"order_does_not_matter", "rotating by n and then by m equals rotating by m and then by n",
       CheckRotaryOrder},
      {"distance_alone_counts",
       "shifting both positions by the same distance does not change a score", CheckRotaryDistance},
      {"rotates_from_first_to_second",
       "a positive position rotates the first channel of a pair towards the second",
       CheckRotarySign},
      ChannelsOutsidePass(),
      LinearInX(),
  };
}

}  // namespace sextant::oracle
