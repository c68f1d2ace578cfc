// Correct dot products conform in every order of summation. Truncated sums, whose errors have one
// sign, are unlikely or fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "oracle/judge/judge.h"
#include "reference/case/draw.h"

namespace sextant::oracle {
namespace {

// The operands of a dot product as f32; products of 16-bit numbers are exact in f32.
struct Operands {
  std::vector<float> a, b;
  size_t size() const { return a.size(); }
  float Product(size_t i) const { return a[i] * b[i]; }
};

float Sequential(const Operands& row) {
  float sum = 0;
  for (size_t i = 0; i < row.size(); ++i) sum += row.Product(i);
  return sum;
}
float Reversed(const Operands& row) {
  float sum = 0;
  for (size_t i = row.size(); i-- > 0;) sum += row.Product(i);
  return sum;
}
float Fused(const Operands& row) {
  float sum = 0;
  for (size_t i = 0; i < row.size(); ++i) sum = std::fma(row.a[i], row.b[i], sum);
  return sum;
}
float HalfOf(const Operands& row, size_t first, size_t count) {
  if (count == 1) return row.Product(first);
  return HalfOf(row, first, count / 2) + HalfOf(row, first + count / 2, count - count / 2);
}
float Pairwise(const Operands& row) { return HalfOf(row, 0, row.size()); }

// Blocks one after the other, each with its own sum.
template <size_t kBlock>
float Blocked(const Operands& row) {
  float sum = 0;
  for (size_t first = 0; first < row.size(); first += kBlock) {
    float block = 0;
    for (size_t i = first; i < std::min(first + kBlock, row.size()); ++i) block += row.Product(i);
    sum += block;
  }
  return sum;
}
// One sum per vector lane; the lanes are added at the end.
template <size_t kLanes>
float Lanes(const Operands& row) {
  std::vector<float> lanes(kLanes);
  for (size_t i = 0; i < row.size(); ++i) {
    lanes[i % kLanes] = std::fma(row.a[i], row.b[i], lanes[i % kLanes]);
  }
  return std::accumulate(lanes.begin(), lanes.end(), 0.f);
}
// Source: Kahan 1965, "Further remarks on reducing truncation errors", CACM 8(1).
float Compensated(const Operands& row) {
  float sum = 0, lost = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    const float term = row.Product(i) - lost, next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  return sum;
}

struct Order {
  const char* name;
  float (*sum)(const Operands&);
};
constexpr Order kHonest[] = {
    {"sequential", Sequential}, {"reversed", Reversed},      {"fused", Fused},
    {"pairwise", Pairwise},     {"blocks_of_8", Blocked<8>}, {"blocks_of_64", Blocked<64>},
    {"lanes_of_16", Lanes<16>}, {"lanes_of_8", Lanes<8>},    {"compensated", Compensated},
};

// A sequential sum, truncated to kBits bits of significand after every addition.
template <int kBits>
float Truncated(const Operands& row) {
  double sum = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    sum += static_cast<double>(row.a[i]) * row.b[i];
    int exponent = 0;
    const double fraction = std::frexp(sum, &exponent);
    sum = std::ldexp(std::trunc(std::ldexp(fraction, kBits)), exponent - kBits);
  }
  return static_cast<float>(sum);
}

// The verdict on a linear layer whose dot products are computed by `sum`.
Verdict Judged(const std::string& line, const std::string& recipe, float (*sum)(const Operands&)) {
  const Case c = Case::Parse(line);
  const Tensors inputs = DrawInputs(c);
  Tensors answer = {{"y", c.dtype(), Tensor<double>({2, 3})}};
  for (size_t i = 0; i < 6; ++i) {
    Operands row;
    for (const bool of_x : {true, false}) {
      const auto& from = inputs[of_x ? 0 : 1].values;
      const size_t width = from.shape[1], at = of_x ? i / 3 : i % 3;
      for (size_t k = 0; k < width; ++k)
        (of_x ? row.a : row.b).push_back(static_cast<float>(from(at, k)));
    }
    answer[0].values.data[i] = RoundTo(c.dtype(), sum(row));
  }
  return Judge(c, inputs, ParseRecipe(recipe, c.dtype())).Evaluate(answer);
}

TEST(SlowSummation, HonestSumsConformInAnyOrder) {
  for (const char* dtype : {"f32", "f16", "bf16"}) {
    for (const char* drawn : {"normal", "uniform(0,1)"}) {
      const std::string line = std::string("linear N=2 F=3 M=4096 dtype=") + dtype +
                               " @weight=uniform(0,0.25) @x=" + drawn;
      for (const Order& order : kHonest) {
        const Verdict verdict = Judged(line, "native", order.sum);
        EXPECT_EQ(verdict.status, Verdict::Status::kConforms) << order.name << " " << line;
        EXPECT_LT(verdict.grade.value(), Grade::kUnlikely) << order.name << " " << line;
      }
    }
  }
}

// All terms are positive, so truncation errors add up: half an ulp on average, 4096 times.
// Independent roundings hardly exceed 8 sqrt(4096) = 512 half ulps.
TEST(Summation, TruncatedSumsAreUnlikely) {
  const std::string line = "linear N=2 F=3 M=4096 @weight=uniform(0.5,1) @x=uniform(0.5,1)";
  const Verdict verdict = Judged(line, "native", Truncated<24>);
  EXPECT_EQ(verdict.status, Verdict::Status::kConforms);  // the worst-case bound permits it
  EXPECT_EQ(verdict.grade, Grade::kUnlikely);
}

// In f16 the sum stops where its ulp exceeds every term.
TEST(Summation, TruncatedSumsIn16BitsAreUnlikelyOrFail) {
  const std::string words = " @weight=uniform(0.5,1) @x=uniform(0.5,1)";
  const std::string f16 = "linear N=2 F=3 M=4096 dtype=f16" + words;
  EXPECT_EQ(Judged(f16, "native", Truncated<11>).status, Verdict::Status::kFails);
  EXPECT_GE(Judged(f16, "*=f32 dot=f16 store=T", Truncated<11>).grade.value(), Grade::kUnlikely);
  const std::string bf16 = "linear N=2 F=3 M=4096 dtype=bf16" + words;
  EXPECT_EQ(Judged(bf16, "native", Truncated<8>).status, Verdict::Status::kFails);
}

}  // namespace
}  // namespace sextant::oracle
