#include "oracle/position/measured/slope_exponents.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "reference/base/value_text.h"

namespace sextant::oracle {
namespace {

using Exponents = std::vector<double>;

// The exponents of n heads in one sequence: max_bias / n, 2 max_bias / n, ...
Exponents Sequence(size_t n, double max_bias) {
  Exponents all;
  for (size_t h = 0; h < n; ++h)
    all.push_back(max_bias * static_cast<double>(h + 1) / static_cast<double>(n));
  return all;
}

// Every second one of a sequence, from `first` on.
Exponents EverySecond(const Exponents& all, size_t first) {
  Exponents some;
  for (size_t i = first; i < all.size(); i += 2) some.push_back(all[i]);
  return some;
}

Exponents Joined(Exponents a, const Exponents& b, size_t H) {
  a.insert(a.end(), b.begin(), b.end());
  a.resize(std::min(a.size(), H));
  return a;
}

Exponents Each(const Exponents& right, double (*of)(double e)) {
  Exponents all;
  for (const double e : right) all.push_back(of(e));
  return all;
}

void AddRounded(const Exponents& right, std::vector<NamedExponents>& all) {
  all.push_back({"rounded down to integers", Each(right, std::floor)});
  all.push_back({"rounded up to integers", Each(right, std::ceil)});
  all.push_back({"rounded to integers", Each(right, std::nearbyint)});
}

void AddOrders(const Exponents& right, std::vector<NamedExponents>& all) {
  Exponents sorted = right;
  std::ranges::sort(sorted);
  all.push_back({"those of all heads, sorted", sorted});
  std::ranges::reverse(sorted);
  all.push_back({"those of all heads, sorted backwards", sorted});
}

}  // namespace

std::vector<NamedExponents> OtherExponents(const Exponents& right, double max_bias) {
  const size_t H = right.size(), below = std::bit_floor(H), above = std::bit_ceil(H);
  std::vector<NamedExponents> all;
  AddRounded(right, all);
  AddOrders(right, all);
  const auto add = [&](const std::string& text, Exponents exponents) {
    if (exponents.size() == H) all.push_back({text, std::move(exponents)});
  };
  add("those of one sequence of all heads, as if their number were a power of two",
      Sequence(H, max_bias));
  const Exponents longer = Sequence(above, max_bias), half = Sequence(below, max_bias);
  const std::string more = PrintValue(static_cast<double>(above));
  add("the first ones of " + more + " heads", Joined(longer, {}, H));
  add("every second one of " + more + " heads from the first on, and then the others",
      Joined(EverySecond(longer, 0), EverySecond(longer, 1), H));
  add("every second one of " + more + " heads from the second on, and then the others",
      Joined(EverySecond(longer, 1), EverySecond(longer, 0), H));
  const std::string rest = "; of the heads beyond " + PrintValue(static_cast<double>(below)) + ", ";
  add("right" + rest + "those of twice as many heads without a gap", Joined(half, longer, H));
  add("right" + rest + "those of the first heads again", Joined(half, half, H));
  Exponents from_zero = Sequence(below, max_bias);
  for (double& e : from_zero) e -= max_bias / static_cast<double>(below);
  add("right" + rest + "those of a sequence that begins at 0", Joined(half, from_zero, H));
  for (const size_t power : {8, 16, 32, 64}) {
    if (power == below) continue;
    const Exponents first = Sequence(power, max_bias), next = Sequence(2 * power, max_bias);
    if (H > power) {
      add("those of " + PrintValue(static_cast<double>(power)) +
              " heads, and then every second one of " + PrintValue(static_cast<double>(2 * power)) +
              " heads",
          Joined(first, EverySecond(next, 0), H));
    } else if (power != above) {
      add("the first ones of " + PrintValue(static_cast<double>(power)) + " heads",
          Joined(first, {}, H));
    }
  }
  return all;
}

}  // namespace sextant::oracle
