#include "oracle/rope/measured/axes.h"

#include <cmath>

#include "oracle/rope/measured/planted_rotation_test.h"

namespace sextant::oracle {
namespace {

constexpr size_t kPairs = 24, kTokens = 10, kHeads = 2;
const std::string kSections =
    "rope_sections sections=[8,8,8] order=contiguous pairing=half H=2 S=10 D=48"
    " @position=random_positions(200)";

size_t RightAxis(size_t k) { return k / 8; }

// Sections in plain loops.
struct PlainSections {
  size_t (*axis)(size_t k) = RightAxis;
  long double (*position)(long double p) = [](long double p) { return p; };
  long double base = 10000;

  std::vector<std::string> Explained(const std::string& dtype) const {
    const DrawnCase question(kSections + dtype);
    Tensor<double> y = question.inputs[0].values;
    for (size_t row = 0; row < kHeads * kTokens; ++row) {
      for (size_t k = 0; k < kPairs; ++k) {
        const size_t i = row * 2 * kPairs + k, j = i + kPairs;
        const long double p =
            position(question.inputs[1].values.data[axis(k) * kTokens + row % kTokens]);
        const long double a = p * std::pow(base, -1.0L * k / kPairs), u = y.data[i], v = y.data[j];
        y.data[i] = RoundTo(question.c.dtype(), u * std::cos(a) - v * std::sin(a));
        y.data[j] = RoundTo(question.c.dtype(), u * std::sin(a) + v * std::cos(a));
      }
    }
    return oracle::Explained(question, {{"y", question.c.dtype(), y}});
  }
  void ExpectNamed(const std::string& text) const {
    for (const char* dtype : kDTypes)
      EXPECT_THAT(Explained(dtype), Contains(HasSubstr(text))) << dtype;
  }
};

TEST(MeasuredAxes, NamesMapsOfAxes) {
  PlainSections{.axis = [](size_t) { return size_t{1}; }}.ExpectNamed(
      "axis_of_pairs (the pairs of axis 0 turn by axis 1; the pairs of axis 2 turn by axis 1)");
  PlainSections{.axis = [](size_t k) { return k < 16 ? 1 - k / 8 : size_t{2}; }}.ExpectNamed(
      "the pairs of axis 0 turn by axis 1; the pairs of axis 1 turn by axis 0");
  PlainSections{.axis = [](size_t k) { return k % 3; }}.ExpectNamed("pair k turns by axis k mod 3");
}

TEST(MeasuredAxes, ListsOtherPairs) {
  PlainSections{.axis = [](size_t k) { return k < 3 ? size_t{2} : RightAxis(k); }}.ExpectNamed(
      "axis_of_pairs (pairs 0 to 2 turn by axis 2, expected 0)");
}

TEST(MeasuredAxes, NamesAnotherBaseBeside) {
  PlainSections{.axis = [](size_t k) { return k % 3; }, .base = 500000}.ExpectNamed(
      "axis_of_pairs+base_differs (pair k turns by axis k mod 3; frequencies are those of base = "
      "500000");
}

// Positions on the axis of the fastest pairs have thousands of candidates for each pair.
TEST(MeasuredAxes, NamesPositionsOfEveryAxis) {
  for (const char* dtype : kDTypes) {
    const PlainSections plain{.position = [](long double p) { return std::min(p, 100.0L); }};
    EXPECT_THAT(plain.Explained(dtype),
                Contains(StartsWith("position_clamped (on every axis, positions above 100 act as "
                                    "100")))
        << dtype;
  }
}

// Two axes of 12 pairs each, in plain loops.
struct PlainAxial {
  std::function<long double(size_t axis, long double p)> position = [](size_t, long double p) {
    return p;
  };
  long double base = 10000;

  std::vector<std::string> Explained(const std::string& dtype) const {
    const DrawnCase question(
        "rope_axial frequencies=lang arrangement=halves pairing=half A=2 H=2 S=10 D=48"
        " @position=random_positions(100)" +
        dtype);
    Tensor<double> y = question.inputs[0].values;
    for (size_t row = 0; row < kHeads * kTokens; ++row) {
      for (size_t k = 0; k < kPairs; ++k) {
        const size_t i = row * 2 * kPairs + k, j = i + kPairs, axis = k / 12;
        const long double p =
            position(axis, question.inputs[1].values.data[axis * kTokens + row % kTokens]);
        const long double a = p * std::pow(base, -1.0L * (k % 12) / 12), u = y.data[i],
                          v = y.data[j];
        y.data[i] = RoundTo(question.c.dtype(), u * std::cos(a) - v * std::sin(a));
        y.data[j] = RoundTo(question.c.dtype(), u * std::sin(a) + v * std::cos(a));
      }
    }
    return oracle::Explained(question, {{"y", question.c.dtype(), y}});
  }
};

TEST(MeasuredAxes, NamesTheBaseAndPositionsOfIntegerCoordinates) {
  for (const char* dtype : kDTypes) {
    EXPECT_THAT(PlainAxial{}.Explained(dtype), IsEmpty()) << dtype;
    EXPECT_THAT(PlainAxial{.base = 500}.Explained(dtype),
                ElementsAre(HasSubstr("base = 500, expected 10000")))
        << dtype;
    const PlainAxial limited{.position = [](size_t, long double p) { return std::min(p, 31.0L); }};
    EXPECT_THAT(limited.Explained(dtype),
                Contains(HasSubstr("on every axis, positions above 31 act as 31")))
        << dtype;
    const PlainAxial shifted{
        .position = [](size_t a, long double p) { return a == 0 ? p + 3 : p; }};
    EXPECT_THAT(shifted.Explained(dtype), Contains(HasSubstr("on axis 0 positions have 3 added")))
        << dtype;
  }
}

// Tokens of one position that act as different ones: that is no function of the position.
TEST(MeasuredAxes, SaysNothingOfAnotherKind) {
  for (const char* dtype : kDTypes) {
    const std::string zero = "rope pairing=half H=2 D=64 @position=0,0,0,0,0,0,0,0";
    const Plain plain{.position = [](long double, size_t, size_t s) { return 7.0L * s * s + 3; }};
    EXPECT_THAT(oracle::Explained(zero + dtype, plain), IsEmpty()) << dtype;
    EXPECT_THAT(PlainSections{}.Explained(dtype), IsEmpty()) << dtype;
  }
}

}  // namespace
}  // namespace sextant::oracle
