#include "oracle/attention/measured/cross.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "oracle/catalog/causes_test.h"
#include "oracle/property/changed_inputs.h"

namespace sextant::oracle {
namespace {

constexpr size_t kS = 8, kT = 11, kM = 20, kH = 4, kD = 6;

// Attention of one sequence to another in plain loops of doubles, with planted bugs; y alone is
// answered.
struct PlantedCross {
  const char* keys_by = "wk";
  double factor_of_bo = 1, scale = 1 / std::sqrt(6.0), zeros = 0;
  size_t first = 0;          // key
  bool interleaves = false;  // the channels of the heads
  size_t padding = 0;        // rows of 0 after memory
  size_t (*key_head)(size_t h) = [](size_t h) { return h / 2; };

  std::vector<std::string> Causes(const std::string& dtype) const {
    const AskedCase question("cross_attention S=8 T=11 M=20 H=4 K=2 D=6 dtype=" + dtype);
    const auto in = [&](const char* name) -> const std::vector<double>& {
      return InputNamed(question.inputs, name).data;
    };
    const auto projected = [&](const char* x, size_t row, const char* weight, const char* bias,
                               size_t column) {
      double sum = in(bias)[column];
      for (size_t m = 0; m < kM && row < kT; ++m)
        sum += in(x)[row * kM + m] * in(weight)[column * kM + m];
      return sum;
    };
    Tensor<double> y({kS, kM});
    for (size_t s = 0; s < kS; ++s) {
      std::vector<double> mean(kH * kD);
      for (size_t h = 0; h < kH; ++h) {
        std::vector<double> weighted(kD);
        double sum = zeros;
        for (size_t t = first; t < kT + padding; ++t) {
          double score = 0;
          for (size_t d = 0; d < kD; ++d) {
            score += projected("x", s, "wq", "bq", h * kD + d) *
                     projected("memory", t, keys_by, "bk", key_head(h) * kD + d);
          }
          const double weight = std::exp(score * scale);
          sum += weight;
          for (size_t d = 0; d < kD; ++d)
            weighted[d] += weight * projected("memory", t, "wv", "bv", key_head(h) * kD + d);
        }
        for (size_t d = 0; d < kD; ++d)
          mean[interleaves ? d * kH + h : h * kD + d] = weighted[d] / sum;
      }
      for (size_t m = 0; m < kM; ++m) {
        double sum = factor_of_bo * in("bo")[m];
        for (size_t c = 0; c < kH * kD; ++c) sum += in("wo")[m * kH * kD + c] * mean[c];
        y.data[s * kM + m] = RoundTo(question.c.dtype(), sum);
      }
    }
    return question.Causes({{"y", question.c.dtype(), y}});
  }
};

TEST(MeasuredCross, SaysNothingOfARightAnswer) {
  EXPECT_THAT(PlantedCross{}.Causes("f32"), IsEmpty());
}

TEST(MeasuredCross, NamesTwoDeviationsOfDifferentParts) {
  EXPECT_THAT(
      (PlantedCross{.keys_by = "wv", .factor_of_bo = 0}.Causes("f32")),
      Contains(AllOf(HasSubstr("wk is read from wv"), HasSubstr("the bias bo is missing"))));
  EXPECT_THAT((PlantedCross{.first = 1, .interleaves = true}.Causes("f32")),
              Contains(AllOf(HasSubstr("the first key is missing"),
                             HasSubstr("interleaved heads, expected H by D"))));
}

TEST(MeasuredCross, NamesMemoryThatIsPadded) {
  EXPECT_THAT(PlantedCross{.padding = 5}.Causes("f32"),
              Contains(AllOf(StartsWith("keys_changed (memory is padded by 5 rows of 0"),
                             HasSubstr("their keys and values are the biases"))));
  // The heads read the padding of their own key heads, too.
  EXPECT_THAT(
      (PlantedCross{.padding = 5, .key_head = [](size_t h) { return h % 2; }}.Causes("f32")),
      Contains(AllOf(HasSubstr("head h % K"), HasSubstr("memory is padded by 5 rows of 0"))));
}

}  // namespace
}  // namespace sextant::oracle
