#include "reference/rope/rope_given.h"

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"
#include "oracle/rope/angle_defects.h"
#include "oracle/rope/decoding_property.h"
#include "oracle/rope/measured/rotation.h"
#include "oracle/rope/rotary_defects.h"
#include "oracle/rope/rotary_properties.h"

namespace sextant::oracle {
namespace {

// position * (2 f) = (2 position) * f.
Property FrequencyCountsAsPosition() {
  return {"frequency_counts_as_position",
          "doubling the frequencies rotates as doubling the positions",
          [](const Case& c, Tensors inputs, const Ask& ask) {
            Tensors twice = inputs;
            InputNamed(inputs, "position") = Times(InputNamed(inputs, "position"), 2);
            InputNamed(twice, "inv_freq") = Times(InputNamed(twice, "inv_freq"), 2);
            Comparisons comparisons;
            const Response a = ask(c, inputs), b = ask(c, twice);
            ExpectEqual(a, b, comparisons);
            return comparisons;
          }};
}

std::string Amplitude(const Case& c, double (*change)(double)) {
  return "attention_factor=" + PrintValue(change(NumberOf(c, "attention_factor", 1)));
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<RopeGiven>() {
  return {
      .properties =
          Joined<Property>({PropertiesOfPositions(),
                            {PairingsAgree(), DecodingIsPrefill(), FrequencyCountsAsPosition()}}),
      .defects = Joined<Defect>(
          {PositionDefects(),
           GivenFrequencyDefects(),
           RotationDefects<RopeGiven>(),
           PrecisionDefects(RopeGiven::kSteps),
           {ChangedWord("amplitude_squared",
                        "the attention factor is applied twice (sgl-project/sglang#33558)",
                        [](const Case& c) { return Amplitude(c, [](double a) { return a * a; }); }),
            ChangedWord("inverse_for_transpose",
                        "the transpose divides by the attention factor, as an inverse would",
                        [](const Case& c) -> std::string {
                          if (TextOf(c, "direction") != "transpose") return "";
                          return Amplitude(c, [](double a) { return 1 / a; });
                        })}}),
      .measurements = RotationMeasurements<RopeGiven>()};
}

}  // namespace sextant::oracle
