#include "oracle/rope/measured/divided_tables.h"

#include "oracle/rope/measured/planted_rotation_test.h"

namespace sextant::oracle {
namespace {

long double RightFrequency(size_t k, size_t R) { return std::pow(10000.0L, -2.0L * k / R); }
long double OfRepeatedPair(size_t k, size_t R) { return RightFrequency(k % 8, R); }
long double Clamped(long double p, size_t, size_t) { return std::min(p, 999.0L); }

TEST(DividedTables, NamesTheFrequenciesOfCosAlone) {
  ExpectNamed({.frequency_of_cos = OfRepeatedPair},
              "frequency_repeated (in cos alone: the frequencies of the pairs are in another "
              "order: the first 8 again and again");
}

TEST(DividedTables, NamesTheFrequenciesOfTheSecondChannelsAlone) {
  const auto next = [](size_t k, size_t R) { return RightFrequency((k + 1) % 32, R); };
  ExpectNamed({.frequency_of_second = next},
              "frequency_rolled (only in the second channel of each pair: the frequencies of the "
              "pairs are in another order: rolled by 1 to the left");
}

TEST(DividedTables, NamesPositionsOfBothBeside) {
  ExpectNamed({.position = Clamped, .frequency_of_cos = OfRepeatedPair},
              "position_clamped+frequency_repeated (positions above 999 act as 999");
}

// cos^2 + sin^2 = 1 whatever the angles are.
TEST(GainOfOneSide, IsNamedBesideOtherAngles) {
  const Plain plain{.frequency = [](size_t k, size_t R) { return RightFrequency(k / 2 * 2, R); },
                    .cos_more = 0.125};
  EXPECT_THAT(Explained(kLong + " dtype=f32", plain),
              Contains(HasSubstr("summand_of_cos_or_sin+frequency_shared_by_neighbours (cos is "
                                 "0.125 more than it should be")));
}

// One token in a hundred is at its right position, so that none says the frequencies alone.
TEST(UsualPositions, AreNamedBesideOtherFrequencies) {
  const auto wrapped = [](long double p, size_t, size_t) {
    return p - std::floor((p + 128) / 256) * 256;
  };
  const auto slower = [](size_t k, size_t R) { return 0.7L * RightFrequency(k, R); };
  ExpectNamed({.position = wrapped, .frequency = slower},
              "positions_in_signed_8_bits+frequency_factor",
              "rope pairing=half H=2 D=64 @position=700..720,4095,8191,9000,9999,12345");
}

// The answer of a rotation, with the channels outside changed.
std::vector<std::string> ExplainedRest(double (*rest)(const double* x, size_t channel)) {
  const DrawnCase question("rope pairing=half H=3 D=48 R=32 @position=0..20,300,999");
  const Plain plain{.position = [](long double p, size_t, size_t) { return std::min(p, 500.0L); },
                    .R = 32};
  Tensor<double> y = plain(question.inputs[0].values, question.inputs[1].values, DType::kF32);
  for (size_t i = 0; i < y.data.size(); ++i)
    if (i % 48 >= 32) y.data[i] = rest(&question.inputs[0].values.data[i / 48 * 48], i % 48);
  return Explained(question, {{"y", DType::kF32, y}});
}

TEST(OtherRest, IsNamedBesideOtherPositions) {
  EXPECT_THAT(ExplainedRest([](const double* x, size_t c) { return 2 * x[c]; }),
              Contains(HasSubstr("rest_multiplied+position_clamped (the channels outside the "
                                 "rotated ones are multiplied by 2; positions above 500")));
  EXPECT_THAT(ExplainedRest([](const double* x, size_t c) { return x[c == 32 ? 47 : c - 1]; }),
              Contains(HasSubstr("rest_in_other_order+position_clamped (the channels outside the "
                                 "rotated ones are in another order: rolled by 1 to the right")));
}

}  // namespace
}  // namespace sextant::oracle
