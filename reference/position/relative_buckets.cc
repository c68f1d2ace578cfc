#include "reference/position/relative_buckets.h"

#include <gmp.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reference/base/error.h"

namespace sextant {
namespace {

// An integer of any size.
class Integer {
 public:
  explicit Integer(int64_t base, int64_t exponent) {
    mpz_init(number_);
    mpz_ui_pow_ui(number_, static_cast<unsigned long>(base), static_cast<unsigned long>(exponent));
  }
  Integer(const Integer&) = delete;
  ~Integer() { mpz_clear(number_); }
  Integer& operator*=(const Integer& other) {
    mpz_mul(number_, number_, other.number_);
    return *this;
  }
  friend bool operator>=(const Integer& a, const Integer& b) {
    return mpz_cmp(a.number_, b.number_) >= 0;
  }

 private:
  mpz_t number_;
};

// The w logarithmic buckets of one side, x + b for b = 0 .. w-1; m is max_distance. Bucket x + b
// begins at the least d with
//   ln(d/x) / ln(m/x) * w >= b,  that is  (d/x)^w >= (m/x)^b,  that is  d^w >= m^b x^(w-b).
struct Side {
  int64_t x, w, m;

  bool Reaches(int64_t d, int64_t b) const {
    const int64_t divisor = std::gcd(b, w);
    const int64_t p = w / divisor, q = b / divisor;
    Integer right(m, q);
    right *= Integer(x, p - q);
    return Integer(d, p) >= right;
  }
  // The least d that reaches b: an estimate in double arithmetic, corrected by exact comparisons.
  int64_t Start(int64_t b) const {
    const double ratio = static_cast<double>(m) / static_cast<double>(x);
    const double estimate =
        static_cast<double>(x) * std::pow(ratio, static_cast<double>(b) / static_cast<double>(w));
    auto d = std::max<int64_t>(1, static_cast<int64_t>(estimate));
    while (!Reaches(d, b)) ++d;
    while (d > 1 && Reaches(d - 1, b)) --d;
    return d;
  }
};

}  // namespace

RelativeBuckets::RelativeBuckets(int64_t rows, int64_t max_distance, bool bidirectional)
    : bidirectional_(bidirectional) {
  const int64_t least = bidirectional ? 4 : 2;
  if (rows < least || rows > kMostRows)
    throw Error("dimension P is ", rows, ", expected ", least, " to ", kMostRows);
  const int64_t count = bidirectional ? rows / 2 : rows, exact = count / 2;
  if (max_distance <= exact || max_distance > int64_t{1} << 53) {
    throw Error("max_distance is ", max_distance, ", expected more than ", exact,
                " (the number of buckets for one distance each) and at most 2^53");
  }
  const Side side{exact, count - exact, max_distance};
  for (int64_t b = 0; b < exact; ++b) starts_.push_back(b);
  for (int64_t b = 0; b < side.w; ++b) starts_.push_back(side.Start(b));
}

int64_t RelativeBuckets::RowOf(int64_t i, int64_t j) const {
  const int64_t distance = bidirectional_ ? std::abs(j - i) : std::max<int64_t>(0, i - j);
  const auto after = std::ranges::upper_bound(starts_, distance);
  const int64_t bucket = after - starts_.begin() - 1;
  return bucket + (bidirectional_ && j > i ? static_cast<int64_t>(starts_.size()) : 0);
}

}  // namespace sextant
