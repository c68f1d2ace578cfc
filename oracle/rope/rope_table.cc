#include "reference/rope/rope_table.h"

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"
#include "oracle/rope/angle_defects.h"
#include "oracle/rope/measured/rotation.h"
#include "oracle/rope/table_properties.h"

namespace sextant::oracle {
namespace {

// position * (2 f) = (2 position) * f.
Comparisons CheckProduct(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  ExpectEqual(ask(c, Multiplied(inputs, {"position"}, 2)),
              ask(c, Multiplied(inputs, {"inv_freq"}, 2)), comparisons);
  return comparisons;
}

Comparisons CheckRopeTableAmplitude(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Measured a = FactorOf(c);
  const Response t = ask(c, inputs), unit = ask(c.With("attention_factor=1"), inputs);
  return ForEachEntry(t, [&](size_t i, Comparisons& comparisons) {
    comparisons.Equal(t(kCos, i), a * unit(kCos, i), {t, kCos, i});
    comparisons.Equal(t(kSin, i), a * unit(kSin, i), {t, kSin, i});
  });
}

struct MutatedRopeTable : RopeTable {
  TableMutation mutation{};
  template <class Real>
  void operator()(const Tensor<double>& position, const Tensor<Real>& inv_freq, Tensor<Real>& cos,
                  Tensor<Real>& sin) const {
    FillMutated(mutation, position, inv_freq, Real(attention_factor), cos, sin);
  }
};

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<RopeTable>() {
  return {.properties = Joined<Property>(
              {TableProperties(),
               {{"frequency_counts_as_position",
                 "doubling the frequencies equals doubling the positions", CheckProduct},
                {"amplitude_multiplies", "the attention factor multiplies cos and sin",
                 CheckRopeTableAmplitude}}}),
          .defects = Joined<Defect>(
              {PositionDefects(),
               GivenFrequencyDefects(),
               PrecisionDefects(RopeTable::kSteps),
               MutatedFormulas<MutatedRopeTable>(TableMutations()),
               {PositionsOfFirstBatch(),
                ChangedWord("amplitude_squared",
                            "the attention factor is applied twice (sgl-project/sglang#33558)",
                            [](const Case& c) {
                              const double a = NumberOf(c, "attention_factor", 1);
                              return "attention_factor=" + PrintValue(a * a);
                            })}}),
          .measurements = RotationMeasurements<RopeTable>()};
}

}  // namespace sextant::oracle
