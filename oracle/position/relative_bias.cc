#include "reference/position/relative_bias.h"

#include <algorithm>
#include <cmath>

#include "oracle/defect/input_defects.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/position/relative_defects.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/property.h"
#include "reference/number/real.h"

namespace sextant::oracle {
namespace {

constexpr size_t kTable = 0, kQuery = 1, kKey = 2;

// The buckets of one direction: n buckets, of which the first x hold one distance each; m is
// max_distance.
struct Side {
  bool both;
  double n, x, m;
  explicit Side(const Case& c)
      : both(TextOf(c, "bidirectional") == "true"),
        n(std::floor(static_cast<double>(ExtentOf(c, "P")) / (both ? 2 : 1))),
        x(std::floor(n / 2)),
        m(NumberOf(c, "max_distance", 128)) {}
};

// Every column of the table holds the row indices, so that a bias is the index of its bucket.
// 16-bit types are exact up to 256.
Tensors WithRowIndices(const Case& c, Tensors inputs) {
  const size_t H = ExtentOf(c, "H");
  for (size_t i = 0; i < inputs[kTable].values.data.size(); ++i) {
    inputs[kTable].values.data[i] = static_cast<double>(i / H);
  }
  return inputs;
}

// Calls check(flat index, query, key) for every element.
void ForEachDistance(const Case& c, const Tensors& inputs, auto check) {
  const size_t S = ExtentOf(c, "S"), T = ExtentOf(c, "T"), H = ExtentOf(c, "H");
  for (size_t i = 0; i < H * S * T; ++i) {
    check(i, inputs[kQuery].values.data[i / T % S], inputs[kKey].values.data[i % T]);
  }
}

// Each near distance has its own bucket. Keys after the query use the second half of the buckets,
// or bucket 0 if only one direction counts.
Comparisons CheckNear(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Side side(c);
  Tensors near = WithRowIndices(c, inputs);
  const auto& query = near[kQuery].values.data;
  auto& key = near[kKey].values.data;
  for (size_t t = 0; t < key.size() && !query.empty(); ++t) {
    key[t] = query[t % query.size()] + static_cast<double>(t) - std::floor(side.x);
  }
  const Response bias = ask(c, near);
  Comparisons comparisons;
  ForEachDistance(c, near, [&](size_t i, double q, double k) {
    const double d = std::abs(k - q);
    if (d >= side.x) return;
    const double expected = k <= q ? d : side.both ? side.n + d : 0;
    comparisons.Equal(bias(0, i), expected, {bias, 0, i});
  });
  return comparisons;
}

// All distances from max_distance on are in the last bucket of their direction.
Comparisons CheckFar(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Side side(c);
  Tensors far = WithRowIndices(c, inputs);
  const auto& query = far[kQuery].values.data;
  auto& key = far[kKey].values.data;
  for (size_t t = 0; t < key.size() && !query.empty(); ++t) {
    const double d = t % 3 == 0 ? side.m : t % 3 == 1 ? 10 * side.m : -side.m;
    key[t] = query[t % query.size()] - d;
  }
  const Response bias = ask(c, far);
  Comparisons comparisons;
  ForEachDistance(c, far, [&](size_t i, double q, double k) {
    if (std::abs(k - q) < side.m) return;
    const double last = side.n - 1;
    const double expected = k <= q ? last : side.both ? side.n + last : 0;
    comparisons.Equal(bias(0, i), expected, {bias, 0, i});
  });
  return comparisons;
}

// If max_distance / x is 2^e and e divides the number of logarithmic buckets, doubling the distance
// adds buckets / e to the index. This check needs no logarithm.
Comparisons CheckDoubling(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Side side(c);
  Comparisons comparisons;
  int exponent = 0;
  if (std::frexp(side.m / side.x, &exponent) != 0.5) return comparisons;
  const double doublings = exponent - 1, buckets = side.n - side.x;
  if (std::fmod(buckets, doublings) != 0) return comparisons;
  const Tensors once = WithRowIndices(c, inputs);
  Tensors twice = once;
  for (const size_t input : {kQuery, kKey}) {
    for (double& p : twice[input].values.data) p *= 2;
  }
  const Response near = ask(c, once), far = ask(c, twice);
  ForEachDistance(c, once, [&](size_t i, double q, double k) {
    if (std::abs(k - q) < side.x) return;
    const double half = side.both && k > q ? side.n : 0, last = half + side.n - 1;
    if (!side.both && k > q) return;
    const double further = near.outputs[0].values.data[i] + buckets / doublings;
    comparisons.Equal(far(0, i), std::min(further, last), {far, 0, i});
  });
  return comparisons;
}

// A key one step further away is never in an earlier bucket.
Comparisons CheckRelativeBiasRising(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Side side(c);
  const Tensors here = WithRowIndices(c, inputs);
  Tensors there = here;
  for (double& p : there[kKey].values.data) p -= 1;
  const Response near = ask(c, here), far = ask(c, there);
  Comparisons comparisons;
  ForEachDistance(c, here, [&](size_t i, double q, double k) {
    if (k <= q) comparisons.AtMost(near(0, i), far(0, i), {far, 0, i});
    if (k > q + 1 && side.both) comparisons.AtMost(far(0, i), near(0, i), {far, 0, i});
  });
  return comparisons;
}

// Negating all positions puts each key at the same distance in the other direction.
Comparisons CheckMirror(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Side side(c);
  const Tensors here = WithRowIndices(c, inputs);
  Tensors mirrored = here;
  for (const size_t input : {kQuery, kKey}) {
    for (double& p : mirrored[input].values.data) p = -p;
  }
  const Response before = ask(c, here), after = ask(c, mirrored);
  Comparisons comparisons;
  ForEachDistance(c, here, [&](size_t i, double q, double k) {
    if (k >= q) return;
    const Measured expected = side.both ? before(0, i) + side.n : Measured(0);
    comparisons.Equal(after(0, i), expected, {after, 0, i});
  });
  return comparisons;
}

// The formula with one mutation. Logarithms are computed in double; results close to an integer
// count as this integer.
struct MutatedRelativeBias : RelativeBias {
  enum class Mutation {
    kNone,
    kBorderMissed,    // a logarithm just below its integer is truncated
    kCeil,            // borders are rounded up
    kNearest,         // logarithms are rounded to the nearest bucket
    kNotHalved,       // both directions use all buckets
    kSelfIsAfter,     // distance 0 counts as after the query
    kUncapped,        // beyond max_distance the index keeps growing
    kLogBaseTwo,      // log2 of the distance, independent of max_distance
    kLinear,          // no logarithm
    kFutureMirrored,  // one direction: keys after the query use their distance
    kLogInBf16,       // the logarithm in bf16
    kTransposed,      // the table is read as [H,P]
    kScaled           // divided by sqrt(64), like the scores
  } mutation{};

  bool Is(Mutation m) const { return mutation == m; }

  // The number of whole logarithmic buckets between distances x and d.
  double Beyond(double d, double x, double buckets) const {
    const auto m = static_cast<double>(max_distance);
    if (Is(Mutation::kLogInBf16)) {
      const auto bf16 = [](double y) { return RoundTo(DType::kBF16, y); };
      return std::floor(bf16(bf16(bf16(std::log(bf16(d / x))) / bf16(std::log(m / x))) * buckets));
    }
    const double y = (Is(Mutation::kLogBaseTwo) ? std::log2(d / x)
                                                : std::log(d / x) / std::log(m / x) * buckets);
    const double whole = std::nearbyint(y);
    // A bound for the rounding error of y: two logarithms and two operations, d >= x, few buckets.
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
  using Mutation = MutatedRelativeBias::Mutation;
  return MutatedFormulas<MutatedRelativeBias>({
      {"border_missed",
       "a logarithm rounded to just below an integer is truncated: 16, 32 "
       "and 64 get the previous bucket",
       Mutation::kBorderMissed},
      {"borders_rounded_up", "the index is rounded up (ceil) instead of down", Mutation::kCeil},
      {"borders_rounded", "the index is rounded to nearest instead of down", Mutation::kNearest},
      {"buckets_not_halved", "both directions use all buckets instead of one half each",
       Mutation::kNotHalved},
      {"self_is_after", "keys with j >= i instead of j > i use the second half of the buckets",
       Mutation::kSelfIsAfter},
      {"not_capped", "beyond max_distance the index keeps growing", Mutation::kUncapped},
      {"logarithm_of_base_two", "the index is log2 of the distance, independent of max_distance",
       Mutation::kLogBaseTwo},
      {"no_logarithm",
       "distances are clipped without a logarithm, as in the relative attention of Shaw et al.",
       Mutation::kLinear},
      {"future_mirrored", "in one direction, keys after the query use their distance",
       Mutation::kFutureMirrored},
      {"logarithm_in_bf16", "distances and logarithms are computed in bf16", Mutation::kLogInBf16},
      {"table_transposed", "the table is indexed [head, bucket]", Mutation::kTransposed, true},
      {"scaled_as_the_scores", "the bias is divided by sqrt(D) like the scores (here D = 64)",
       Mutation::kScaled},
  });
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
      RoundedInput("table_in_bf16", "the table is stored in bf16 for every dtype", "table",
                   DType::kBF16),
      ChangedInputs("table_of_first_head", "all heads use the column of the first head",
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
                      "each of the first distances has its own bucket, in the direction of the key",
                      CheckNear},
                     {"far_distances_are_one",
                      "all distances from max_distance on are in one bucket", CheckFar},
                     {"doubling_is_so_many_buckets",
                      "doubling the distance adds a fixed number of buckets (for powers of two)",
                      CheckDoubling},
                     {"rising", "a larger distance never has an earlier bucket",
                      CheckRelativeBiasRising},
                     {"mirrored", "keys after the query mirror those before it", CheckMirror}},
      .defects = Joined<Defect>({BucketDefects(), OtherDefects(), QueryKeyDefects()})};
}

}  // namespace sextant::oracle
