#include "oracle/rope/measured/pair_orders.h"

#include <algorithm>
#include <functional>

#include "oracle/rope/measured/numbers.h"

namespace sextant::oracle {
namespace {

class Orders {
 public:
  Orders(size_t pairs, std::string noun) : pairs_(pairs), noun_(std::move(noun)) {}

  std::vector<PairOrder> Run() {
    if (pairs_ < 2) return {};
    Simple();
    for (size_t n = 1; n < pairs_; ++n) OfNumber(n);
    for (size_t n = 1; n < pairs_; ++n)
      Add({"of_one_pair", "all " + noun_ + "s", Phrase(noun_, " ", n), {}, true},
          [n](size_t) { return n; });
    for (size_t n = 2; n < pairs_; ++n) {
      const size_t P = pairs_;
      Add({"order_strided", noun_ + " k", Phrase(noun_, " ", n, " k mod ", P), {}},
          [=](size_t k) { return n * k % P; });
    }
    return std::move(all_);
  }

 private:
  void Add(PairOrder order, const std::function<size_t(size_t)>& from) {
    bool is_right = true;
    for (size_t k = 0; k < pairs_; ++k) {
      order.from.push_back(from(k));
      is_right = is_right && order.from[k] == k;
    }
    if (!is_right) all_.push_back(std::move(order));
  }
  void Simple() {
    const size_t last = pairs_ - 1, half = pairs_ / 2;
    Add({"reversed", noun_ + " k", Phrase(noun_, " ", last, " - k"), {}},
        [=](size_t k) { return last - k; });
    Add({"of_next_pair", noun_ + " k", noun_ + " k + 1", {}},
        [=](size_t k) { return std::min(k + 1, last); });
    Add({"of_pair_before", noun_ + " k", noun_ + " k - 1", {}},
        [](size_t k) { return k == 0 ? 0 : k - 1; });
    Add({"shared_by_neighbours", noun_ + "s 2k and 2k + 1", noun_ + " 2k", {}, true},
        [](size_t k) { return k / 2 * 2; });
    Add({"shared_by_neighbours", noun_ + "s 2k and 2k + 1", noun_ + " 2k + 1", {}, true},
        [=](size_t k) { return std::min(k / 2 * 2 + 1, last); });
    Add({"exchanged_by_neighbours",
         noun_ + "s 2k and 2k + 1",
         noun_ + "s 2k + 1 and 2k: exchanged",
         {},
         true},
        [=](size_t k) { return std::min(k ^ size_t{1}, last); });
    Add({"shared_at_half_index", noun_ + " k", noun_ + " k/2, rounded down", {}},
        [](size_t k) { return k / 2; });
    if (pairs_ % 2 != 0) return;
    Add({"order_even_before_odd",
         noun_ + " k",
         noun_ + " 2k, then 2k + 1: even before odd ones",
         {}},
        [=](size_t k) { return k < half ? 2 * k : 2 * (k - half) + 1; });
    Add({"order_interleaved",
         noun_ + "s 2k and 2k + 1",
         Phrase(noun_, "s k and k + ", half),
         {},
         true},
        [=](size_t k) { return k / 2 + k % 2 * half; });
  }
  void OfNumber(size_t n) {
    const size_t P = pairs_;
    Add({"rolled", noun_ + " k", Phrase(noun_, " (k + ", n, ") mod ", P), {}},
        [=](size_t k) { return (k + n) % P; });
    Add({"repeated",
         n == 1 ? "all " + noun_ + "s" : noun_ + " k",
         n == 1 ? noun_ + " 0" : Phrase(noun_, " k mod ", n),
         {},
         n == 1},
        [n](size_t k) { return k % n; });
    Add({"clamped", Phrase(noun_, "s above ", n), Phrase(noun_, " ", n), {}, true},
        [n](size_t k) { return std::min(k, n); });
  }

  size_t pairs_;
  std::string noun_;
  std::vector<PairOrder> all_;
};

}  // namespace

std::vector<PairOrder> PairOrders(size_t pairs, const std::string& noun) {
  return Orders(pairs, noun).Run();
}

}  // namespace sextant::oracle
