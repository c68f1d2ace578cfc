#include "reference/attention/soft_cap.h"

#include <cmath>
#include <span>

#include "oracle/attention/arg_max_score.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"
#include "reference/layer/activation.h"
#include "reference/number/clamp.h"

namespace sextant::oracle {
namespace {

// For x >= 0: 0 <= y <= min(x, cap) and y >= x - x^3 / (3 cap^2), so y is close to x for small x.
// For x < 0 the same holds with opposite signs.
Comparisons CheckBounds(const Case& c, const Tensors& inputs, const Ask& ask) {
  const double cap = NumberOf(c, "cap", 1);
  const Response y = ask(c, inputs);
  Comparisons comparisons;
  for (size_t i = 0; i < y.size(); ++i) {
    const double x = inputs[0].values.data[i];
    const Measured outward = x < 0 ? -y(0, i) : y(0, i), size = std::abs(x);
    comparisons.AtMost(0, outward, {y, 0, i});
    comparisons.AtMost(outward, size, {y, 0, i});
    comparisons.AtMost(outward, cap, {y, 0, i});
    comparisons.AtMost(size * 3 * cap * cap - size * size * size, outward * 3 * cap * cap,
                       {y, 0, i});
  }
  return comparisons;
}

Comparisons CheckSoftCapScale(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c, inputs);
  const Response twice = ask(Multiplied(c, "cap", 2, 1), Multiplied(inputs, {"x"}, 2));
  Comparisons comparisons;
  ExpectProportional(twice, 2, y, comparisons);
  return comparisons;
}

struct MutatedSoftCap : SoftCap {
  enum class Mutation {
    kNone,
    kMissing,    // y = x
    kNotBack,    // tanh(x / cap)
    kNotInside,  // cap tanh(x)
    kHard,       // clamped to cap
    kSoftsign,   // x / (1 + |x| / cap)
    kTaylor,     // x - x^3 / (3 cap^2)
    kRelative,   // cap tanh((x - m) / cap), m the largest of the row
    kTile,       // the first element of a row is not capped
    kSignLost,   // cap tanh(|x| / cap)
  } mutation{};

  template <class Real>
  Real Of(const Real& x, const Real& largest, bool is_first) const {
    const ScopedStep at(Step::kCap);
    const Real limit(cap);
    switch (mutation) {
      case Mutation::kTaylor:
        return x - x * x * x / (Real(3.0) * limit * limit);
      case Mutation::kRelative:
        return limit * Tanh((x - largest) / limit);
      case Mutation::kSignLost:
        return limit * Tanh((Relu(x) + Relu(-x)) / limit);
      case Mutation::kTile:
        return is_first ? Converted(x) : limit * Tanh(x / limit);
      case Mutation::kNone:
        return limit * Tanh(x / limit);
      case Mutation::kMissing:
        return Converted(x);
      case Mutation::kNotBack:
        return Tanh(x / limit);
      case Mutation::kNotInside:
        return limit * Tanh(x);
      case Mutation::kHard:
        return Clamp(x, -limit, limit);
      default:
        return x / (Real(1.0) + (Relu(x) + Relu(-x)) / limit);
    }
  }
  template <class Real>
  void operator()(const Tensor<Real>& x, Tensor<Real>& y) const {
    const size_t width = x.shape[1];
    for (size_t first = 0; first < x.data.size(); first += width) {
      const auto row = std::span(x.data).subspan(first, width);
      const Real& largest = row[ArgMaxScore<Real>(row)];
      for (size_t j = 0; j < width; ++j) y.data[first + j] = Of(row[j], largest, j == 0);
    }
  }
};

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<SoftCap>() {
  using Mutation = MutatedSoftCap::Mutation;
  return {
      .properties = {OddIn({"x"}, "-x gives -y"),
                     {"between_zero_and_both",
                      "y lies between 0 and x and between 0 and cap, and is close to x for small x",
                      CheckBounds},
                     {"scales", "twice x and twice cap give twice y", CheckSoftCapScale},
                     {"monotone", "y rises with x", Monotone}},
      .defects = Joined<Defect>(
          {MutatedFormulas<MutatedSoftCap>({
               {"cap_missing", "scores are not capped", Mutation::kMissing},
               {"cap_not_scaled_back", "y is tanh(x / cap), not multiplied by cap",
                Mutation::kNotBack},
               {"not_scaled_inside", "y is cap tanh(x): x is not divided by cap",
                Mutation::kNotInside},
               {"hard", "x is clamped to -cap .. cap", Mutation::kHard},
               {"softsign", "y is x / (1 + |x| / cap)", Mutation::kSoftsign},
               {"two_terms", "y is x - x^3 / (3 cap^2), two terms of the series",
                Mutation::kTaylor},
               {"cap_after_largest",
                "the largest score of the row is subtracted before the cap (gemma.cpp@2a0e6ee)",
                Mutation::kRelative, true},
               {"cap_not_in_first_tile", "the first tile is not capped (gemma.cpp@4974f24)",
                Mutation::kTile, true},
               {"sign_lost", "y is cap tanh(|x| / cap)", Mutation::kSignLost},
           }),
           {ChangedRecipe("in_bf16", "the cap is computed in bf16 for every dtype", "cap=bf16"),
            ChangedRecipe("in_f16", "the cap is computed in f16 for every dtype", "cap=f16")}})};
}

}  // namespace sextant::oracle
