#include "oracle/rope/measured_rotation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>

#include "oracle/catalog/catalog.h"
#include "oracle/catalog/causes.h"
#include "oracle/defect/drawn_case_test.h"
#include "oracle/judge/judge.h"
#include "reference/rope/rotated_channels.h"

namespace sextant::oracle {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

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
        const long double a = p * frequency(k, width), c = gain * std::cos(a),
                          d = gain * std::sin(a);
        const long double u = x.data[row * D + i], v = x.data[row * D + j];
        y.data[row * D + i] = RoundTo(dtype, static_cast<double>(u * c - v * d));
        y.data[row * D + j] = RoundTo(dtype, static_cast<double>(u * d + v * c));
      }
    }
    return y;
  }
};

// "name (sentence)" of each explanation that predicts the answer.
std::vector<std::string> Explained(const DrawnCase& question, Tensors answer) {
  const Judge judge(question.c, question.inputs, question.recipe);
  const Observation seen{question.c,     question.inputs,   question.recipe,
                         judge.golden(), judge.permitted(), answer};
  std::vector<std::string> all;
  for (const Measurement& measure : CatalogEntryOf(question.c.name()).measurements) {
    for (const auto& [name, sentence, model] : measure(seen)) {
      const bool predicts = Explains(model, question.c, question.recipe, answer);
      all.push_back(name + " (" + sentence + ")" + (predicts ? "" : " REFUTED"));
    }
  }
  return all;
}

std::vector<std::string> Explained(const std::string& line, const Plain& plain) {
  const DrawnCase question(line);
  const auto y = plain(question.inputs[0].values, question.inputs[1].values, question.c.dtype());
  return Explained(question, {{"y", question.c.dtype(), y}});
}

const char* const kDTypes[] = {" dtype=f32", " dtype=bf16"};
const std::string kLong =
    "rope pairing=half H=2 D=64 @position=0..20,4095,8191,32766..32769,40000,65535,100001";

void ExpectNamed(const Plain& plain, const std::string& text, const std::string& line = kLong) {
  for (const char* dtype : kDTypes)
    EXPECT_THAT(Explained(line + dtype, plain), Contains(HasSubstr(text))) << dtype;
}

TEST(MeasuredRotation, NamesPositions) {
  using P = long double;
  const std::pair<std::string, std::function<P(P, size_t, size_t)>> forms[] = {
      {"position_clamped (positions above 32767 act as 32767 (5 of 5 such tokens))",
       [](P p, size_t, size_t) { return std::min(p, P(32767)); }},
      {"position_clamped (positions above 12345 act as 12345",
       [](P p, size_t, size_t) { return std::min(p, P(12345)); }},
      {"position_wrapped (positions start again at 0 after 4999",
       [](P p, size_t, size_t) { return std::fmod(p, P(5000)); }},
      {"position_shifted (every token acts as its position + 17",
       [](P p, size_t, size_t) { return p + 17; }},
      {"position_constant (every token acts as position 42)",
       [](P, size_t, size_t) { return P(42); }},
      {"position_zero", [](P, size_t, size_t) { return P(0); }},
      {"position_shifted_from (positions from 4095 on act as 1 more",
       [](P p, size_t, size_t) { return p > 3000 ? p + 1 : p; }},
      {"position_is_index", [](P, size_t, size_t s) { return P(s); }},
      {"position_starts_again (positions start again at 0 from token 7 on",
       [](P p, size_t, size_t s) { return s < 7 ? p : P(s - 7); }},
      {"position_divided (positions are divided by 5 and rounded down",
       [](P p, size_t, size_t) { return std::floor(p / 5); }},
      {"positions_in_16_bits", [](P p, size_t, size_t) { return P(int16_t(int32_t(p))); }},
      {"position_divided (positions are divided by 8 and rounded down",
       [](P p, size_t, size_t) { return std::floor(p / 8); }},
      {"position_of_block (positions act as the multiple of 16 below",
       [](P p, size_t, size_t) { return std::floor(p / 16) * 16; }},
      {"position_rounded (positions are rounded to 10 significant bits",
       [](P p, size_t, size_t) {
         return p < 1024 ? p
                         : std::ldexp(std::nearbyint(std::ldexp(p, 9 - std::ilogb(p))),
                                      std::ilogb(p) - 9);
       }},
  };
  for (const auto& [text, position] : forms) ExpectNamed({.position = position}, text);
}

TEST(MeasuredRotation, NamesFrequencies) {
  using F = long double;
  const auto right = [](size_t k, size_t R) { return std::pow(F(10000), -F(2) * k / R); };
  const std::pair<std::string, std::function<F(size_t, size_t)>> forms[] = {
      {"base = 12345, expected 10000",
       [](size_t k, size_t R) { return std::pow(F(12345), -F(2) * k / R); }},
      {"frequency_exponent (frequencies are base^-(2k/80), expected base^-(2k/64)",
       [](size_t k, size_t) { return std::pow(F(10000), -F(2) * k / 80); }},
      {"frequency_exponent (frequencies are base^-((2k + 1)/66)",
       [](size_t k, size_t) { return std::pow(F(10000), -F(2 * k + 1) / 66); }},
      {"turns_backwards", [=](size_t k, size_t R) { return -right(k, R); }},
      {"frequency_factor (all angles are 0.25 of",
       [=](size_t k, size_t R) { return right(k, R) / 4; }},
      {"pairs 20 to 31 turn at 0.125",
       [=](size_t k, size_t R) { return k < 20 ? right(k, R) : right(k, R) / 8; }},
      {"pairs 0 to 4 turn at 3 of",
       [=](size_t k, size_t R) { return k < 5 ? 3 * right(k, R) : right(k, R); }},
      {"frequencies_reversed", [=](size_t k, size_t R) { return right(R / 2 - 1 - k, R); }},
      {"pair k mod 8", [=](size_t k, size_t R) { return right(k % 8, R); }},
      {"pair 5 turns at 0.5",
       [=](size_t k, size_t R) { return k == 5 ? right(k, R) / 2 : right(k, R); }},
  };
  for (const auto& [text, frequency] : forms) ExpectNamed({.frequency = frequency}, text);
  ExpectNamed(
      {.frequency = [=](size_t k, size_t R) { return k == 3 ? -right(k, R) : right(k, R); }},
      "pair 3 turns at -1 of");
  ExpectNamed({.frequency = [=](size_t k, size_t R) { return k == 31 ? 0 : right(k, R); }},
              "pair 31 turns at frequency 0: not rotated");
  ExpectNamed({.frequency = [=](size_t k, size_t R) { return right((k + 3) % 32, R); }},
              "pair k has the frequency of pair (k + 3) mod 32");
  ExpectNamed({.frequency = [=](size_t k, size_t R) { return std::pow(F(9990), -F(2) * k / R); }},
              "base = 9990");
}

TEST(MeasuredRotation, NamesAParameterOfAScaling) {
  const auto llama3 = [](double low) {
    return [low](size_t k, size_t R) {
      const long double f = std::pow(10000.0L, -2.0L * k / R), turns = 8192 * f / (2 * M_PIl);
      const long double m = std::clamp((turns - low) / (4 - low), 0.0L, 1.0L);
      return (1 - m) * f / 8 + m * f;
    };
  };
  ExpectNamed({.frequency = llama3(2)}, "low_freq_factor = 2, expected 1",
              "rope pairing=half H=2 D=64 scaling=llama3(factor=8) @position=0..20,4095,8191");
}

TEST(MeasuredRotation, NamesLayouts) {
  using C = std::pair<size_t, size_t>;
  ExpectNamed({.channels = [](size_t k, size_t) { return C(2 * k, 2 * k + 1); }},
              "pairing_interleaved");
  ExpectNamed({.channels = [](size_t k, size_t R) { return C(R / 2 + k, k); }}, "turns_backwards");
  ExpectNamed({.R = 48}, "rotary_width (pair k is channels (0 + k, 24 + k), k < 24");
  ExpectNamed(
      {.channels = [](size_t k, size_t R) { return C(64 - R + k, 64 - R / 2 + k); }, .R = 32},
      "channels (32 + k, 48 + k), k < 16");
}

TEST(MeasuredRotation, NamesGains) {
  ExpectNamed({.gain = 1.25}, "gain (every pair is multiplied by 1.25");
}

// y = M x for each pair, with any matrix [[a, b], [c, d]] of cos and sin.
using Matrix = std::array<long double, 4>;
void ExpectNamed(const std::function<Matrix(long double c, long double s)>& matrix, bool in_place,
                 const std::string& text) {
  for (const char* dtype : kDTypes) {
    const DrawnCase question(kLong + dtype);
    Tensor<double> y = question.inputs[0].values;
    for (size_t i = 0; i < y.data.size(); ++i) {
      const size_t D = 64, S = 30, k = i % D;
      if (k >= D / 2) continue;
      const long double p = question.inputs[1].values.data[i / D % S],
                        a = p * std::pow(10000.0L, -2.0L * k / D);
      const auto [ii, ij, ji, jj] = matrix(std::cos(a), std::sin(a));
      const long double u = y.data[i], v = y.data[i + D / 2];
      y.data[i] = RoundTo(question.c.dtype(), static_cast<double>(ii * u + ij * v));
      y.data[i + D / 2] = RoundTo(question.c.dtype(),
                                  static_cast<double>(ji * (in_place ? y.data[i] : u) + jj * v));
    }
    EXPECT_THAT(Explained(question, {{"y", question.c.dtype(), y}}), Contains(HasSubstr(text)))
        << dtype;
  }
}

TEST(MeasuredRotation, NamesOtherSums) {
  using R = long double;
  ExpectNamed(
      [](R c, R s) {
        return Matrix{c, -s, s, c};
      },
      true, "overwrites_its_input (the rotation is in place");
  ExpectNamed([](R c, R s) { return Matrix{c, -s, s, -c}; }, false, "y_j = x_i sin - x_j cos");
  ExpectNamed(
      [](R c, R s) {
        return Matrix{c, s, s, c};
      },
      false, "y_i = x_i cos + x_j sin, y_j = x_i sin + x_j cos");
  ExpectNamed(
      [](R c, R) {
        return Matrix{c, 0, 0, c};
      },
      false, "term_missing (the terms with sin are missing");
  ExpectNamed(
      [](R c, R s) {
        return Matrix{c, 0, s, c};
      },
      false,
      "term_missing (a term is missing: channels (i, j) of a pair become y_i = x_i cos, y_j = x_i "
      "sin + x_j cos");
  ExpectNamed([](R c, R s) { return Matrix{s, -c, c, s}; }, false, "cos_and_sin_exchanged");
  ExpectNamed([](R c, R s) { return Matrix{-c, s, -s, -c}; }, false, "both_terms_negated");
  ExpectNamed(
      [](R c, R s) {
        return Matrix{R(1.25) * c, -s, s, R(1.25) * c};
      },
      false, "gain_of_cos_and_sin (cos is multiplied by 1.25 and sin by 1 in");
}

TEST(MeasuredRotation, NamesThreeDeviationsAtOnce) {
  const Plain plain{
      .position = [](long double p, size_t, size_t) { return std::min(p, 32767.0L); },
      .frequency = [](size_t k, size_t R) { return std::pow(123456.0L, -2.0L * k / R); },
      .channels = [](size_t k, size_t) { return std::pair(2 * k, 2 * k + 1); }};
  ExpectNamed(plain, "pairing_interleaved+base_differs+position_clamped");
}

TEST(MeasuredRotation, NamesAnOffsetWithAnotherBase) {
  ExpectNamed({.position = [](long double p, size_t, size_t) { return p + 3; },
               .frequency = [](size_t k, size_t R) { return std::pow(500000.0L, -2.0L * k / R); }},
              "base_differs+position_shifted");
  ExpectNamed({.position = [](long double p, size_t, size_t) { return std::fmod(p, 4096.0L); },
               .frequency = [](size_t k, size_t R) { return std::pow(10000.0L, -1.0L * k / R); }},
              "frequency_exponent+position_wrapped");
}

TEST(MeasuredRotation, IsSilentOnTheRightAnswer) {
  for (const char* dtype : kDTypes) EXPECT_THAT(Explained(kLong + dtype, Plain{}), IsEmpty());
}

// Tables in plain loops.
std::vector<std::string> ExplainedTable(
    const std::string& line, const std::function<long double(long double p)>& position,
    const std::function<long double(size_t k, size_t R)>& frequency) {
  const DrawnCase question(line);
  const Shape shape = question.c.ShapeOf(question.c.info().signature.outputs[0]);
  Tensors answer = {{"cos", question.c.dtype(), Tensor<double>(shape)},
                    {"sin", question.c.dtype(), Tensor<double>(shape)}};
  const auto pairs = static_cast<size_t>(question.c.dimensions().at("R")) / 2;
  const std::vector<double>& given = question.inputs.back().values.data;
  for (size_t i = 0; i < answer[0].values.data.size(); ++i) {
    const size_t token = i / shape[2], k = i % shape[2] % pairs;
    const long double f =
        question.inputs.size() > 1 ? given[k] * frequency(0, 1) : frequency(k, 2 * pairs);
    const long double a = position(question.inputs[0].values.data[token]) * f;
    answer[0].values.data[i] = RoundTo(question.c.dtype(), static_cast<double>(std::cos(a)));
    answer[1].values.data[i] = RoundTo(question.c.dtype(), static_cast<double>(std::sin(a)));
  }
  return Explained(question, answer);
}

TEST(MeasuredRotation, NamesDeviationsOfTables) {
  const auto clamp = [](long double p) { return std::min(p, 32767.0L); };
  for (const char* dtype : kDTypes) {
    EXPECT_THAT(
        ExplainedTable(
            "rope_cos_sin layout=halves R=64 @position=0..20,4095,40000,50000" + std::string(dtype),
            clamp, [](size_t k, size_t R) { return std::pow(123456.0L, -2.0L * k / R); }),
        Contains(HasSubstr("base_differs+position_clamped")));
    EXPECT_THAT(
        ExplainedTable("rope_table R=64 @position=0..20,4095,40000,50000" + std::string(dtype),
                       clamp, [](size_t, size_t) { return 1.0L; }),
        Contains(HasSubstr("position_clamped")));
    EXPECT_THAT(ExplainedTable(
                    "rope_table R=64 @position=0..20,4095,40000,50000" + std::string(dtype),
                    [](long double p) { return p; }, [](size_t, size_t) { return 0.5L; }),
                Contains(HasSubstr("frequency_factor (all angles are 0.5 of")));
  }
}

std::vector<std::string> ExplainedFrequencies(
    const std::string& line, const std::function<long double(size_t k, size_t R)>& frequency,
    double amplitude) {
  const DrawnCase question(line);
  const auto R = static_cast<size_t>(question.c.dimensions().at("R"));
  const DType dtype = question.c.DTypeOf(question.c.info().signature.outputs[0]);
  Tensors answer = {{"inv_freq", dtype, Tensor<double>(Shape{R / 2})},
                    {"attention_factor", dtype, Tensor<double>(Shape{})}};
  for (size_t k = 0; k < R / 2; ++k)
    answer[0].values.data[k] = RoundTo(dtype, static_cast<double>(frequency(k, R)));
  answer[1].values.data[0] = RoundTo(dtype, amplitude);
  return Explained(question, answer);
}

TEST(MeasuredRotation, NamesDeviationsOfFrequencies) {
  const auto power = [](long double base) {
    return [base](size_t k, size_t R) { return std::pow(base, -2.0L * k / R); };
  };
  for (const char* dtype : kDTypes) {
    EXPECT_THAT(ExplainedFrequencies("rope_frequencies R=64" + std::string(dtype), power(12345), 1),
                Contains(HasSubstr("base = 12345, expected 10000")));
    EXPECT_THAT(
        ExplainedFrequencies("rope_frequencies R=64 scaling=linear(factor=4)" + std::string(dtype),
                             power(10000), 1.5),
        Contains(AllOf(StartsWith("amplitude+scaling_missing"),
                       HasSubstr("the amplitude is 1.5, expected 1"))));
  }
}

}  // namespace
}  // namespace sextant::oracle
