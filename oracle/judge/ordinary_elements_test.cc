// Vectors of elements have the verdicts of single elements, on every instruction set. An element
// among unspecified neighbours is judged as a single element.
#include "oracle/judge/ordinary_elements.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "oracle/judge/judge_test.h"
#include "oracle/judge/tensor_judge.h"
#include "oracle/judge/undecided.h"
#include "reference/case/random_test.h"
#include "reference/number/counted/counted_bits_test.h"

namespace sextant::oracle {
namespace {

constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kF64, DType::kF8E4M3FN};

// One row; every number is that of an unspecified element.
struct Row : Ones {
  Row(size_t M, DType dtype) : Ones(1, M) {
    golden[0].dtype = permitted[0].dtype = dtype;
    std::ranges::fill(golden[0].value.data, kNaN);
    std::ranges::fill(golden[0].high.data, kNaN);
  }
  void Copy(const Row& from, size_t i, size_t to) {
    for (const auto part :
         {&GoldenTensor::value, &GoldenTensor::high, &GoldenTensor::low, &GoldenTensor::radius})
      (golden[0].*part).data[to] = (from.golden[0].*part).data[i];
    permitted[0].error.data[to] = from.permitted[0].error.data[i];
    permitted[0].likely.data[to] = from.permitted[0].likely.data[i];
    permitted[0].vacuous[to] = from.permitted[0].vacuous[i];
    answer[0].values.data[to] = from.answer[0].values.data[i];
  }
  ComparedRun Run() const {
    return {golden[0], permitted[0], answer[0].values, 0, golden[0].high.data.size()};
  }
  TensorVerdict Judged() const {
    return JudgeTensors(c, {.golden = golden, .permitted = permitted, .threads = 1}, answer)
        .at(0)
        .verdict;
  }
};

// How often elements are special cases, fail or are unlikely: rarely, so that most vectors have
// none, or often.
struct Rarity {
  size_t one_in;
  bool enclosed;  // some elements are not proven
};

// An element that conforms, most often not exactly, or a special case.
void Draw(Row& row, size_t i, const Rarity& rarity, Random& random) {
  GoldenTensor& g = row.golden[0];
  PermittedTensor& p = row.permitted[0];
  const auto is_rare = [&] { return random.Below(rarity.one_in) == 0; };
  const double exact = is_rare() ? SpecialValue(g.dtype, random) : random.Number(6);
  const double ulp = UlpOf(g.dtype, exact);
  g.high.data[i] = exact;
  g.low.data[i] = exact * 0x1p-54 * random.Uniform(-1, 1);
  g.value.data[i] = RoundTo(g.dtype, exact);
  const double radius = std::abs(exact) * std::ldexp(1.0, -static_cast<int>(random.Below(30)) - 30);
  g.radius.data[i] = rarity.enclosed && random.Below(3) > 0 ? -radius : is_rare() ? radius : 0;
  if (is_rare()) g.radius.data[i] = kNaN;
  const double bound = is_rare() ? 0 : ulp * random.Uniform(2, 9);
  p.error.data[i] = is_rare() ? kInfinity : bound;
  p.likely.data[i] = is_rare() ? bound * random.Uniform(0, 1) : bound;
  p.vacuous[i] = is_rare();
  const double steps = is_rare() ? random.Uniform(-12, 12) : random.Uniform(-1.9, 1.9);
  double got = is_rare() ? exact + bound : RoundTo(g.dtype, exact + steps * ulp);
  if (is_rare()) got = random.OneOf(std::vector<double>{kNaN, kInfinity, -kInfinity, 0, -exact});
  row.answer[0].values.data[i] = random.Below(4) ? got : g.value.data[i];
}

// Rows around the width of vectors and of blocks (512), each with its elements far apart.
template <class Check>
void ForEachRow(Check check) {
  Random random(1);
  std::vector<size_t> sizes = {511, 512, 513, 1030};
  for (size_t M = 1; M <= 2 * kMostLanes + 1; ++M) sizes.push_back(M);
  for (const size_t M : sizes) {
    for (const DType dtype : kTypes) {
      for (const Rarity rarity : {Rarity{1000, false}, {1000, true}, {100, true}, {6, true}}) {
        Row row(M, dtype), apart(M * kMostLanes, dtype);
        for (size_t i = 0; i < M; ++i) {
          Draw(row, i, rarity, random);
          apart.Copy(row, i, i * kMostLanes);
        }
        check(row, apart);
      }
    }
  }
}

void ExpectSameVerdict(const TensorVerdict& a, const TensorVerdict& b, size_t unspecified) {
  EXPECT_EQ(a.grade, b.grade);
  EXPECT_EQ(a.judged, b.judged);
  EXPECT_EQ(a.failed, b.failed);
  EXPECT_EQ(a.vacuous, b.vacuous);
  EXPECT_EQ(a.unspecified + unspecified, b.unspecified);
  EXPECT_EQ(a.unjudgeable, b.unjudgeable);
  EXPECT_EQ(a.unlikely, b.unlikely);
  EXPECT_EQ(a.enclosed, b.enclosed);
  EXPECT_EQ(a.left_out, b.left_out);
  for (const auto number :
       {&Element::got, &Element::expected, &Element::permitted, &Element::error, &Element::likely})
    ExpectSameNumber(a.worst.*number, b.worst.*number);
  // Sums of at most 1030 numbers in two orders, each with an error of 1030 2^-53 of the sum of the
  // magnitudes, whose mean is at most their root mean square.
  const double margin = 2 * 1030 * 0x1p-53 * a.spread;
  EXPECT_NEAR(a.bias, b.bias, margin);
  EXPECT_NEAR(a.spread, b.spread, margin);
}

TEST(OrdinaryElements, HaveTheVerdictsOfSingleElements) {
  OnEveryTarget([] {
    ForEachRow([](const Row& row, const Row& apart) {
      const size_t M = row.Run().count;
      ExpectSameVerdict(row.Judged(), apart.Judged(), M * (kMostLanes - 1));
    });
  });
}

TEST(OrdinaryElements, ClimbAsSingleElements) {
  OnEveryTarget([] {
    ForEachRow([](const Row& row, const Row& apart) {
      const auto marks = Undecided({row.golden, row.permitted}, row.answer, 1).Next();
      const auto marks_apart = Undecided({apart.golden, apart.permitted}, apart.answer, 1).Next();
      ASSERT_EQ(marks.empty(), marks_apart.empty());
      for (size_t i = 0; !marks.empty() && i < marks[0].size(); ++i)
        EXPECT_EQ(marks[0][i], marks_apart[0][i * kMostLanes]) << i;
    });
  });
}

// Most elements of an answer that conforms are judged in vectors, and nothing is written after the
// end.
TEST(OrdinaryElements, AreMostOfAnAnswerThatConforms) {
  static constexpr double kSentinel = -7;
  OnEveryTarget([] {
    Random random(2);
    for (size_t M = 1; M <= 5 * kMostLanes; ++M) {
      Row row(M, DType::kBF16);
      for (size_t i = 0; i < M; ++i) row.Put(i, 1 + 0x1p-7 * random.Uniform(0, 1), 0x1p-5, 1);
      row.golden[0].radius.data.assign(M, -0x1p-50);
      std::vector<double> relative(M + 3, kSentinel);
      std::vector<char> left(M + 3, 7);
      std::vector<How> how(M + 3, How{7});
      EXPECT_EQ(JudgeOrdinary(row.Run(), kInfinity, relative.data(), how.data()).judged, M);
      EXPECT_EQ(std::ranges::count(how, How::kConforms), static_cast<std::ptrdiff_t>(M));
      EXPECT_EQ(std::ranges::count(how, How{7}), 3);
      const OrdinaryRatios ratios = DecideOrdinary(row.Run(), left.data());
      EXPECT_GE(ratios.least, 0);
      EXPECT_GT(ratios.most, ratios.least);
      EXPECT_EQ(std::ranges::count(left, 0), static_cast<std::ptrdiff_t>(M));
      EXPECT_EQ(std::ranges::count(left, 7), 3);
      EXPECT_EQ(std::ranges::count(relative, kSentinel), 3);
    }
  });
}

// The same if most elements fail, among some that conform.
TEST(OrdinaryElements, AreMostOfAnAnswerThatFails) {
  OnEveryTarget([] {
    for (size_t M = 1; M <= 5 * kMostLanes; ++M) {
      Row row(M, DType::kBF16);
      for (size_t i = 0; i < M; ++i)
        row.Put(i, 1 + 0x1p-10, 0x1p-5,
                i % 5 == 3 ? 1 + 0x1p-7 : 1 + static_cast<double>(1 + i % 4) * 0x1p-4);
      const auto failing = static_cast<std::ptrdiff_t>(M - (M + 1) / 5);
      std::vector<double> relative(M);
      std::vector<How> how(M);
      const OrdinaryVerdict verdict =
          JudgeOrdinary(row.Run(), kInfinity, relative.data(), how.data());
      EXPECT_EQ(verdict.judged, M);
      EXPECT_EQ(verdict.failed, static_cast<size_t>(failing));
      for (size_t i = 0; i < M; ++i)
        EXPECT_EQ(how[i], i % 5 == 3 ? How::kConforms : How::kFails) << i;
      const size_t worst = M > 7 ? 7 : std::min<size_t>(M - 1, 2);
      EXPECT_EQ(verdict.most_at, worst);
      EXPECT_EQ(verdict.most, relative[worst]);
      row.golden[0].radius.data.assign(M, -0x1p-50);
      std::vector<char> left(M, 7);
      const OrdinaryRatios ratios = DecideOrdinary(row.Run(), left.data());
      EXPECT_EQ(std::ranges::count(left, 0), static_cast<std::ptrdiff_t>(M));
      EXPECT_EQ(ratios.failing_most_at, worst);
      EXPECT_LT(ratios.failing_least, verdict.most);
      EXPECT_GT(ratios.failing_most, verdict.most);
    }
  });
}

// Copies of one element, and one other element at any place. Upper bounds are those of errors /
// bounds that are 2 r smaller, and by the same part of themselves: of r = 2^-50 and a bound of
// 2^-6, 2^-43; four roundings of 2^-53 are less than that.
TEST(OrdinaryElements, EqualElementsCountOnce) {
  constexpr double kReach = 2 * 2 * 0x1p-43;
  OnEveryTarget([] {
    for (size_t M = 1; M <= 3 * kMostLanes; ++M) {
      for (size_t other = 0; other < M; ++other) {
        Row row(M, DType::kBF16);
        for (size_t i = 0; i < M; ++i) row.Put(i, 1 + 0x1p-10, 0x1p-5, 1);
        row.golden[0].radius.data.assign(M, -0x1p-50);
        std::vector<char> left(M);
        EXPECT_EQ(DecideOrdinary(row.Run(), left.data()).next, -1);
        row.permitted[0].error.data[other] = 0x1p-6;  // twice the ratio
        const OrdinaryRatios ratios = DecideOrdinary(row.Run(), left.data());
        EXPECT_EQ(ratios.most_at, other);
        if (M > 1) {
          EXPECT_NEAR(ratios.most / ratios.next, 2, kReach);
        }
        row.permitted[0].error.data[other] = 0x1p-4;  // half the ratio
        const OrdinaryRatios below = DecideOrdinary(row.Run(), left.data());
        if (M > 1) {
          EXPECT_NEAR(below.most / below.next, 2, kReach);
        }
      }
    }
  });
}

}  // namespace
}  // namespace sextant::oracle
