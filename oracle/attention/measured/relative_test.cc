#include "oracle/attention/measured/relative.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "oracle/catalog/causes_test.h"
#include "oracle/property/changed_inputs.h"

namespace sextant::oracle {
namespace {

// Attention of one head in plain loops of doubles; `row` is the row of both tables at a distance,
// `first` the first key.
std::vector<std::string> CausesWith(const std::string& dtype,
                                    const std::function<int64_t(int64_t d)>& row,
                                    double cap = kInfinity, size_t first = 0) {
  constexpr size_t S = 9, T = 11, D = 8;
  const AskedCase question("relative_attention clip=4 H=1 S=9 T=11 D=8 dtype=" + dtype);
  const auto input = [&](const char* name) -> const std::vector<double>& {
    return InputNamed(question.inputs, name).data;
  };
  Tensors answer = question.CorrectAnswer();
  std::erase_if(answer, [](const NamedTensor& tensor) { return tensor.name != "y"; });
  for (size_t s = 0; s < S; ++s) {
    std::vector<double> y(D);
    double sum = 0;
    for (size_t t = first; t < T; ++t) {
      const auto r = static_cast<size_t>(row(static_cast<int64_t>(t) - static_cast<int64_t>(s)));
      double score = 0;
      for (size_t d = 0; d < D; ++d)
        score += input("q")[s * D + d] * (input("k")[t * D + d] + input("key_table")[r * D + d]);
      score /= std::sqrt(8.0);
      const double weight = std::exp(cap < kInfinity ? cap * std::tanh(score / cap) : score);
      sum += weight;
      for (size_t d = 0; d < D; ++d)
        y[d] += weight * (input("v")[t * D + d] + input("value_table")[r * D + d]);
    }
    for (size_t d = 0; d < D; ++d)
      answer[0].values.data[s * D + d] = RoundTo(question.c.dtype(), y[d] / sum);
  }
  return question.Causes(answer);
}

TEST(MeasuredRelative, NamesAnotherClip) {
  for (const char* dtype : {"f32", "bf16"}) {
    EXPECT_THAT(CausesWith(dtype, [](int64_t d) { return std::clamp<int64_t>(d, -2, 2) + 4; }),
                Contains("distances_changed (the rows of both tables are read at other distances: "
                         "those beyond 2 as 2, expected a clip of 4)"));
  }
}

TEST(MeasuredRelative, NamesDistancesWithoutASign) {
  EXPECT_THAT(
      CausesWith("f32", [](int64_t d) { return std::clamp<int64_t>(std::abs(d), -4, 4) + 4; }),
      Contains(StartsWith("distances_changed (the rows of both tables are read at other "
                          "distances: d as |d|")));
}

TEST(MeasuredRelative, NamesTwoDeviationsOfDifferentParts) {
  const auto absolute = [](int64_t d) { return std::clamp<int64_t>(std::abs(d), -4, 4) + 4; };
  for (const char* dtype : {"f32", "bf16"}) {
    EXPECT_THAT(CausesWith(dtype, absolute, 3),
                Contains(testing::AllOf(testing::HasSubstr("scores are capped at 3"),
                                        testing::HasSubstr("d as |d|"))));
    EXPECT_THAT(CausesWith(dtype, absolute, kInfinity, 1),
                Contains(testing::AllOf(testing::HasSubstr("the first key is missing"),
                                        testing::HasSubstr("d as |d|"))));
  }
}

TEST(MeasuredRelative, SaysNothingOfRightOrUnknownRows) {
  const auto right = [](int64_t d) { return std::clamp<int64_t>(d, -4, 4) + 4; };
  EXPECT_THAT(CausesWith("f32", right), IsEmpty());
  EXPECT_THAT(CausesWith("f32", [&](int64_t d) { return right(5 * d % 7); }), IsEmpty());
}

TEST(MeasuredRelative, NamesAClipOfKeysBeforeTheQuery) {
  EXPECT_THAT(
      CausesWith("f32", [](int64_t d) { return std::clamp<int64_t>(d, -2, 4) + 4; }),
      Contains("clip_changed (distances of keys before the query are clipped at 2, expected "
               "a clip of 4)"));
  EXPECT_THAT(CausesWith("f32", [](int64_t) { return int64_t{4}; }),
              Contains("clip_changed (distances are clipped at 0, expected a clip of 4)"));
}

}  // namespace
}  // namespace sextant::oracle
