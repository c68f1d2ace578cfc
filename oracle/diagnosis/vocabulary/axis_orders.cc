#include "oracle/diagnosis/vocabulary/axis_orders.h"

#include <algorithm>
#include <span>
#include <utility>

namespace sextant::oracle {
namespace {

// An order of n indices, of which there is a multiple of `divisor`.
struct PlainOrder {
  const char *name, *text;
  size_t (*from)(size_t i, size_t n);
  size_t divisor = 1;
};
constexpr PlainOrder kUsualOrders[] = {
    {"reversed", "reversed", [](size_t i, size_t n) { return n - 1 - i; }},
    {"all_the_first", "the first one everywhere", [](size_t, size_t) { return size_t{0}; }},
    {"all_the_last", "the last one everywhere", [](size_t, size_t n) { return n - 1; }},
    {"rolled", "rolled by 1 to the left", [](size_t i, size_t n) { return (i + 1) % n; }},
    {"rolled", "rolled by 1 to the right", [](size_t i, size_t n) { return (i + n - 1) % n; }},
    {"of_next", "each the next one, but the last",
     [](size_t i, size_t n) { return std::min(i + 1, n - 1); }},
    {"of_one_before", "each the one before, but the first",
     [](size_t i, size_t) { return i - (i > 0); }},
    {"rolled", "rolled by 2 to the left", [](size_t i, size_t n) { return (i + 2) % n; }},
    {"rolled", "rolled by 2 to the right", [](size_t i, size_t n) { return (i + 2 * n - 2) % n; }},
    {"shared_by_neighbours", "each even one twice", [](size_t i, size_t) { return i / 2 * 2; }},
    {"neighbours_exchanged", "with exchanged neighbours, 1 0 3 2 ...",
     [](size_t i, size_t n) { return std::min(i ^ 1, n - 1); }},
    {"halves_exchanged", "with exchanged halves",
     [](size_t i, size_t n) { return (i + n / 2) % n; }, 2},
    {"transposed", "both halves interleaved",
     [](size_t i, size_t n) { return i % 2 * (n / 2) + i / 2; }, 2},
    {"transposed", "the even ones before the odd ones",
     [](size_t i, size_t n) { return i % (n / 2) * 2 + i / (n / 2); }, 2}};

// Two of `parts` equal parts are exchanged.
template <size_t parts, size_t one, size_t other>
size_t WithExchanged(size_t i, size_t n) {
  const size_t width = n / parts, at = i / width;
  return (at == one ? other : at == other ? one : at) * width + i % width;
}
constexpr PlainOrder kRareOrders[] = {
    {"thirds_exchanged", "with the first and the second third exchanged", WithExchanged<3, 0, 1>,
     3},
    {"thirds_exchanged", "with the second and the last third exchanged", WithExchanged<3, 1, 2>, 3},
    {"thirds_exchanged", "with the first and the last third exchanged", WithExchanged<3, 0, 2>, 3},
    {"packed", "in each eight 0 4 1 5 2 6 3 7, as packed numbers of 4 bits",
     [](size_t i, size_t) { return i / 8 * 8 + i % 2 * 4 + i % 8 / 2; }, 8},
    {"unpacked", "in each eight 0 2 4 6 1 3 5 7, as unpacked numbers of 4 bits",
     [](size_t i, size_t) { return i / 8 * 8 + i % 4 * 2 + i % 8 / 4; }, 8}};

// Orders of n indices with a number k, 0 < k < n; in the text # is k, and @ is n / k.
struct NumberedOrder {
  const char *name, *text;
  size_t (*from)(size_t i, size_t n, size_t k);
};
constexpr NumberedOrder kOfTwoAndMore[] = {
    {"rolled", "rolled by # to the left", [](size_t i, size_t n, size_t k) { return (i + k) % n; }},
    {"rolled", "rolled by # to the right",
     [](size_t i, size_t n, size_t k) { return (i + n - k) % n; }},
    {"repeated", "the first # again and again", [](size_t i, size_t, size_t k) { return i % k; }}};
constexpr NumberedOrder kOfFourAndMore[] = {
    {"of_group", "the first of each # everywhere",
     [](size_t i, size_t, size_t k) { return i / k * k; }},
    {"blocks_repeated", "with each even block of # twice",
     [](size_t i, size_t, size_t k) { return i - i / k % 2 * k; }},
    {"blocks_exchanged", "with exchanged blocks of #, as far as both are whole",
     [](size_t i, size_t n, size_t k) {
       const size_t odd = i / k | 1;
       return (odd + 1) * k > n ? i : i / k == odd ? i - k : i + k;
     }},
    {"first_at_the_end", "with the first ones after the last whole #",
     [](size_t i, size_t n, size_t k) { return i < n / k * k ? i : i % k; }}};
constexpr NumberedOrder kTransposed[] = {
    {"transposed", "[@,#] transposed",
     [](size_t i, size_t n, size_t k) { return i % (n / k) * k + i / (n / k); }}};
constexpr PlainOrder kOrdersOfColumns[] = {
    {"rolled", "rolled by 3 to the left", [](size_t i, size_t n) { return (i + 3) % n; }},
    {"rolled", "rolled by 3 to the right", [](size_t i, size_t n) { return (i + 3 * n - 3) % n; }},
    {"quarters_exchanged", "with the second and the third quarter exchanged",
     WithExchanged<4, 1, 2>, 4},
    {"blocks_exchanged", "with exchanged blocks of 2, as far as both are whole",
     [](size_t i, size_t n) { return (i | 3) < n ? i ^ 2 : i; }}};
constexpr PlainOrder kOrdersOfFew[] = {{"shared_by_neighbours", "each odd one twice",
                                        [](size_t i, size_t n) { return std::min(i | 1, n - 1); }},
                                       {"shared_at_half_index", "each one of the first half twice",
                                        [](size_t i, size_t) { return i / 2; }}};
constexpr NumberedOrder kNumberedOrdersOfFew[] = {
    {"clamped", "the one of index # from there on",
     [](size_t i, size_t, size_t k) { return std::min(i, k); }},
    {"all_of_one", "the one of index # everywhere", [](size_t, size_t, size_t k) { return k; }},
    {"order_strided", "in steps of #, around the end",
     [](size_t i, size_t n, size_t k) { return i * k % n; }}};

class Orders {
 public:
  explicit Orders(size_t extent) : n_(extent) {}

  void Add(std::span<const PlainOrder> orders, bool are_usual) {
    for (const auto& [name, text, from, divisor] : orders)
      if (n_ % divisor == 0)
        AddNew({name, text, [n = n_, from = from](size_t i) { return from(i, n); }, are_usual});
  }
  void Add(std::span<const NumberedOrder> orders, size_t k) {
    for (const auto& [name, text, from] : orders)
      AddNew({name, WithNumbers(text, k),
              [n = n_, k, from = from](size_t i) { return from(i, n, k); }});
  }
  std::vector<AxisOrder> All() && { return std::move(orders_); }

 private:
  std::string WithNumbers(std::string text, size_t k) const {
    for (const auto& [sign, number] : {std::pair('#', k), std::pair('@', n_ / k)})
      if (const size_t at = text.find(sign); at != std::string::npos)
        text.replace(at, 1, std::to_string(number));
    return text;
  }
  void AddNew(AxisOrder order) {
    const auto is_same = [&](const auto& from) {
      for (size_t i = 0; 2 * i < n_; ++i)  // from both ends, where orders differ
        if (order.from(i) != from(i) || order.from(n_ - 1 - i) != from(n_ - 1 - i)) return false;
      return true;
    };
    if (!is_same(std::identity()) && std::ranges::none_of(orders_, is_same, &AxisOrder::from))
      orders_.push_back(std::move(order));
  }

  size_t n_;
  std::vector<AxisOrder> orders_;
};

}  // namespace

std::vector<AxisOrder> OrdersOf(size_t extent, OrdersFor indices) {
  constexpr size_t kMost = 128;  // of powers of two
  Orders orders(extent);
  orders.Add(kUsualOrders, true);
  orders.Add(kRareOrders, false);
  for (size_t k = 2; k < extent && k <= kMost; k *= 2) orders.Add(kOfTwoAndMore, k);
  for (size_t k = 4; k < extent && k <= kMost; k *= 2) orders.Add(kOfFourAndMore, k);
  for (size_t k = 2; k < extent; ++k)
    if (extent % k == 0) orders.Add(kTransposed, k);
  if (indices == OrdersFor::kInputs) return std::move(orders).All();
  orders.Add(kOrdersOfColumns, false);
  if (indices == OrdersFor::kColumns) return std::move(orders).All();
  orders.Add(kOrdersOfFew, false);
  for (size_t k = 1; k < extent; ++k) orders.Add(kOfTwoAndMore, k);
  for (size_t k = 1; k < extent; ++k) orders.Add(kNumberedOrdersOfFew, k);
  return std::move(orders).All();
}

std::vector<double> InOrder(const std::vector<double>& x,
                            const std::function<size_t(size_t i)>& from, size_t extent,
                            size_t inner) {
  std::vector<double> ordered;
  ordered.reserve(x.size());
  for (size_t flat = 0; flat < x.size(); ++flat) {
    const size_t i = flat / inner % extent;
    ordered.push_back(x[flat - i * inner + from(i) * inner]);
  }
  return ordered;
}

}  // namespace sextant::oracle
