#include "reference/number/lanes/each_number.h"

#include <gtest/gtest.h>

#include <string>

#include "reference/attention/soft_cap.h"
#include "reference/layer/activation.h"
#include "reference/number/counted/counted_bits_test.h"
#include "reference/number/real.h"

namespace sextant {
namespace {

std::vector<Counted> Inputs(size_t count, DType dtype, Random& random) {
  std::vector<Counted> x;
  for (size_t i = 0; i < count; ++i) {
    const bool is_special = random.Below(8) == 0;
    x.emplace_back(is_special ? SpecialValue(dtype, random) : RoundTo(dtype, random.Number(3)),
                   dtype);
  }
  return x;
}

// Compares SetEach for y with the same function of single numbers.
template <class Make>
void ExpectEach(const std::vector<Counted>& x, const Make& make) {
  std::vector<Counted> y(x.size());
  SetEach(y, make, x);
  const auto f = make(std::type_identity<Counted>());
  for (size_t i = 0; i < x.size(); ++i) ExpectSameBits(y[i], f(x[i]));
}

TEST(EachNumber, FunctionsOfManyNumbersHaveTheBitsOfSingleOnes) {
  OnEveryTarget([] {
    Random random(1);
    for (const std::string recipe : {"native", "f32_compute", "*=bf16:erfc", "exact"}) {
      for (const DType dtype : {DType::kF32, DType::kBF16}) {
        const ScopedRecipe following(ParseRecipe(recipe, dtype), dtype);
        for (size_t kind = 0; kind < NamesOf(ActivationKind()).size(); ++kind) {
          ExpectEach(Inputs(130, dtype, random), [kind]<class Number>(std::type_identity<Number>) {
            return ActivationFunction<Number>(static_cast<ActivationKind>(kind));
          });
        }
        ExpectEach(Inputs(130, dtype, random), []<class Number>(std::type_identity<Number>) {
          return SoftCapFunction<Number>(0.7);
        });
      }
    }
  });
}

TEST(EachNumber, AnyCount) {
  const ScopedRecipe following(ParseRecipe("*=f32", DType::kF32), DType::kF32);
  Random random(1);
  for (const size_t count : {0, 1, 2, 7, 8, 9, 63, 64, 65, 127, 128, 129}) {
    ExpectEach(Inputs(count, DType::kF32, random), []<class Number>(std::type_identity<Number>) {
      return [](const Number& x) { return x * x + Number(0.1); };
    });
  }
}

// Each kind of number has its own path.
TEST(EachNumber, OtherNumbersAreSetOneByOne) {
  const std::vector<Interval> x = {Interval(2.0), Interval(3.0)},
                              u = {Interval(5.0), Interval(7.0)};
  std::vector<Interval> y(2);
  SetEach(
      y,
      []<class Number>(std::type_identity<Number>) {
        return [](const Number& a, const Number& b) { return a * b; };
      },
      x, u);
  EXPECT_EQ(Middle(y[0]), 10);
  EXPECT_EQ(Middle(y[1]), 21);
}

}  // namespace
}  // namespace sextant
