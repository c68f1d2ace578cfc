#include "reference/position/alibi.h"

#include <algorithm>
#include <cmath>

#include "oracle/defect/input_defects.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/position/measured/alibi.h"
#include "oracle/position/relative_defects.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"
#include "reference/number/real.h"

namespace sextant::oracle {
namespace {

constexpr size_t kSlope = 0, kAlibiQuery = 1, kAlibiKey = 2;

// Calls check(flat index, h, s, t) for every element.
void ForEachBias(const Case& c, auto check) {
  const size_t S = ExtentOf(c, "S"), T = ExtentOf(c, "T");
  for (size_t h = 0; h < ExtentOf(c, "H"); ++h) {
    for (size_t s = 0; s < S; ++s) {
      for (size_t t = 0; t < T; ++t) check((h * S + s) * T + t, h, s, t);
    }
  }
}

// Shifting all positions by 7 changes nothing, or adds 7 slopes where the bias depends on keys
// alone.
Comparisons CheckAlibiShift(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response bias = ask(c, inputs), shifted = ask(c, WithShiftedPositions(inputs, 7));
  const bool key = TextOf(c, "form") == "key";
  Comparisons comparisons;
  ForEachBias(c, [&](size_t i, size_t h, size_t, size_t) {
    const Measured slope = inputs[kSlope].values.data[h];
    comparisons.Equal(shifted(0, i), bias(0, i) + slope * (key ? 7 : 0), {shifted, 0, i});
  });
  return comparisons;
}

// key and distance differ by slope * query position in each row. symmetric uses |d|, which is d for
// later keys and -d for earlier ones.
Comparisons CheckForms(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response distance = ask(c.With("form=distance"), inputs),
                 key = ask(c.With("form=key"), inputs),
                 symmetric = ask(c.With("form=symmetric"), inputs);
  Comparisons comparisons;
  ForEachBias(c, [&](size_t i, size_t h, size_t s, size_t t) {
    const double query = inputs[kAlibiQuery].values.data[s];
    const Measured slope = inputs[kSlope].values.data[h];
    comparisons.Equal(key(0, i) - distance(0, i), slope * query, {key, 0, i});
    const bool ahead = inputs[kAlibiKey].values.data[t] > query;
    comparisons.Equal(symmetric(0, i), ahead ? -distance(0, i) : distance(0, i), {symmetric, 0, i});
  });
  return comparisons;
}

// Moving a key by one position adds one slope to the bias.
Comparisons CheckAlibiStep(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Case asked = TextOf(c, "form") == "symmetric" ? c.With("form=distance") : c;
  const Response bias = ask(asked, inputs);
  const Response next = ask(asked, Mapped(inputs, "key_position", [](double p) { return p + 1; }));
  Comparisons comparisons;
  ForEachBias(c, [&](size_t i, size_t h, size_t, size_t) {
    comparisons.Equal(next(0, i) - bias(0, i), inputs[kSlope].values.data[h], {next, 0, i});
  });
  return comparisons;
}

// The bias of a key at the position of the query is 0. With a positive slope the bias of a key
// before the query is at most 0.
Comparisons CheckPast(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Case asked = TextOf(c, "form") == "key" ? c.With("form=distance") : c;
  Tensors near = inputs;
  const auto& query = inputs[kAlibiQuery].values.data;
  if (query.empty()) return {};
  for (size_t t = 0; t < near[kAlibiKey].values.data.size(); ++t) {
    near[kAlibiKey].values.data[t] = query[t % query.size()];
  }
  const Response bias = ask(asked, near);
  Comparisons comparisons;
  ForEachBias(c, [&](size_t i, size_t h, size_t s, size_t t) {
    const double key = near[kAlibiKey].values.data[t];
    if (key == query[s]) comparisons.Equal(bias(0, i), 0, {bias, 0, i});
    if (key < query[s] && inputs[kSlope].values.data[h] > 0) {
      comparisons.AtMost(bias(0, i), 0, {bias, 0, i});
    }
  });
  return comparisons;
}

Comparisons CheckSlopes(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  ExpectProportional(ask(c, Multiplied(inputs, {"slope"}, 2)), 2, ask(c, inputs), comparisons);
  return comparisons;
}

// The formula with one mutation.
struct MutatedAlibi : Alibi {
  enum class Mutation {
    kNone,
    kPositive,   // + slope distance
    kNoFuture,   // keys after the query get 0
    kNoPast,     // keys before the query get 0
    kScaled,     // divided by sqrt(64), like the scores
    kSquared,    // slope d^2
    kLogarithm,  // -slope ln(1 + |d|), the bias of another paper
  } mutation{};
  template <class Real>
  void operator()(const Tensor<Real>& slope, const Tensor<double>& query, const Tensor<double>& key,
                  Tensor<Real>& bias) const {
    Alibi::operator()(slope, query, key, bias);
    const ScopedStep at(Step::kBias);
    for (size_t h = 0; h < bias.shape[0]; ++h) {
      for (size_t s = 0; s < bias.shape[1]; ++s) {
        for (size_t t = 0; t < bias.shape[2]; ++t) {
          const double d = key(t) - query(s);
          Change(slope(h), d, bias(h, s, t));
        }
      }
    }
  }
  template <class Real>
  void Change(const Real& slope, double d, Real& y) const {
    switch (mutation) {
      case Mutation::kNone:
        break;
      case Mutation::kPositive:
        y = -y;
        break;
      case Mutation::kNoFuture:
        if (d > 0) y = Real(0.0);
        break;
      case Mutation::kNoPast:
        if (d < 0) y = Real(0.0);
        break;
      case Mutation::kScaled:
        y = y * Real(0.125);
        break;
      case Mutation::kSquared:
        y = y * Real(std::abs(d));
        break;
      case Mutation::kLogarithm:
        y = -slope * Log(Real(1.0 + std::abs(d)));
        break;
    }
  }
};

std::vector<Defect> AlibiFormulaDefects() {
  using Mutation = MutatedAlibi::Mutation;
  return MutatedFormulas<MutatedAlibi>({
      {"sign", "the bias has the wrong sign: distant keys gain weight", Mutation::kPositive},
      {"future_has_no_bias", "max(i - j, 0): keys after the query get 0", Mutation::kNoFuture},
      {"past_has_no_bias", "max(j - i, 0): keys before the query get 0", Mutation::kNoPast},
      {"scaled_as_the_scores", "the bias is divided by sqrt(D) like the scores (here D = 64)",
       Mutation::kScaled},
      {"squared_distance", "the bias is slope * distance^2", Mutation::kSquared},
      {"logarithm_of_distance", "the bias is -slope ln(1 + distance)", Mutation::kLogarithm},
  });
}

std::vector<Defect> PrecisionDefects() {
  return {
      ChangedRecipe("distance_in_bf16",
                    "positions are computed in bf16, which is exact only up to 256",
                    "distance=bf16"),
      ChangedRecipe("distance_in_f16",
                    "positions are computed in f16, which is exact only up to 2048",
                    "distance=f16"),
      ChangedRecipe("bias_in_bf16", "the product is rounded to bf16 for every dtype", "bias=bf16"),
  };
}

std::vector<Defect> SlopeDefects() {
  return {
      ChangedInput("slopes_reversed",
                   "the slopes are in reverse order: each head has that of another", "slope",
                   [](Tensor<double>& slope) { std::ranges::reverse(slope.data); }),
      ChangedInput("slope_of_first_head", "all heads have the slope of the first head", "slope",
                   [](Tensor<double>& slope) {
                     if (!slope.data.empty()) std::ranges::fill(slope.data, slope.data[0]);
                   }),
      RoundedInput("slopes_in_bf16", "casting the module to bf16 also casts its slopes", "slope",
                   DType::kBF16),
  };
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<Alibi>() {
  return {.properties =
              {{"translation_invariant",
                "shifting all positions by the same distance adds the same to all biases of a row",
                CheckAlibiShift},
               {"forms_differ_by_row",
                "key differs from distance by a constant per row, symmetric by a sign", CheckForms},
               {"a_step_is_a_slope", "moving a key by one position adds one slope", CheckAlibiStep},
               {"past_is_not_favoured",
                "the bias is 0 at the position of the query and at most 0 before it", CheckPast},
               {"linear_in_slope", "twice the slope gives twice the bias", CheckSlopes}},
          .defects = Joined<Defect>(
              {AlibiFormulaDefects(), QueryKeyDefects(), PrecisionDefects(), SlopeDefects()}),
          .measurements = {MeasureBias}};
}

}  // namespace sextant::oracle
