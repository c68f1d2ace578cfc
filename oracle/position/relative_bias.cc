#include "reference/position/relative_bias.h"

#include <algorithm>
#include <cmath>

#include "oracle/defect/catalog_entry.h"
#include "oracle/defect/input_defects.h"
#include "oracle/position/relative_defects.h"
#include "oracle/property/common_properties.h"
#include "reference/number/real.h"

namespace sextant::oracle {
namespace {

constexpr size_t kTable = 0, kQuery = 1, kKey = 2;

// What a case says of one side: n buckets, of which the first x hold one distance each.
struct Side {
  bool both;
  double n, x, m;
  explicit Side(const Case& c)
      : both(TextOf(c, "bidirectional") == "true"),
        n(std::floor(static_cast<double>(ExtentOf(c, "P")) / (both ? 2 : 1))),
        x(std::floor(n / 2)),
        m(NumberOf(c, "max_distance", 128)) {}
};

// Every column counts the rows, so that a bias tells its bucket; 16-bit types count to 256.
Tensors Counting(const Case& c, Tensors inputs) {
  const size_t H = ExtentOf(c, "H");
  for (size_t i = 0; i < inputs[kTable].values.data.size(); ++i) {
    inputs[kTable].values.data[i] = static_cast<double>(i / H);
  }
  return inputs;
}

// Calls check(flat index, query, key) for every element.
void ForEach(const Case& c, const Tensors& inputs, auto check) {
  const size_t S = ExtentOf(c, "S"), T = ExtentOf(c, "T"), H = ExtentOf(c, "H");
  for (size_t i = 0; i < H * S * T; ++i) {
    check(i, inputs[kQuery].values.data[i / T % S], inputs[kKey].values.data[i % T]);
  }
}

// Near distances have a bucket each; keys after the query the second half of them, or none.
Findings CheckNear(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Side side(c);
  Tensors near = Counting(c, inputs);
  const auto& query = near[kQuery].values.data;
  auto& key = near[kKey].values.data;
  for (size_t t = 0; t < key.size() && !query.empty(); ++t) {
    key[t] = query[t % query.size()] + static_cast<double>(t) - std::floor(side.x);
  }
  const Response bias = ask(c, near);
  Findings findings;
  ForEach(c, near, [&](size_t i, double q, double k) {
    const double d = std::abs(k - q);
    if (d >= side.x) return;
    const double expected = k <= q ? d : side.both ? side.n + d : 0;
    findings.Equal(bias(0, i), expected, {bias, 0, i});
  });
  return findings;
}

// From max_distance on there is one bucket, the last of its side.
Findings CheckFar(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Side side(c);
  Tensors far = Counting(c, inputs);
  const auto& query = far[kQuery].values.data;
  auto& key = far[kKey].values.data;
  for (size_t t = 0; t < key.size() && !query.empty(); ++t) {
    const double d = t % 3 == 0 ? side.m : t % 3 == 1 ? 10 * side.m : -side.m;
    key[t] = query[t % query.size()] - d;
  }
  const Response bias = ask(c, far);
  Findings findings;
  ForEach(c, far, [&](size_t i, double q, double k) {
    if (std::abs(k - q) < side.m) return;
    const double last = side.n - 1;
    const double expected = k <= q ? last : side.both ? side.n + last : 0;
    findings.Equal(bias(0, i), expected, {bias, 0, i});
  });
  return findings;
}

// Where max_distance / x is a power of two whose exponent divides the logarithmic buckets, twice
// the distance is so many buckets further. No logarithm is needed to say so.
Findings CheckDoubling(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Side side(c);
  Findings findings;
  int exponent = 0;
  if (std::frexp(side.m / side.x, &exponent) != 0.5) return findings;
  const double doublings = exponent - 1, buckets = side.n - side.x;
  if (std::fmod(buckets, doublings) != 0) return findings;
  const Tensors once = Counting(c, inputs);
  Tensors twice = once;
  for (const size_t input : {kQuery, kKey}) {
    for (double& p : twice[input].values.data) p *= 2;
  }
  const Response near = ask(c, once), far = ask(c, twice);
  ForEach(c, once, [&](size_t i, double q, double k) {
    if (std::abs(k - q) < side.x) return;
    const double half = side.both && k > q ? side.n : 0, last = half + side.n - 1;
    if (!side.both && k > q) return;
    const double further = near.outputs[0].values.data[i] + buckets / doublings;
    findings.Equal(far(0, i), std::min(further, last), {far, 0, i});
  });
  return findings;
}

// One step further away never leads to an earlier bucket, nor beyond the next but empty ones.
Findings CheckRising(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Side side(c);
  const Tensors here = Counting(c, inputs);
  Tensors there = here;
  for (double& p : there[kKey].values.data) p -= 1;
  const Response near = ask(c, here), far = ask(c, there);
  Findings findings;
  ForEach(c, here, [&](size_t i, double q, double k) {
    if (k <= q) findings.AtMost(near(0, i), far(0, i), {far, 0, i});
    if (k > q + 1 && side.both) findings.AtMost(far(0, i), near(0, i), {far, 0, i});
  });
  return findings;
}

// Keys mirrored at the query: the same distance on the other side.
Findings CheckMirror(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Side side(c);
  const Tensors here = Counting(c, inputs);
  Tensors mirrored = here;
  for (const size_t input : {kQuery, kKey}) {
    for (double& p : mirrored[input].values.data) p = -p;
  }
  const Response before = ask(c, here), after = ask(c, mirrored);
  Findings findings;
  ForEach(c, here, [&](size_t i, double q, double k) {
    if (k >= q) return;
    const Measured expected = side.both ? before(0, i) + side.n : Measured(0);
    findings.Equal(after(0, i), expected, {after, 0, i});
  });
  return findings;
}

// The formula with one mutation; buckets by logarithms in double, whose integers are recognised.
struct Mutant : RelativeBias {
  enum class Mutation {
    kNone,
    kBorderMissed,    // a logarithm just below its integer is truncated
    kCeil,            // borders are rounded up
    kNearest,         // logarithms are rounded to the nearest bucket
    kNotHalved,       // both directions share all buckets
    kSelfIsAfter,     // distance 0 counts as after the query
    kUncapped,        // beyond max_distance the row index runs on
    kLogBaseTwo,      // log2 of the distance, whatever max_distance
    kLinear,          // no logarithm
    kFutureMirrored,  // one direction: keys after the query by their distance too
    kLogInBf16,       // the logarithm in bf16
    kTransposed,      // the table is taken for [H,P]
    kScaled           // divided by sqrt(64) as the scores are
  } mutation{};

  bool Is(Mutation m) const { return mutation == m; }

  // Whole number of `buckets` that distance d is beyond x.
  double Beyond(double d, double x, double buckets) const {
    const auto m = static_cast<double>(max_distance);
    if (Is(Mutation::kLogInBf16)) {
      const auto bf16 = [](double y) { return RoundTo(DType::kBF16, y); };
      return std::floor(bf16(bf16(bf16(std::log(bf16(d / x))) / bf16(std::log(m / x))) * buckets));
    }
    const double y = (Is(Mutation::kLogBaseTwo) ? std::log2(d / x)
                                                : std::log(d / x) / std::log(m / x) * buckets);
    const double whole = std::nearbyint(y);
    // Two logarithms and two operations; buckets are few, and borders lie at distances from x on.
    const double off = buckets * 0x1p-50 / std::log(m / x);
    if (std::abs(y - whole) < off) return whole - (Is(Mutation::kBorderMissed) && d > x ? 1 : 0);
    if (Is(Mutation::kNearest)) return whole;
    return Is(Mutation::kCeil) ? std::ceil(y) : std::floor(y);
  }
  double RowOf(double relative) const {
    const bool after = Is(Mutation::kSelfIsAfter) ? relative >= 0 : relative > 0;
    const double rows = static_cast<double>(P.value);
    const double n = bidirectional && !Is(Mutation::kNotHalved) ? std::floor(rows / 2) : rows;
    const double x = std::floor(n / 2);
    const bool distant = bidirectional || Is(Mutation::kFutureMirrored);
    const double d = distant ? std::abs(relative) : std::max(0.0, -relative);
    double bucket = d;
    if (d >= x && !Is(Mutation::kLinear)) bucket = x + Beyond(d, x, n - x);
    if (!Is(Mutation::kUncapped)) bucket = std::min(bucket, n - 1);
    return std::fmod(bucket + (bidirectional && after ? std::floor(rows / 2) : 0), rows);
  }
  template <class Real>
  void operator()(const Tensor<Real>& table, const Tensor<double>& query, const Tensor<double>& key,
                  Tensor<Real>& bias) const {
    const size_t H = bias.shape[0], rows = table.shape[0];
    for (size_t h = 0; h < H; ++h) {
      for (size_t s = 0; s < bias.shape[1]; ++s) {
        for (size_t t = 0; t < bias.shape[2]; ++t) {
          const auto row = static_cast<size_t>(RowOf(key(t) - query(s)));
          const size_t at = Is(Mutation::kTransposed) ? h * rows + row : row * H + h;
          bias(h, s, t) = table.data[at];
          const ScopedStep step(Step::kStore);
          if (Is(Mutation::kScaled)) bias(h, s, t) = bias(h, s, t) * Real(0.125);
        }
      }
    }
  }
};

std::vector<Defect> BucketDefects() {
  using Mutation = Mutant::Mutation;
  return {
      MutatedFormula<Mutant>(
          "border_missed",
          "a rounded logarithm just below its integer is truncated: 16, 32 and 64 fall short",
          Mutation::kBorderMissed),
      MutatedFormula<Mutant>("borders_rounded_up", "ceil in place of floor", Mutation::kCeil),
      MutatedFormula<Mutant>("borders_rounded", "round in place of floor", Mutation::kNearest),
      MutatedFormula<Mutant>("buckets_not_halved", "both directions use all buckets of one",
                             Mutation::kNotHalved),
      MutatedFormula<Mutant>("self_is_after", "j >= i takes the second half, not j > i",
                             Mutation::kSelfIsAfter),
      MutatedFormula<Mutant>("not_capped", "beyond max_distance the index runs on",
                             Mutation::kUncapped),
      MutatedFormula<Mutant>("logarithm_of_base_two",
                             "log2 of the distance, not relative to max_distance",
                             Mutation::kLogBaseTwo),
      MutatedFormula<Mutant>("no_logarithm", "distances are clipped, as in Shaw's attention",
                             Mutation::kLinear),
      MutatedFormula<Mutant>("future_mirrored",
                             "one direction: keys after the query by their distance",
                             Mutation::kFutureMirrored),
      MutatedFormula<Mutant>("logarithm_in_bf16", "distances and logarithms in bf16",
                             Mutation::kLogInBf16),
      MutatedFormula<Mutant>("table_transposed", "the table is indexed [head, bucket]",
                             Mutation::kTransposed),
      MutatedFormula<Mutant>("scaled_as_the_scores",
                             "the bias is divided by sqrt(D) too (here D = 64)", Mutation::kScaled),
  };
}

Defect MaxDistance(std::string name, std::string why, double by) {
  return ChangedWord(std::move(name), std::move(why), [by](const Case& c) {
    return "max_distance=" + PrintValue(NumberOf(c, "max_distance", 128) + by);
  });
}

std::vector<Defect> OtherDefects() {
  return {
      MaxDistance("max_distance_one_more", "the last bucket begins one token late", 1),
      MaxDistance("max_distance_one_less", "the last bucket begins one token early", -1),
      ChangedInput("table_reversed", "the buckets are counted from the other end", "table",
                   [](Tensor<double>& table) { std::ranges::reverse(table.data); }),
      RoundedInput("table_in_bf16", "the table is kept in bf16 whatever the dtype", "table",
                   DType::kBF16),
      ChangedInputs("table_of_first_head", "all heads share the first one's column",
                    [](const Case& c, Tensors& inputs) {
                      auto& table = inputs[kTable].values.data;
                      const size_t H = ExtentOf(c, "H");
                      for (size_t i = 0; i < table.size(); ++i) table[i] = table[i / H * H];
                      return true;
                    }),
  };
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<RelativeBias>() {
  return {
      .properties = {TranslationInvariant(),
                     {"near_distances_are_exact",
                      "the first distances have a bucket each, on the side of the key", CheckNear},
                     {"far_distances_are_one", "from max_distance on there is one bucket",
                      CheckFar},
                     {"doubling_is_so_many_buckets",
                      "with powers of two, twice the distance is a fixed number of buckets "
                      "further",
                      CheckDoubling},
                     {"rising", "a bucket further away is never an earlier one", CheckRising},
                     {"mirrored", "keys after the query mirror those before it", CheckMirror}},
      .defects = Joined<Defect>({BucketDefects(), OtherDefects(), QueryKeyDefects()})};
}

}  // namespace sextant::oracle
