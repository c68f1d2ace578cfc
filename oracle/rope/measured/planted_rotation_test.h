// Answers with planted deviations, computed by code that shares nothing with the models, for tests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "oracle/catalog/catalog.h"
#include "oracle/defect/drawn_case_test.h"
#include "oracle/judge/judge.h"

namespace sextant::oracle {

// A rotation in plain loops, with hooks for deviations. Angles in long double; the answer is
// rounded once.
struct Plain {
  std::function<long double(long double p, size_t b, size_t s)> position = [](long double p, size_t,
                                                                              size_t) { return p; };
  std::function<long double(size_t k, size_t R)> frequency = [](size_t k, size_t R) {
    return std::pow(10000.0L, -2.0L * k / R);
  };
  std::function<std::pair<size_t, size_t>(size_t k, size_t R)> channels = [](size_t k, size_t R) {
    return std::pair(k, k + R / 2);
  };
  size_t R = 0;
  long double gain = 1;
  // Of cos alone, and of the sums that give the second channels; null: as the others.
  std::function<long double(size_t k, size_t R)> frequency_of_cos{}, frequency_of_second{};
  long double cos_more = 0;  // a summand of cos

  Tensor<double> operator()(const Tensor<double>& x, const Tensor<double>& position_of,
                            DType dtype) const {
    Tensor<double> y = x;
    const size_t B = x.shape[0], H = x.shape[1], S = x.shape[2], D = x.shape[3];
    const size_t width = R == 0 ? D : R;
    for (size_t row = 0; row < B * H * S; ++row) {
      const size_t b = row / (H * S), s = row % S;
      const long double p = position(position_of.data[b * S + s], b, s);
      for (size_t k = 0; k < width / 2; ++k) {
        const auto [i, j] = channels(k, width);
        const auto of = [&](const auto& other) { return (other ? other : frequency)(k, width); };
        const long double c = gain * std::cos(p * of(frequency_of_cos)) + cos_more,
                          d = gain * std::sin(p * frequency(k, width));
        const long double u = x.data[row * D + i], v = x.data[row * D + j];
        y.data[row * D + i] = RoundTo(dtype, static_cast<double>(u * c - v * d));
        const long double a = p * of(frequency_of_second);
        y.data[row * D + j] = RoundTo(
            dtype, static_cast<double>(frequency_of_second ? u * std::sin(a) + v * std::cos(a)
                                                           : u * d + v * c));
      }
    }
    return y;
  }
};

// "name (sentence)" of each explanation that predicts the answer.
inline std::vector<std::string> Explained(const DrawnCase& question, Tensors answer) {
  const Judge judge(question.c, question.inputs, question.recipe);
  const Observation seen{question.c,     question.inputs,   question.recipe,
                         judge.golden(), judge.permitted(), answer};
  std::vector<std::string> all;
  for (const Measurement& measure : CatalogEntryOf(question.c.name()).measurements) {
    for (const auto& [name, sentence, model] : measure(seen)) {
      if (Explains(model, question.c, question.recipe, answer))
        all.push_back(name + " (" + sentence + ")");
    }
  }
  return all;
}

inline std::vector<std::string> Explained(const std::string& line, const Plain& plain) {
  const DrawnCase question(line);
  const auto y = plain(question.inputs[0].values, question.inputs[1].values, question.c.dtype());
  return Explained(question, {{"y", question.c.dtype(), y}});
}

inline constexpr const char* kDTypes[] = {" dtype=f32", " dtype=bf16"};
inline const std::string kLong =
    "rope pairing=half H=2 D=64 @position=0..20,4095,8191,32766..32769,40000,65535,100001";

inline void ExpectNamed(const Plain& plain, const std::string& text,
                        const std::string& line = kLong) {
  for (const char* dtype : kDTypes)
    EXPECT_THAT(Explained(line + dtype, plain), testing::Contains(testing::HasSubstr(text)))
        << dtype;
}

}  // namespace sextant::oracle
