#include "reference/rope/rope_complex.h"

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/property/common_properties.h"
#include "oracle/rope/angle_defects.h"
#include "oracle/rope/configuration_properties.h"
#include "oracle/rope/decoding_property.h"
#include "oracle/rope/measured/rotation.h"
#include "oracle/rope/rotary_defects.h"
#include "oracle/rope/rotary_properties.h"
#include "oracle/rope/scaling_defects.h"

namespace sextant::oracle {
namespace {

// The same case for the operation `rope`.
Case AsRope(const Case& c) {
  std::string line = c.ToString();
  return Case::Parse("rope pairing=interleaved" + line.substr(line.find(' ')));
}

Property IsRope() {
  return {"is_rope", "complex numbers rotate as rope with pairing=interleaved",
          [](const Case& c, const Tensors& inputs, const Ask& ask) {
            Comparisons comparisons;
            const Response here = ask(c, inputs), there = ask(AsRope(c), inputs);
            ExpectEqual(here, there, comparisons);
            return comparisons;
          }};
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<RopeComplex>() {
  return {
      .properties = Joined<Property>(
          {PropertiesOfPositions(), PropertiesOfConfiguration(), {IsRope(), DecodingIsPrefill()}}),
      .defects = Joined<Defect>({PositionDefects(), RotationDefects<RopeComplex>(),
                                 FrequencyDefects<RopeComplex>(), ScalingDefects(),
                                 ExtensionDefects(), PrecisionDefects(RopeComplex::kSteps)}),
      .measurements = RotationMeasurements<RopeComplex>()};
}

}  // namespace sextant::oracle
