#include "oracle/diagnosis/vocabulary/axis_orders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace sextant::oracle {
namespace {

using testing::ElementsAre;
using Numbers = std::vector<double>;

Numbers Ascending(size_t n) {
  Numbers numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// By their texts.
std::map<std::string, Numbers> OrdersByText(size_t n, OrdersFor indices = OrdersFor::kColumns) {
  std::map<std::string, Numbers> orders;
  for (const AxisOrder& order : OrdersOf(n, indices))
    orders[order.text] = InOrder(Ascending(n), order.from, n);
  return orders;
}

TEST(OrdersOf, HasTheOrdersThatItNames) {
  const auto orders = OrdersByText(12);
  const std::pair<const char*, Numbers> expected[] = {
      {"reversed", {11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
      {"the first one everywhere", {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
      {"the last one everywhere", {11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11}},
      {"rolled by 1 to the left", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0}},
      {"rolled by 3 to the right", {9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7, 8}},
      {"each the next one, but the last", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11}},
      {"each the one before, but the first", {0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
      {"each even one twice", {0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10}},
      {"with exchanged neighbours, 1 0 3 2 ...", {1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10}},
      {"with exchanged halves", {6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5}},
      {"both halves interleaved", {0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11}},
      {"the even ones before the odd ones", {0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11}},
      {"with the second and the last third exchanged", {0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7}},
      {"with the second and the third quarter exchanged", {0, 1, 2, 6, 7, 8, 3, 4, 5, 9, 10, 11}},
      {"the first 8 again and again", {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3}},
      {"the first of each 4 everywhere", {0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8}},
      {"with each even block of 4 twice", {0, 1, 2, 3, 0, 1, 2, 3, 8, 9, 10, 11}},
      {"with exchanged blocks of 2, as far as both are whole",
       {2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9}},
      {"[4,3] transposed", {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11}}};
  for (const auto& [text, numbers] : expected) {
    ASSERT_TRUE(orders.contains(text)) << text;
    EXPECT_EQ(orders.at(text), numbers) << text;
  }
}

TEST(OrdersOf, KnowsHowNumbersOfFourBitsArePacked) {
  const auto orders = OrdersByText(16);
  EXPECT_THAT(orders.at("in each eight 0 4 1 5 2 6 3 7, as packed numbers of 4 bits"),
              ElementsAre(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15));
  EXPECT_THAT(orders.at("in each eight 0 2 4 6 1 3 5 7, as unpacked numbers of 4 bits"),
              ElementsAre(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15));
}

TEST(OrdersOf, OfFewIndicesHasMore) {
  const auto orders = OrdersByText(7, OrdersFor::kFew);
  EXPECT_THAT(orders.at("the first 5 again and again"), ElementsAre(0, 1, 2, 3, 4, 0, 1));
  EXPECT_THAT(orders.at("the one of index 5 from there on"), ElementsAre(0, 1, 2, 3, 4, 5, 5));
  EXPECT_THAT(orders.at("the one of index 5 everywhere"), ElementsAre(5, 5, 5, 5, 5, 5, 5));
  EXPECT_THAT(orders.at("in steps of 5, around the end"), ElementsAre(0, 5, 3, 1, 6, 4, 2));
  EXPECT_THAT(orders.at("each odd one twice"), ElementsAre(1, 1, 3, 3, 5, 5, 6));
  EXPECT_THAT(orders.at("each one of the first half twice"), ElementsAre(0, 0, 1, 1, 2, 2, 3));
  EXPECT_FALSE(OrdersByText(7).contains("the one of index 5 everywhere"));
}

// After three fours, two are left.
TEST(OrdersOf, HasARemainderAfterWholeBlocks) {
  const auto orders = OrdersByText(14);
  EXPECT_THAT(orders.at("with the first ones after the last whole 4"),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 1));
  EXPECT_THAT(orders.at("with exchanged blocks of 4, as far as both are whole"),
              ElementsAre(4, 5, 6, 7, 0, 1, 2, 3, 8, 9, 10, 11, 12, 13));
}

TEST(OrdersOf, HasEachOrderOnceAndNotTheRightOne) {
  for (const auto indices : {OrdersFor::kInputs, OrdersFor::kColumns, OrdersFor::kFew}) {
    for (const size_t n : {1, 2, 3, 4, 7, 64}) {
      std::vector<Numbers> all;
      for (const auto& [text, order] : OrdersByText(n, indices)) all.push_back(order);
      EXPECT_EQ(all.size(), OrdersOf(n, indices).size()) << n;
      std::ranges::sort(all);
      EXPECT_TRUE(std::ranges::adjacent_find(all) == all.end()) << n;
      EXPECT_TRUE(std::ranges::find(all, Ascending(n)) == all.end()) << n;
    }
  }
}

// [2,3,2] along the axis of 3: the two numbers of an index stay together.
TEST(InOrder, MovesTheIndicesOfAnAxis) {
  EXPECT_THAT(InOrder(
                  Ascending(12), [](size_t i) { return 2 - i; }, 3, 2),
              ElementsAre(4, 5, 2, 3, 0, 1, 10, 11, 8, 9, 6, 7));
}

}  // namespace
}  // namespace sextant::oracle
