#include "reference/rope/rope_cos_sin.h"

#include <cmath>

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"
#include "oracle/rope/angle_defects.h"
#include "oracle/rope/configuration.h"
#include "oracle/rope/measured/rotation.h"
#include "oracle/rope/rotary_defects.h"
#include "oracle/rope/rotary_mutations.h"
#include "oracle/rope/scaling_defects.h"
#include "oracle/rope/table_properties.h"
#include "reference/rope/rotated_channels.h"

namespace sextant::oracle {
namespace {

// The flat indices of entry i of a table of half width in a table of the layout of the case.
PairOfChannels EntriesOf(const Case& c, size_t i) {
  const size_t pairs = ExtentOf(c, "R") / 2;
  const size_t row = i / pairs * c.ShapeOf(c.info().signature.outputs[kCos]).back();
  const auto [first, second] = ColumnsOf(c, i % pairs);
  return {row + first, row + second};
}

Comparisons CheckLayout(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response t = ask(c, inputs), half = ask(c.With("layout=half_width"), inputs);
  return ForEachEntry(half, [&](size_t i, Comparisons& comparisons) {
    const auto [first, second] = EntriesOf(c, i);
    for (const size_t output : {kCos, kSin}) {
      for (const size_t at : {first, second})
        comparisons.Equal(t(output, at), half(output, i), {t, output, at});
    }
  });
}

Comparisons CheckRopeCosSinSquaredBase(const Case& c, const Tensors& inputs, const Ask& ask) {
  const double base = NumberOf(c, "base", 0);
  if (std::fma(base, base, -(base * base)) != 0) return {};  // the square is not a double
  if (!DependsOnFrequencyAlone(Configuration(c).scaling)) return {};
  const Case half = c.With("layout=half_width");
  const Response plain = ask(half, inputs),
                 squared = ask(half.With("base=" + PrintValue(base * base)), inputs);
  const size_t pairs = ExtentOf(c, "R") / 2;
  return ForEachEntry(squared, [&](size_t i, Comparisons& comparisons) {
    const size_t k = i % pairs;
    if (2 * k >= pairs) return;
    for (const size_t output : {kCos, kSin})
      comparisons.Equal(squared(output, i), plain(output, i + k), {squared, output, i});
  });
}

// Linear scaling by 4 has at position 4p the angles that no scaling has at position p.
Comparisons CheckRopeCosSinInterpolation(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  ExpectEqual(ask(c.With("scaling=linear(factor=4)"), Multiplied(inputs, {"position"}, 4)),
              ask(c.With("scaling=none"), inputs), comparisons);
  return comparisons;
}

// rope of vectors that are 1 in the first channel and 0 in the second of every pair.
Comparisons CheckRopeCosSinRope(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t R = ExtentOf(c, "R"), pairs = R / 2;
  std::string line = "rope pairing=half H=1 D=" + std::to_string(R) + " dtype=";
  line += NameOf(c.dtype());
  for (const char* key : {"B", "S"})
    line += std::string(" ") + key + "=" + std::to_string(ExtentOf(c, key));
  for (const char* key : {"base", "scaling", "seq_len"})
    line += std::string(" ") + key + "=" + TextOf(c, key);
  const Case rope = Case::Parse(line);
  Tensors unit = {{"x", c.dtype(), Tensor<double>(rope.ShapeOf(rope.signature().inputs[0]))},
                  inputs[0]};
  for (size_t i = 0; i < unit[0].values.data.size(); ++i) unit[0].values.data[i] = i % R < pairs;
  const Response half = ask(c.With("layout=half_width"), inputs), y = ask(rope, unit);
  return ForEachEntry(half, [&](size_t i, Comparisons& comparisons) {
    const size_t at = i / pairs * R + i % pairs;
    comparisons.Equal(half(kCos, i), y(0, at), {half, kCos, i});
    comparisons.Equal(half(kSin, i), y(0, at + pairs), {half, kSin, i});
  });
}

// The formula with one mutation. With the default values of its members it is the formula itself.
struct MutatedTable : RopeCosSin {
  TableMutation mutation{};
  bool repeated = true;  // false: every column has its own frequency, as if it were a pair
  template <class Real>
  void operator()(const Tensor<double>& position, Tensor<Real>& cos, Tensor<Real>& sin) const {
    const auto width = static_cast<size_t>(R.value), count = repeated ? width / 2 : cos.shape[2];
    const auto frequencies =
        MutatedFrequencies<Real>({}, Frequencies(), count, {{}, 0, width, width});
    Real amplitude;
    {
      const ScopedStep at(Step::kFrequency);
      amplitude = AmplitudeOf<Real>(scaling, Setting());
    }
    if (!repeated) return FillMutated(mutation, position, frequencies, amplitude, cos, sin);
    Tensor<Real> half_cos({position.shape[0], position.shape[1], count}), half_sin(half_cos.shape);
    FillMutated(mutation, position, frequencies, amplitude, half_cos, half_sin);
    Arrange(half_cos, cos);
    Arrange(half_sin, sin);
  }
};

Defect NotRepeated() {
  MutatedTable mutated;
  mutated.repeated = false;
  return MutatedFormula("one_frequency_per_channel",
                        "the frequencies are not repeated: every column has its own, with the "
                        "exponent of a pair of twice the width",
                        mutated);
}

Defect OtherLayout() {
  return ChangedWord("layout_of_other_pairing",
                     "the columns are repeated in the order of the other pairing: halves instead "
                     "of interleaved, or the reverse (huggingface/transformers#47328)",
                     [](const Case& c) -> std::string {
                       const std::string layout = TextOf(c, "layout");
                       if (layout == "halves") return "layout=interleaved";
                       return layout == "interleaved" ? "layout=halves" : "";
                     });
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<RopeCosSin>() {
  return {.properties = Joined<Property>(
              {TableProperties(),
               {{"layouts_repeat_columns",
                 "the layouts repeat the columns of a table of half width", CheckLayout},
                {"squared_base_skips_pairs",
                 "pair k with base b^2 has the angles of pair 2k with base b",
                 CheckRopeCosSinSquaredBase},
                {"linear_scaling_stretches",
                 "linear scaling by 4 has at position 4p the angles of position p without scaling",
                 CheckRopeCosSinInterpolation},
                {"is_rope", "rope of vectors (1, 0) is (cos, sin)", CheckRopeCosSinRope}}}),
          .defects = Joined<Defect>({PositionDefects(),
                                     {PositionsOfFirstBatch(), OtherLayout(), NotRepeated()},
                                     MutatedFormulas<MutatedTable>(TableMutations()),
                                     FrequencyDefects<RopeCosSin>(),
                                     ScalingDefects(),
                                     ExtensionDefects(),
                                     PrecisionDefects(RopeCosSin::kSteps)}),
          .measurements = RotationMeasurements<RopeCosSin>()};
}

}  // namespace sextant::oracle
