// Which elements of an answer must be proven.
#include "oracle/judge/undecided.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "oracle/judge/judge_test.h"

namespace sextant::oracle {
namespace {

using testing::ElementsAre;

constexpr double kUlp = 0x1p-23;     // of f32 above 1
constexpr double kRadius = 0x1p-45;  // of enclosures

// Four enclosed numbers. Element 0 has the largest error, element 3 is exact; the others lie well
// inside of their bounds.
struct Enclosed : Ones {
  Enclosed() {
    for (size_t i = 0; i < 4; ++i) Put(i, 1 + 0x1p-30, kPermitted, 1 + 2 * kUlp);
    answer[0].values.data[0] = 1 + 5 * kUlp;
    answer[0].values.data[3] = 1;
    for (double& radius : golden[0].radius.data) radius = -kRadius;
  }
  std::vector<char> Marks() const {
    const ElementMarks marks = Undecided({golden, permitted}, answer, 1).Next();
    return marks.empty() ? std::vector<char>() : marks[0];
  }
};

TEST(Undecided, OnlyTheWorstElementIsProvenIfAllAreDecided) {
  EXPECT_THAT(Enclosed().Marks(), ElementsAre(1, 0, 0, 0));
}

TEST(Undecided, ProvenElementsAreNotMarked) {
  Enclosed e;
  e.golden[0].radius.data[0] = 0;
  EXPECT_THAT(e.Marks(), ElementsAre());
  e.golden[0].radius.data = {0, 0, 0, 0};
  EXPECT_THAT(e.Marks(), ElementsAre());
}

TEST(Undecided, ErrorsAtThePermittedErrorAreUndecided) {
  for (const double distance : {-1.0, 0.0, 1.0}) {
    Enclosed e;
    const double error = 1 + 2 * kUlp - (1 + 0x1p-30);
    e.permitted[0].error.data[1] = e.permitted[0].likely.data[1] = error + distance * kRadius;
    EXPECT_EQ(e.Marks()[1], 1) << distance;
  }
}

TEST(Undecided, ErrorsAtTheLikelyErrorAreUndecided) {
  Enclosed e;
  e.permitted[0].likely.data[1] = 1 + 2 * kUlp - (1 + 0x1p-30);
  EXPECT_EQ(e.Marks()[1], 1);
}

TEST(Undecided, TiesAreUndecided) {
  Enclosed e;
  e.Put(2, 1 + kUlp / 2, kPermitted, 1);
  EXPECT_THAT(e.Marks(), ElementsAre(1, 0, 1, 0));
}

TEST(Undecided, ErrorsOfOneUlpAreUndecided) {
  Enclosed e;
  e.Put(2, 1 + kUlp, kPermitted, 1 + 2 * kUlp);
  EXPECT_THAT(e.Marks(), ElementsAre(1, 0, 1, 0));
}

TEST(Undecided, ValuesAtABinadeAreUndecided) {
  Enclosed e;  // the ulp of the exact value is not decided
  e.Put(2, 2 - 0x1p-46, kPermitted, 2);
  EXPECT_THAT(e.Marks(), ElementsAre(1, 0, 1, 0));
}

TEST(Undecided, OfFailingElementsTheWorstIsProven) {
  Enclosed e;
  e.answer[0].values.data[2] = 1 + 9 * kUlp;
  EXPECT_THAT(e.Marks(), ElementsAre(0, 0, 1, 0));
  e.answer[0].values.data[1] = 1 + 20 * kUlp;
  EXPECT_THAT(e.Marks(), ElementsAre(0, 1, 0, 0));
  e.answer[0].values.data[3] = kNaN;  // a failure without a finite error
  EXPECT_THAT(e.Marks(), ElementsAre(0, 0, 0, 1));
}

// Other bounds decide then what is unlikely (systematic_error.h), and with it the worst element.
TEST(Undecided, AllElementsAreProvenIfTheWorstIsUnlikely) {
  Enclosed e;
  e.permitted[0].likely.data[2] = kUlp;
  EXPECT_THAT(e.Marks(), ElementsAre(1, 1, 1, 1));
  e.answer[0].values.data[1] = 1 + 20 * kUlp;  // fails
  EXPECT_THAT(e.Marks(), ElementsAre(0, 1, 0, 0));
}

// Elements far from each other (blocks of 512 are judged at once).
TEST(Undecided, AllElementsOfALargeTensorAreProvenIfItsWorstIsUnlikely) {
  Ones ones(3, 1000);
  std::ranges::fill(ones.golden[0].radius.data, -kRadius);
  for (size_t i = 0; i < 3000; ++i) ones.Put(i, 1 + 0x1p-30, kPermitted, 1);
  ones.Put(2500, 1 + 0x1p-30, kPermitted, 1 + 2 * kUlp);
  const auto marks = [&] {
    return Undecided({ones.golden, ones.permitted}, ones.answer, 1).Next().at(0);
  };
  EXPECT_EQ(std::ranges::count(marks(), 1), 1);
  EXPECT_EQ(marks()[2500], 1);
  ones.permitted[0].likely.data[2500] = kUlp;
  EXPECT_EQ(std::ranges::count(marks(), 1), 3000);
}

TEST(Undecided, AllThatMayBeTheWorstAreProven) {
  Enclosed e;
  e.answer[0].values.data[1] = 1 + 5 * kUlp;  // the same ratio
  e.Put(2, 1 + 0x1p-30 + 0x1p-47, kPermitted, 1 + 5 * kUlp);
  EXPECT_THAT(e.Marks(), ElementsAre(1, 1, 1, 0));
}

// A proof decides the only undecided grade: the element is unlikely, so all others must be proven.
// Element 7 is the worst of those whose grade is decided.
TEST(Undecided, AProofMayMakeOthersUndecided) {
  Ones ones(3, 1000);
  for (size_t i = 0; i < 3000; ++i) ones.Put(i, 1 + 0x1p-30, kPermitted, 1);
  std::ranges::fill(ones.golden[0].radius.data, -kRadius);
  ones.Put(2500, 1 + 0x1p-30, kPermitted, 1 + 2 * kUlp);
  ones.permitted[0].likely.data[2500] = 1 + 2 * kUlp - (1 + 0x1p-30);
  ones.Put(7, 1 + 0x1p-30, kPermitted, 1 + 3 * kUlp);
  ProvenAndPermitted reference{ones.golden, ones.permitted};
  Undecided undecided(reference, ones.answer, 1);
  const ElementMarks first = undecided.Next();
  EXPECT_EQ(std::ranges::count(first.at(0), 1), 2);
  EXPECT_EQ(first.at(0)[7] + first.at(0)[2500], 2);
  for (const size_t i : {7, 8, 2500}) reference.golden[0].radius.data[i] = 0;  // 8: beside them
  reference.golden[0].high.data[2500] -= kRadius / 2;                          // a larger error
  const ElementMarks second = undecided.Next();
  EXPECT_EQ(std::ranges::count(second.at(0), 1), 2997);
  for (const size_t i : {7, 8, 2500}) EXPECT_EQ(second.at(0)[i], 0) << i;
  std::ranges::fill(reference.golden[0].radius.data, 0);
  EXPECT_TRUE(undecided.Next().empty());
}

// The ranks of elements that are only enclosed, with other numbers for each letter.
RankRange Only(double most, double letter) {
  return {{Grade::kWithin, most - 1}, {Grade::kWithin, most}, {letter}, {}};
}

TEST(RankRange, NextIsTheRankOfOtherNumbers) {
  RankRange ranks;
  ranks.Include(Only(5, 'a'));
  EXPECT_EQ(ranks.next, Rank());
  ranks.Include(Only(5, 'a'));  // the same element once more
  EXPECT_EQ(ranks.next, Rank());
  ranks.Include(Only(3, 'b'));
  EXPECT_EQ(ranks.next, Rank(Grade::kWithin, 3));
  ranks.Include(Only(7, 'c'));
  EXPECT_EQ(ranks.most, Rank(Grade::kWithin, 7));
  EXPECT_EQ(ranks.top, ElementNumbers{'c'});
  EXPECT_EQ(ranks.next, Rank(Grade::kWithin, 5));
  EXPECT_EQ(ranks.least, Rank(Grade::kWithin, 6));
}

TEST(RankRange, TheTopIsTheFirstElementWithItsNumbers) {
  const auto at = [](double letter, size_t place) {
    RankRange one = Only(5, letter);
    one.top_at = place;
    return one;
  };
  RankRange ranks;
  ranks.Include(at('a', 3));
  ranks.Include(at('a', 7));
  EXPECT_EQ(ranks.top_at, 3);
  ranks.Include(at('a', 2));
  EXPECT_EQ(ranks.top_at, 2);
  ranks.Include(at('b', 1));  // with other numbers
  EXPECT_EQ(ranks.top_at, 2);
}

TEST(RankRange, ProvenElementsHaveNoUpperBound) {
  RankRange ranks = Only(5, 'a');
  ranks.Include({{Grade::kWithin, 9}, {}, {'p'}, {}});
  EXPECT_EQ(ranks.least, Rank(Grade::kWithin, 9));
  EXPECT_EQ(ranks.most, Rank(Grade::kWithin, 5));
  EXPECT_EQ(ranks.next, Rank());
}

}  // namespace
}  // namespace sextant::oracle
