#include "fast/simd/elementary.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include "fast/kernel/kernel_test.h"
#include "reference/number/exact/interval.h"

namespace sextant::fast {
namespace {

// A function, its limits, and the arguments whose results are neither a limit nor trivial.
struct Function {
  Elementary name;
  Interval (*exact)(const Interval&);
  double (*near)(double);    // by the C library, accurate to a few ulps
  double least, most;        // outside this range f32 results equal a limit
  double tiny;               // for smaller |x| f32 results are constant or proportional to x
  double at_least, at_most;  // the limits at -infinity and infinity
};
double NearSigmoid(double x) { return 1 / (1 + std::exp(-x)); }
const Function kFunctions[] = {
    {Elementary::kExp, [](const Interval& x) { return Exp(x); }, std::exp, -104, 89, 0x1p-26, 0,
     INFINITY},
    {Elementary::kSigmoid, [](const Interval& x) { return Sigmoid(x); }, NearSigmoid, -104, 18,
     0x1p-26, 0, 1},
    {Elementary::kTanh, [](const Interval& x) { return Tanh(x); }, std::tanh, -10, 10, 0x1p-14, -1,
     1},
    {Elementary::kErf, [](const Interval& x) { return Erf(x); }, std::erf, -4, 4, 0x1p-14, -1, 1},
};
const Function& FunctionOf(Elementary name) { return kFunctions[static_cast<size_t>(name)]; }

// The ulp of T in the binade of `value`; below the normal numbers of T, the ulp of its subnormals.
template <class T>
double UlpOfBinade(double value) {
  constexpr int kDigits = std::numeric_limits<T>::digits;
  const double least = std::numeric_limits<T>::min();
  const uint64_t bits = std::bit_cast<uint64_t>(std::max(std::abs(value), least));
  return std::bit_cast<double>(bits >> 52 << 52) * std::ldexp(1.0, 1 - kDigits);
}

// The error that exp-inl.h and activation-inl.h permit at an exact value.
template <class T>
double Permitted(Elementary f, double exact) {
  constexpr bool kSingle = std::same_as<T, float>;
  constexpr double kLeast = std::numeric_limits<T>::denorm_min();
  if (f == Elementary::kSigmoid) return 4 * kUnit<T> * std::abs(exact) + kLeast;
  if (f == Elementary::kTanh) return 4 * kUnit<T> * std::abs(exact) + (kSingle ? kLeast : 0);
  const double of_exp = kSingle ? 0.92 : 0.87, of_erf = kSingle ? 1.6 : 2;
  return (f == Elementary::kErf ? of_erf : of_exp) * UlpOfBinade<T>(exact);
}

template <class T>
bool IsPermitted(Elementary f, T x, T y) {
  const ScopedPrecision precision(200);
  const Interval exact = FunctionOf(f).exact(Interval(x));
  return std::abs(Middle(Interval(y) - exact)) <= Permitted<T>(f, Middle(exact));
}

template <class T>
class ElementaryTest : public testing::Test {
 public:
  static void ExpectPermitted(Elementary f, const Guarded<T>& x) {
    Guarded<T> y(x.size()), in_place = x;
    ApplyElementary(f, x.data(), y.data(), x.size());
    ApplyElementary(f, in_place.data(), in_place.data(), x.size());
    EXPECT_TRUE(in_place.SameBits(y));
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_TRUE(IsPermitted(f, x[i], y[i]))
          << "function " << static_cast<int>(f) << " of " << x[i] << " is " << y[i];
    }
  }
};
using Computable = testing::Types<double, float>;
TYPED_TEST_SUITE(ElementaryTest, Computable);

TYPED_TEST(ElementaryTest, ErrorIsPermittedFromTinyToLimits) {
  using T = TypeParam;
  Random random;
  for (const Function& f : kFunctions) {
    const double more = std::same_as<T, double> && f.most > 15 ? 7 : 1;
    Guarded<T> x = random.Fill<T>(800, more * f.least, more * f.most);
    for (size_t i = 0; i < 200; ++i) {
      x[i] = FromDouble<T>(random.Uniform(-2, 2));
      x[200 + i] = FromDouble<T>(std::ldexp(random.Uniform(-2, 2), -static_cast<int>(i)));
      x[400 + i] = FromDouble<T>(more * f.least + random.Uniform(0, 20));
    }
    OnAllTargets([&] { TestFixture::ExpectPermitted(f.name, x); });
  }
}

TYPED_TEST(ElementaryTest, WritesExactlyCountElements) {
  Random random;
  OnAllTargets([&] {
    for (size_t count = 0; count <= 33; ++count) {
      for (const Function& f : kFunctions)
        TestFixture::ExpectPermitted(f.name, random.Fill<TypeParam>(count));
    }
  });
}

TYPED_TEST(ElementaryTest, LimitsAndNaN) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  const T infinity = Limits::infinity(), largest = Limits::max(), least = Limits::denorm_min();
  OnAllTargets([&] {
    for (const Function& f : kFunctions) {
      const T x[] = {infinity, -infinity, largest, -largest, 1000, -1000};
      T y[std::size(x)];
      ApplyElementary(f.name, x, y, std::size(x));
      for (size_t i = 0; i < std::size(x); ++i)
        EXPECT_EQ(y[i], x[i] > 0 ? f.at_most : f.at_least) << x[i];
      const T zeros[] = {0, -T{0}, least, -least};
      ApplyElementary(f.name, zeros, y, 4);
      for (size_t i = 0; i < 4; ++i) {
        const double at_zero = f.near(0);
        EXPECT_NEAR(y[i], at_zero, at_zero == 0 ? 2 * least : 0);
        if (at_zero == 0) {
          EXPECT_EQ(std::signbit(y[i]), std::signbit(zeros[i]));
        }
      }
      T nan[17];
      std::ranges::fill(nan, Limits::quiet_NaN());
      ApplyElementary(f.name, nan, nan, 17);
      for (const T n : nan) EXPECT_TRUE(std::isnan(n));
    }
  });
}

// Both functions give bit for bit the same e^x; any NaN equals any NaN.
template <class T>
void ExpectSameExp(const T* x, size_t count) {
  std::vector<T> exp(count), of_negative(count);
  ApplyElementary(Elementary::kExp, x, exp.data(), count);
  ApplyElementary(Elementary::kExpOfNegative, x, of_negative.data(), count);
  if (std::memcmp(exp.data(), of_negative.data(), count * sizeof(T)) == 0) return;
  for (size_t i = 0; i < count; ++i) {
    if (x[i] != x[i]) {
      ASSERT_TRUE(std::isnan(of_negative[i]));
    } else {
      ASSERT_EQ(of_negative[i], exp[i]) << "of " << x[i];
    }
  }
}

TYPED_TEST(ElementaryTest, ExpOfNegativeIsExp) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  const double lowest = std::same_as<T, double> ? -750 : -105;  // e^x of smaller x is 0
  Random random;
  Guarded<T> x = random.Fill<T>(1000, lowest, 0);
  for (size_t i = 0; i < 100; ++i) x[i] = FromDouble<T>(lowest + random.Uniform(0, 20));
  for (int i = 0; i < 100; ++i) {
    x[100 + static_cast<size_t>(i)] = FromDouble<T>(std::ldexp(random.Uniform(-2, 0), 27 - i));
  }
  const T special[] = {-Limits::infinity(), Limits::quiet_NaN(), Limits::lowest(), -T{0}, 0};
  OnAllTargets([&] {
    ExpectSameExp(x.data(), x.size());
    ExpectSameExp(special, std::size(special));
  });
}

// Checks blocks of f32 arguments with consecutive bit patterns.
class Sweep {
 public:
  static constexpr uint32_t kBlock = 1 << 16;
  static constexpr auto kBlocks = static_cast<uint32_t>((uint64_t{1} << 32) / kBlock);

  explicit Sweep(const Function& f) : f_(f) {}

  static float FirstOf(uint32_t block) { return std::bit_cast<float>(block * kBlock); }
  // True if the results of the block are neither limits nor trivial.
  bool IsHard(uint32_t block) const {
    const float x = FirstOf(block);
    return x >= f_.least && x <= f_.most && std::abs(x) >= f_.tiny;
  }
  // Returns the number of results that exceed the permitted error.
  uint64_t Check(uint32_t block) {
    for (uint32_t i = 0; i < kBlock; ++i) x_[i] = std::bit_cast<float>(block * kBlock + i);
    ApplyElementary(f_.name, x_.data(), y_.data(), kBlock);
    const float x = x_[0], last = x_[kBlock - 1];
    const auto limit = static_cast<float>(x > 0 ? f_.at_most : f_.at_least);
    if (last != last)
      return CountUnless([&](float of, float y) { return of != of ? y != y : y == limit; });
    if (x > f_.most || x < f_.least) return CountUnless([&](float, float y) { return y == limit; });
    return CountUnless([this](float of, float y) { return IsWithin(of, y); });
  }
  double largest() const { return largest_; }  // error in ulps

 private:
  // The f64 functions of the C library have errors below 5 ulps (glibc's manual, "Errors in Math
  // Functions"); 16 are assumed here. Where this cannot decide, Interval does.
  bool IsWithin(float x, float y) {
    constexpr double kOverflow = 0x1.ffffffp127;
    const double exact = f_.near(x), ulp = UlpOfBinade<float>(exact);
    if (exact > kOverflow * (1 - 0x1p-48)) return y == INFINITY || exact < kOverflow;
    const double error = std::abs(y - exact);
    largest_ = std::max(largest_, error / ulp);
    return error < Permitted<float>(f_.name, exact) - 16 * 0x1p-28 * ulp ||
           IsPermitted(f_.name, x, y);
  }
  template <class Holds>
  uint64_t CountUnless(const Holds& holds) {
    uint64_t violations = 0;
    for (uint32_t i = 0; i < kBlock; ++i) violations += !holds(x_[i], y_[i]);
    return violations;
  }

  const Function& f_;
  std::vector<float> x_ = std::vector<float>(kBlock), y_ = x_;
  double largest_ = 0;
};

// The parameter is an instruction set. A sweep takes seconds, so each is a test of its own.
class SlowElementarySweep : public testing::TestWithParam<int64_t> {
 protected:
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }

  // Checks every f32 on the best instruction set if `all`. Otherwise, and on the other instruction
  // sets, checks the hard blocks and one in 16 of the rest. Uses two threads.
  static void ExpectWithinBound(Elementary name, bool all, double least_of_largest) {
    const bool best = GetParam() == hwy::SupportedAndGeneratedTargets()[0];
    hwy::SetSupportedTargetsForTest(GetParam());
    uint64_t violations[2] = {};
    double largest[2] = {};
    const auto work = [&](uint32_t half) {
      Sweep sweep(FunctionOf(name));
      for (uint32_t block = half; block < Sweep::kBlocks; block += 2) {
        if (sweep.IsHard(block) || (all && best) || block % 32 == half)
          violations[half] += sweep.Check(block);
      }
      largest[half] = sweep.largest();
    };
    std::thread other(work, 1);
    work(0);
    other.join();
    EXPECT_EQ(violations[0] + violations[1], 0u);
    const double most = std::max(largest[0], largest[1]);
    EXPECT_GT(most, least_of_largest) << "the sweep missed the hard arguments";
    std::cout << "largest error " << most << " ulps\n";
  }
};
INSTANTIATE_TEST_SUITE_P(Targets, SlowElementarySweep,
                         testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& target) { return hwy::TargetName(target.param); });

TEST_P(SlowElementarySweep, ExpIsWithinItsBoundForAllArguments) {
  ExpectWithinBound(Elementary::kExp, true, 0.8);
}
TEST_P(SlowElementarySweep, SigmoidIsWithinItsBoundForAllArguments) {
  ExpectWithinBound(Elementary::kSigmoid, false, 1);
}
TEST_P(SlowElementarySweep, TanhIsWithinItsBoundForAllArguments) {
  ExpectWithinBound(Elementary::kTanh, false, 1);
}
TEST_P(SlowElementarySweep, ErfIsWithinItsBoundForAllArguments) {
  ExpectWithinBound(Elementary::kErf, false, 0.6);
}

// Every f32 below 0 whose exponential is neither 0 nor 1, and one block in 32 of the others.
TEST(SlowElementary, ExpOfNegativeIsExp) {
  constexpr uint32_t kSignBit = uint32_t{1} << 31;
  const Sweep sweep(FunctionOf(Elementary::kExp));
  std::vector<float> x(Sweep::kBlock);
  OnAllTargets([&] {
    for (uint32_t block = kSignBit / Sweep::kBlock; block < Sweep::kBlocks; ++block) {
      if (!sweep.IsHard(block) && block % 32 != 0) continue;
      for (uint32_t i = 0; i < Sweep::kBlock; ++i)
        x[i] = std::bit_cast<float>(block * Sweep::kBlock + i);
      ASSERT_NO_FATAL_FAILURE(ExpectSameExp(x.data(), x.size()));
    }
  });
}

}  // namespace
}  // namespace sextant::fast
