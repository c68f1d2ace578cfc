#include "reference/rope/rope.h"

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/property.h"
#include "oracle/rope/angle_defects.h"
#include "oracle/rope/configuration_properties.h"
#include "oracle/rope/decoding_property.h"
#include "oracle/rope/measured/rotation.h"
#include "oracle/rope/rotary_defects.h"
#include "oracle/rope/rotary_properties.h"
#include "oracle/rope/scaling_defects.h"

namespace sextant::oracle {

template <>
CatalogEntry MakeCatalogEntry<Rope>() {
  return {
      .properties = Joined<Property>({PropertiesOfPositions(),
                                      PropertiesOfConfiguration(),
                                      {PairingsAgree(), DecodingIsPrefill()}}),
      .defects = Joined<Defect>(
          {PositionDefects(),
           RotationDefects<Rope>(),
           FrequencyDefects<Rope>(),
           ScalingDefects(),
           ExtensionDefects(),
           PrecisionDefects(Rope::kSteps),
           {ChangedWord("partial_width_ignored", "the whole head is rotated although R < D",
                        [](const Case& c) { return "R=" + std::to_string(ExtentOf(c, "D")); })}}),
      .measurements = RotationMeasurements<Rope>()};
}

}  // namespace sextant::oracle
