#include "oracle/layer/measured/column_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace sextant::oracle {
namespace {

using testing::ElementsAre;

std::map<std::string, std::vector<double>> OrdersOf(size_t n) {
  std::vector<double> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::map<std::string, std::vector<double>> orders;
  for (const ColumnOrder& order : ColumnOrdersOf(n)) orders[order.text] = InOrder(numbers, order);
  return orders;
}

TEST(ColumnOrdersOf, HasTheOrdersThatItNames) {
  const auto orders = OrdersOf(12);
  EXPECT_THAT(orders.at("[4,3] transposed"), ElementsAre(0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11));
  EXPECT_THAT(orders.at("both halves interleaved"),
              ElementsAre(0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11));
  EXPECT_THAT(orders.at("the even ones before the odd ones"),
              ElementsAre(0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11));
  EXPECT_THAT(orders.at("rolled by one to the left"),
              ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0));
}

TEST(ColumnOrdersOf, HasEachOrderOnceAndNotTheRightOne) {
  for (const size_t n : {1, 2, 3, 4, 7, 64}) {
    std::vector<double> right(n);
    std::iota(right.begin(), right.end(), 0);
    std::vector<std::vector<double>> all;
    for (const auto& [text, order] : OrdersOf(n)) all.push_back(order);
    EXPECT_EQ(all.size(), ColumnOrdersOf(n).size()) << n;
    std::ranges::sort(all);
    EXPECT_TRUE(std::ranges::adjacent_find(all) == all.end()) << n;
    EXPECT_TRUE(std::ranges::find(all, right) == all.end()) << n;
  }
}

}  // namespace
}  // namespace sextant::oracle
