// An online softmax that forgets to rescale earlier tiles of keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/attention/measured/attention.h"
#include "oracle/attention/measured/planted_attention_test.h"

namespace sextant::oracle {
namespace {

// Each key's weight is relative to the largest score up to the end of its tile.
struct TiledAttention {
  size_t tile;
  bool rescales = false;

  Tensors Answer(const Case& c, const Tensors& in) const {
    const PlantedAttention planted{.scale = 0.25};
    const Shape &q = in[0].values.shape, &v = in[2].values.shape;
    Tensor<double> y({q[0], q[1], q[2], v[3]});
    for (size_t i = 0; i < y.data.size(); ++i) {
      const size_t e = i % v[3], s = i / v[3] % q[2], h = i / v[3] / q[2];
      std::vector<double> scores;
      for (size_t t = 0; t < v[2]; ++t) scores.push_back(planted.Score(in, 0, h, s, t));
      double sum = 0, weighted = 0;
      for (size_t t = 0; t < v[2]; ++t) {
        const size_t end = rescales ? v[2] : std::min(v[2], (t / tile + 1) * tile);
        const double largest = *std::max_element(scores.data(), scores.data() + end);
        const double weight = std::exp(scores[t] - largest);
        sum += weight;
        weighted += weight * in[2].values.data[(h * v[2] + t) * v[3] + e];
      }
      y.data[i] = RoundTo(c.dtype(), weighted / sum);
    }
    return {{"y", c.dtype(), y}};
  }
};

std::vector<std::string> CausesOf(const std::string& dtype, const TiledAttention& planted) {
  const AskedCase question("attention H=3 K=3 S=8 T=45 D=16 E=6 dtype=" + dtype);
  return question.Causes(planted.Answer(question.c, question.inputs));
}

TEST(MeasuredTiles, AreNamedWithTheirSize) {
  for (const char* const dtype : {"f32", "bf16"}) {
    for (const size_t tile : {8, 16}) {
      SCOPED_TRACE(dtype + std::to_string(tile));
      EXPECT_THAT(
          CausesOf(dtype, {.tile = tile}),
          Contains("tiles_not_rescaled (the weights of each tile of " + std::to_string(tile) +
                   " keys are relative to the largest score up to it: they are not "
                   "rescaled)"));
    }
  }
}

// A tile of 12 keys is not among those that are tried: no other size is said.
TEST(MeasuredTiles, OfAnotherSizeAreNotNamed) {
  EXPECT_THAT(CausesOf("f32", {.tile = 12}), Not(Contains(StartsWith("tiles_not_rescaled"))));
}

TEST(MeasuredTiles, ThatAreRescaledAreRight) {
  EXPECT_THAT(CausesOf("f32", {.tile = 8, .rescales = true}), IsEmpty());
}

}  // namespace
}  // namespace sextant::oracle
