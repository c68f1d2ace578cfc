#include "oracle/rope/measured/growth.h"

#include "oracle/rope/measured/planted_rotation_test.h"

namespace sextant::oracle {
namespace {

using testing::Contains;
using testing::HasSubstr;

using PositionOf = long double (*)(long double p);
long double Same(long double p) { return p; }

// xpos in plain loops. `position`: that of the angles.
std::vector<std::string> ExplainedGrowth(const std::string& dtype, double gamma, double scale_base,
                                         double center, double base, double gain = 1,
                                         PositionOf position = Same, bool of_first_pair = false) {
  const DrawnCase question("xpos pairing=half role=key center=7 H=2 D=32 @position=0..20,100,300" +
                           dtype);
  Tensor<double> y = question.inputs[0].values;
  const size_t D = 32, S = 23;
  for (size_t i = 0; i < y.data.size(); ++i) {
    const size_t k = i % D;
    if (k >= D / 2) continue;
    const long double p = question.inputs[1].values.data[i / D % S];
    const long double a = position(p) * std::pow(static_cast<long double>(base), -2.0L * k / D);
    const long double z = (2.0L * (of_first_pair ? 0 : k) / D + gamma) / (1 + gamma);
    const long double g = gain * std::pow(z, -(p - center) / scale_base);
    const long double u = y.data[i], v = y.data[i + D / 2];
    y.data[i] =
        RoundTo(question.c.dtype(), static_cast<double>(g * (u * std::cos(a) - v * std::sin(a))));
    y.data[i + D / 2] =
        RoundTo(question.c.dtype(), static_cast<double>(g * (u * std::sin(a) + v * std::cos(a))));
  }
  return Explained(question, {{"y", question.c.dtype(), y}});
}

TEST(MeasuredGrowth, NamesOneNumber) {
  for (const std::string dtype : kDTypes) {
    EXPECT_THAT(ExplainedGrowth(dtype, 0.4, 300, 7, 10000),
                Contains(HasSubstr("scale_base = 300, expected 512")));
    EXPECT_THAT(ExplainedGrowth(dtype, 0.4, 512, 20, 10000),
                Contains(HasSubstr("center = 20, expected 7")));
    EXPECT_THAT(ExplainedGrowth(dtype, 0.25, 512, 7, 10000),
                Contains(HasSubstr("gamma = 0.25, expected 0.4")));
    EXPECT_THAT(ExplainedGrowth(dtype, 0.4, -512, 7, 10000), Contains(HasSubstr("role_exchanged")));
    EXPECT_THAT(ExplainedGrowth(dtype, 0.4, 1e30, 7, 10000), Contains(HasSubstr("growth_absent")));
    EXPECT_THAT(ExplainedGrowth(dtype, 0.4, 300, 7, 500),
                Contains(HasSubstr("base_differs+scale_base_differs")));
    EXPECT_THAT(ExplainedGrowth(dtype, 0.4, 512, 7, 10000, 1.1),
                Contains(HasSubstr("gain (every pair is multiplied by 1.1 in addition")));
    EXPECT_THAT(ExplainedGrowth(dtype, 0.4, 512, 7, 10000), testing::IsEmpty());
    EXPECT_THAT(ExplainedGrowth(dtype, 0.4, 512, 7, 10000, 1, Same, true),
                Contains(HasSubstr("growth_of_other_pair (all pairs grow as pair 0")));
  }
}

TEST(MeasuredGrowth, NamesPositionsOfTheAnglesAlone) {
  for (const std::string dtype : kDTypes) {
    const auto clamped = [](long double p) { return std::min(p, 15.0L); };
    EXPECT_THAT(ExplainedGrowth(dtype, 0.4, 512, 7, 10000, 1, clamped),
                Contains(HasSubstr("position_clamped (positions above 15 act as 15 (7 of 7 such "
                                   "tokens); the growth has the right positions)")));
  }
}

}  // namespace
}  // namespace sextant::oracle
