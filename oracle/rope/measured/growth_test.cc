#include "oracle/rope/measured/growth.h"

#include "oracle/rope/measured/planted_rotation_test.h"

namespace sextant::oracle {
namespace {

using Real = long double;

// xpos in plain loops, with hooks for deviations.
struct PlainXpos {
  double gamma = 0.4, scale_base = 512, center = 7, base = 10000;
  std::function<Real(Real p)> position = [](Real p) { return p; };
  std::function<Real(Real p)> position_of_growth = [](Real p) { return p; };
  std::function<Real(size_t k)> pair_of_growth = [](size_t k) { return static_cast<Real>(k); };
  std::function<Real(Real g, size_t k)> growth = [](Real g, size_t) { return g; };
  std::function<Real(Real g)> growth_of_cos = [](Real g) { return g; };
};

std::vector<std::string> ExplainedGrowth(const std::string& dtype, const PlainXpos& plain) {
  const DrawnCase question("xpos pairing=half role=key center=7 H=2 D=32 @position=0..20,100,300" +
                           dtype);
  Tensor<double> y = question.inputs[0].values;
  const size_t D = 32, S = 23;
  for (size_t i = 0; i < y.data.size(); ++i) {
    const size_t k = i % D;
    if (k >= D / 2) continue;
    const Real p = question.inputs[1].values.data[i / D % S];
    const Real a = plain.position(p) * std::pow(static_cast<Real>(plain.base), -2.0L * k / D);
    const Real z = (2 * plain.pair_of_growth(k) / D + plain.gamma) / (1 + plain.gamma);
    const Real t = (plain.position_of_growth(p) - plain.center) / plain.scale_base;
    const Real g = plain.growth(std::pow(z, -t), k);
    const Real c = plain.growth_of_cos(g) * std::cos(a), s = g * std::sin(a);
    const Real u = y.data[i], v = y.data[i + D / 2];
    y.data[i] = RoundTo(question.c.dtype(), static_cast<double>(u * c - v * s));
    y.data[i + D / 2] = RoundTo(question.c.dtype(), static_cast<double>(u * s + v * c));
  }
  return Explained(question, {{"y", question.c.dtype(), y}});
}

void ExpectGrowth(const PlainXpos& plain, const std::string& text) {
  for (const std::string dtype : kDTypes)
    EXPECT_THAT(ExplainedGrowth(dtype, plain), Contains(HasSubstr(text))) << dtype;
}

TEST(MeasuredGrowth, NamesOneNumber) {
  ExpectGrowth({.scale_base = 300}, "scale_base = 300, expected 512");
  EXPECT_THAT(ExplainedGrowth(kDTypes[0], {.center = 20}),
              Contains(HasSubstr("center = 20, expected 7")));
  EXPECT_THAT(ExplainedGrowth(kDTypes[0], {.gamma = 0.25}),
              Contains(HasSubstr("gamma = 0.25, expected 0.4")));
  // In bf16 several numbers as short are possible.
  EXPECT_THAT(ExplainedGrowth(kDTypes[1], {.center = 20}),
              Contains(HasSubstr("center = 20 +- 10, expected 7")));
  EXPECT_THAT(ExplainedGrowth(kDTypes[1], {.gamma = 0.25}),
              Contains(HasSubstr("gamma = 0.25 +- 0.02, expected 0.4")));
  ExpectGrowth({.scale_base = -512}, "role_exchanged");
  ExpectGrowth({.scale_base = 1e30}, "growth_absent");
  ExpectGrowth({.scale_base = 300, .base = 500}, "base_differs+scale_base_differs");
  ExpectGrowth({.growth = [](Real g, size_t) { return 1.1L * g; }},
               "gain (every pair is multiplied by 1.1 in addition");
  for (const std::string dtype : kDTypes)
    EXPECT_THAT(ExplainedGrowth(dtype, {}), testing::IsEmpty());
}

TEST(MeasuredGrowth, NamesPairsThatGrowAsOthers) {
  ExpectGrowth({.pair_of_growth = [](size_t) { return 0.0L; }},
               "growth_of_other_pair (the growth of the pairs is in another order: the first one "
               "everywhere");
  ExpectGrowth({.pair_of_growth = [](size_t k) { return static_cast<Real>(2 * k % 16); }},
               "growth_of_other_pair (the growth of the pairs is in another order: in steps of 2, "
               "around the end");
  ExpectGrowth({.growth = [](Real g, size_t k) { return k % 2 == 1 ? 1 / g : g; }},
               "growth_of_some_pairs (pairs 1, 3, 5 ... have the inverse of their growth");
  ExpectGrowth({.growth = [](Real g, size_t k) { return k < 5 ? g * g : g; }},
               "growth_of_some_pairs (the growth of the pairs below 5 is its power 2, expected 1");
}

TEST(MeasuredGrowth, NamesPositionsOfTheAnglesAlone) {
  ExpectGrowth({.position = [](Real p) { return std::min(p, 15.0L); }},
               "position_clamped (positions above 15 act as 15 (7 of 7 such tokens); the growth "
               "has the right positions)");
}

// Not in bf16: there a growth over 20 tokens is within the roundings.
TEST(MeasuredGrowth, NamesPositionsOfTheGrowthAlone) {
  EXPECT_THAT(
      ExplainedGrowth(" dtype=f32", {.position_of_growth = [](Real) { return 0.0L; }}),
      Contains(HasSubstr("growth_position_zero (in the growth, every token acts as position 0")));
  const auto clamped = [](Real p) { return std::min(p, 50.0L); };
  EXPECT_THAT(
      ExplainedGrowth(" dtype=f32", {.base = 500, .position_of_growth = clamped}),
      Contains(HasSubstr("base_differs+growth_position_clamped (frequencies are those of base = "
                         "500, expected 10000; in the growth, positions above 50 act as 50 (2 of 2 "
                         "such tokens))")));
}

TEST(MeasuredGrowth, NamesATableThatDoesNotGrow) {
  ExpectGrowth({.base = 500, .growth_of_cos = [](Real) { return 1.0L; }},
               "growth_of_one_side+base_differs (cos does not grow: its growth is missing; "
               "frequencies are those of base = 500, expected 10000)");
}

}  // namespace
}  // namespace sextant::oracle
