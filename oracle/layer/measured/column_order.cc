#include "oracle/layer/measured/column_order.h"

#include <iterator>
#include <numeric>
#include <set>

namespace sextant::oracle {

std::vector<double> InOrder(const std::vector<double>& numbers, const ColumnOrder& order) {
  std::vector<double> ordered;
  for (size_t j = 0; j < numbers.size(); ++j) ordered.push_back(numbers[order.of(j)]);
  return ordered;
}

namespace {

using Orders = std::vector<ColumnOrder>;

void AddSimple(size_t n, Orders& orders) {
  orders = {{"reversed", "reversed", [n](size_t j) { return n - 1 - j; }},
            {"all_the_first", "the first one everywhere", [](size_t) { return 0; }},
            {"all_the_last", "the last one everywhere", [n](size_t) { return n - 1; }}};
  if (n % 2 == 0) {
    orders.push_back(
        {"halves_exchanged", "with exchanged halves", [n](size_t j) { return (j + n / 2) % n; }});
    orders.push_back({"neighbours_exchanged", "with exchanged neighbours, 1 0 3 2 ...",
                      [](size_t j) { return j ^ 1; }});
  }
  const char* const numbers[] = {"one", "two", "three", "four"};
  for (size_t by = 1; by <= std::size(numbers) && by < n; ++by) {
    const std::string text = std::string("rolled by ") + numbers[by - 1] + " to the ";
    orders.push_back({"rolled", text + "left", [=](size_t j) { return (j + by) % n; }});
    orders.push_back({"rolled", text + "right", [=](size_t j) { return (j + n - by) % n; }});
  }
}

// Parts of the columns, exchanged.
void AddPartOrders(size_t n, Orders& orders) {
  const auto add = [&](const std::string& name, const std::string& text, size_t parts, size_t one) {
    if (n % parts != 0 || n == parts) return;
    const size_t width = n / parts, other = one == 2 ? 0 : one + 1;
    orders.push_back({name, text, [=](size_t j) {
                        const size_t at = j / width;
                        return (at == one ? other : at == other ? one : at) * width + j % width;
                      }});
  };
  add("thirds_exchanged", "with the first and the second third exchanged", 3, 0);
  add("thirds_exchanged", "with the second and the last third exchanged", 3, 1);
  add("thirds_exchanged", "with the first and the last third exchanged", 3, 2);
  add("quarters_exchanged", "with the second and the third quarter exchanged", 4, 1);
}

void AddBlockOrders(size_t n, Orders& orders) {
  if (n % 8 == 0)
    orders.push_back({"packed", "in each eight 0 4 1 5 2 6 3 7, as packed numbers of 4 bits",
                      [](size_t j) { return j / 8 * 8 + j % 2 * 4 + j % 8 / 2; }});
  for (size_t size = 2; size < n && size <= 128; size *= 2) {
    orders.push_back({"repeated", "the first " + std::to_string(size) + " again and again",
                      [=](size_t j) { return j % size; }});
    if (2 * size > n) continue;
    orders.push_back(
        {"blocks_exchanged",
         "with exchanged blocks of " + std::to_string(size) + ", as far as both are whole",
         [=](size_t j) { return (j | (2 * size - 1)) < n ? j ^ size : j; }});
  }
}

void AddTransposed(size_t n, Orders& orders) {
  for (size_t rows = 2; rows < n; ++rows) {
    const size_t columns = n / rows;
    if (n % rows != 0) continue;
    const std::string text =
        "[" + std::to_string(rows) + "," + std::to_string(columns) + "] transposed";
    orders.push_back({"transposed",
                      rows == 2      ? "both halves interleaved"
                      : columns == 2 ? "the even ones before the odd ones"
                                     : text,
                      [=](size_t j) { return j % rows * columns + j / rows; }});
  }
}

}  // namespace

std::vector<ColumnOrder> ColumnOrdersOf(size_t n) {
  Orders orders;
  AddSimple(n, orders);
  AddPartOrders(n, orders);
  AddBlockOrders(n, orders);
  AddTransposed(n, orders);
  std::vector<size_t> right(n);
  std::iota(right.begin(), right.end(), size_t{0});
  std::set<std::vector<size_t>> seen{right};
  std::erase_if(orders, [&](const ColumnOrder& order) {
    std::vector<size_t> all;
    for (size_t j = 0; j < n; ++j) all.push_back(order.of(j));
    return !seen.insert(all).second;
  });
  return orders;
}

std::vector<size_t> BlockSizesOf(size_t width) {
  std::set<size_t> sizes = {width / 2, width / 4};
  for (size_t size = 2; size < width; size *= 2) sizes.insert(size);
  std::erase_if(sizes, [=](size_t size) { return size < 2 || width % size != 0; });
  return {sizes.begin(), sizes.end()};
}

}  // namespace sextant::oracle
