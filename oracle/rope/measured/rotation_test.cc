#include "oracle/rope/measured/rotation.h"

#include <array>
#include <cmath>

#include "oracle/rope/measured/planted_rotation_test.h"

namespace sextant::oracle {
namespace {

TEST(MeasuredRotation, NamesPositions) {
  using P = long double;
  const std::pair<std::string, std::function<P(P, size_t, size_t)>> forms[] = {
      {"position_clamped (positions above 32767 act as 32767 (5 of 5 such tokens))",
       [](P p, size_t, size_t) { return std::min(p, P(32767)); }},
      {"position_clamped (positions above 12345 act as 12345",
       [](P p, size_t, size_t) { return std::min(p, P(12345)); }},
      {"position_wrapped (positions are taken modulo 5000",
       [](P p, size_t, size_t) { return std::fmod(p, P(5000)); }},
      {"position_wrapped (positions are taken modulo 256",
       [](P p, size_t, size_t) { return std::fmod(p, P(256)); }},
      {"position_shifted (positions have 17 added", [](P p, size_t, size_t) { return p + 17; }},
      {"position_constant (all positions act as 42)", [](P, size_t, size_t) { return P(42); }},
      {"position_zero", [](P, size_t, size_t) { return P(0); }},
      {"position_shifted_from (positions from 4095 on act as 1 more",
       [](P p, size_t, size_t) { return p > 3000 ? p + 1 : p; }},
      {"position_is_index", [](P, size_t, size_t s) { return P(s); }},
      {"position_starts_again (positions start again at 0 from token 7 on",
       [](P p, size_t, size_t s) { return s < 7 ? p : P(s - 7); }},
      {"position_divided (positions are divided by 5, rounded down",
       [](P p, size_t, size_t) { return std::floor(p / 5); }},
      {"tokens_not_rotated (tokens from 12 on",
       [](P p, size_t, size_t s) { return s < 12 ? p : P(0); }},
      {"positions_in_signed_16_bits", [](P p, size_t, size_t) { return P(int16_t(int32_t(p))); }},
      {"position_divided (positions are divided by 8, rounded down",
       [](P p, size_t, size_t) { return std::floor(p / 8); }},
      {"position_of_block (positions are rounded down to multiples of 16",
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
      {"frequency_exponent (frequencies are base^-((2k - 6)/64)",
       [](size_t k, size_t R) { return std::pow(F(10000), -F(2) * (F(k) - 3) / R); }},
      {"frequency_reversed", [=](size_t k, size_t R) { return right(R / 2 - 1 - k, R); }},
      {"another order: the first 8 again and again",
       [=](size_t k, size_t R) { return right(k % 8, R); }},
      {"pair 5 turns at 0.5",
       [=](size_t k, size_t R) { return k == 5 ? right(k, R) / 2 : right(k, R); }},
  };
  for (const auto& [text, frequency] : forms) ExpectNamed({.frequency = frequency}, text);
  ExpectNamed(
      {.frequency = [=](size_t k, size_t R) { return k == 3 ? -right(k, R) : right(k, R); }},
      "pair 3 turns backwards");
  ExpectNamed({.frequency = [=](size_t k, size_t R) { return k == 31 ? 0 : right(k, R); }},
              "pair 31 turns at frequency 0: not rotated");
  ExpectNamed({.frequency = [=](size_t k, size_t R) { return right((k + 3) % 32, R); }},
              "frequency_rolled (the frequencies of the pairs are in another order: rolled by 3 to "
              "the left");
  ExpectNamed({.frequency = [=](size_t k, size_t R) { return right(2 * k % 32, R); }},
              "another order: in steps of 2, around the end");
  ExpectNamed({.frequency = [=](size_t k, size_t R) { return right(k < 29 ? k : 31 - k, R); }},
              "the pairs have the frequencies of pairs 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, "
              "13, 14, 15 ... in this order");
  ExpectNamed({.frequency = [=](size_t k, size_t R) { return std::pow(F(9990), -F(2) * k / R); }},
              "base = 9990");
}

// The fast pairs turn by more than half a turn per token; the slow ones say the number of turns.
TEST(MeasuredRotation, NamesAFactorByItsSlowPairs) {
  const auto times = [](long double factor) {
    return [factor](size_t k, size_t R) {
      return std::pow(10000.0L, -2.0L * k / R) * (k == 0 && factor == 3 ? 0 : factor);
    };
  };
  ExpectNamed({.frequency = times(2 * M_PIl)},
              "frequency_factor (all angles are 6.283185307179586");
  ExpectNamed({.frequency = times(3)},
              "frequency_factor+pairs_stand_still (pair 0 turns at frequency 0: not rotated; pairs "
              "1 to 31 turn at 3 of the right frequency");
}

// Beside another base, pairs 3, 7, 11 ... do not turn.
TEST(MeasuredRotation, NamesPairsThatStandStillBesideOtherFrequencies) {
  ExpectNamed(
      {.frequency = [](size_t k,
                       size_t R) { return k % 4 == 3 ? 0 : std::pow(9999.0L, -2.0L * k / R); }},
      "base_differs+pairs_stand_still (frequencies are those of base = 9999, expected 10000; "
      "pairs 3 to 31 in steps of 4 turn at frequency 0: not rotated");
  ExpectNamed({.frequency = [](size_t k,
                               size_t R) { return k == 0 ? 0 : std::pow(300.0L, -2.0L * k / R); }},
              "pair 0 turns at frequency 0: not rotated");
}

// Rounding does not make one frequency of 32 wrong.
TEST(MeasuredRotation, NamesOneFrequency) {
  ExpectNamed({.frequency =
                   [](size_t k, size_t R) {
                     return std::pow(10000.0L, -2.0L * k / R) * (k == 5 ? 1.01L : 1);
                   }},
              "frequency_of_some_pairs (pair 5 turns at 1.01 of the right frequency");
}

// Most pairs turn too little to say anything: then it may be rounding.
TEST(MeasuredRotation, SaysNothingOfOneFrequencyBesideUnknownOnes) {
  const Plain plain{.frequency = [](size_t k, size_t R) {
    return std::pow(10000.0L, -2.0L * k / R) * (k == 1 ? 1 + 0x1p-9L : 1);
  }};
  EXPECT_THAT(Explained("rope pairing=half H=2 S=40 D=128 dtype=bf16", plain), IsEmpty());
}

// The angle of head h and token s is that of the token (h S + s) / H, or of token h.
TEST(MeasuredRotation, NamesPositionsOfStoredRowsAndOfHeads) {
  const DrawnCase question("rope pairing=half H=3 S=20 D=32");
  const auto answer = [&](const std::function<size_t(size_t h, size_t s)>& token) {
    Tensor<double> y = question.inputs[0].values;
    for (size_t row = 0; row < 60; ++row) {
      for (size_t k = 0; k < 16; ++k) {
        const double p = question.inputs[1].values.data[token(row / 20, row % 20)];
        const double a = p * std::pow(10000.0, -2.0 * k / 32);
        double &u = y.data[row * 32 + k], &v = y.data[row * 32 + k + 16];
        const double first = u * std::cos(a) - v * std::sin(a);
        v = RoundTo(DType::kF32, u * std::sin(a) + v * std::cos(a));
        u = RoundTo(DType::kF32, first);
      }
    }
    return Explained(question, {{"y", DType::kF32, y}});
  };
  EXPECT_THAT(answer([](size_t h, size_t s) { return (h * 20 + s) / 3; }),
              ElementsAre(StartsWith("position_of_stored_row (")));
  EXPECT_THAT(answer([](size_t h, size_t) { return h; }),
              ElementsAre(StartsWith("position_of_head (")));
}

TEST(MeasuredRotation, NamesPositionsOfBlocksAndBatches) {
  const auto positions_of = [](const std::string& line, auto of) {
    return Explained(line + " dtype=f32", {.position = of});
  };
  const std::string random = "rope pairing=half H=2 S=24 D=64 @position=random_positions(3000)";
  const DrawnCase question(random);
  const std::vector<double>& at = question.inputs[1].values.data;
  EXPECT_THAT(
      positions_of(random, [](long double p, size_t, size_t) { return std::ceil(p / 8) * 8; }),
      ElementsAre(HasSubstr("positions are rounded up to multiples of 8")));
  EXPECT_THAT(
      positions_of(random, [&](long double p, size_t, size_t s) { return p - at[s / 6 * 6]; }),
      ElementsAre(HasSubstr("counted from that of the first token of their block of 6")));
  const std::string batches = "rope pairing=half B=3 H=2 S=8 D=64 @position=random_positions(500)";
  const DrawnCase three(batches);
  EXPECT_THAT(positions_of(batches,
                           [&](long double, size_t b, size_t s) {
                             return three.inputs[1].values.data[(b == 2 ? 2 : 1 - b) * 8 + s];
                           }),
              ElementsAre(HasSubstr("sequences 0 and 1 of the batch have each the positions")));
}

// All angles are the same multiple of the right ones: two numbers that come to one.
TEST(MeasuredRotation, NamesAShiftOfTheIndexWithAFactor) {
  ExpectNamed(
      {.frequency = [](size_t k, size_t R) { return std::pow(10000.0L, -(2.0L * k - 2) / R) / 3; }},
      "frequency_factor (all angles are 0.444");
  EXPECT_THAT(
      Explained(kLong + " dtype=f32", {.frequency =
                                           [](size_t k, size_t R) {
                                             return std::pow(10000.0L, -(2.0L * k - 2) / R) / 3;
                                           }}),
      Contains(HasSubstr("as by the exponents (2k - 2)/64 and a factor of 0.333")));
  ExpectNamed({.frequency = [](size_t, size_t) { return 1.0L / 3; }},
              "frequency_of_one_pair (all pairs have the frequency of pair 0 times 0.333");
}

// In bf16 eight tokens do not give the factor.
TEST(MeasuredRotation, NamesAShiftFromATokenWithAFactor) {
  const Plain plain{
      .position = [](long double p, size_t, size_t s) { return s < 8 ? p : p + 1; },
      .frequency = [](size_t k,
                      size_t R) { return std::pow(10000.0L, -2.0L * k / R) * 2 * M_PIl; }};
  EXPECT_THAT(Explained("rope pairing=half H=2 S=30 D=64 dtype=f32", plain),
              Contains(StartsWith("frequency_factor+position_shifted_from")));
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

TEST(MeasuredRotation, NamesThreeDeviationsAtOnce) {
  const Plain plain{
      .position = [](long double p, size_t, size_t) { return std::min(p, 32767.0L); },
      .frequency = [](size_t k, size_t R) { return std::pow(123456.0L, -2.0L * k / R); },
      .channels = [](size_t k, size_t) { return std::pair(2 * k, 2 * k + 1); }};
  ExpectNamed(plain, "pairing_interleaved+base_differs+position_clamped");
}

TEST(MeasuredRotation, NamesAnotherBaseBackwards) {
  ExpectNamed({.frequency = [](size_t k, size_t R) { return -std::pow(12345.0L, -2.0L * k / R); }},
              "turns_backwards+base_differs");
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

}  // namespace
}  // namespace sextant::oracle
