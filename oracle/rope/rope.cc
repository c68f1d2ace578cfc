#include "reference/rope/rope.h"

#include "oracle/defect/oracle.h"
#include "oracle/property/laws.h"
#include "oracle/rope/angle_defects.h"
#include "oracle/rope/configuration_laws.h"
#include "oracle/rope/decoding_law.h"
#include "oracle/rope/rotary_defects.h"
#include "oracle/rope/rotary_laws.h"
#include "oracle/rope/scaling_defects.h"

namespace sextant::oracle {

template <>
Oracle MakeOracle<Rope>() {
  return {
      .properties = Joined<Property>(
          {LawsOfPositions(), LawsOfConfiguration(), {PairingsAgree(), DecodingIsPrefill()}}),
      .defects = Joined<Defect>(
          {PositionDefects(),
           TurnDefects<Rope>(),
           FrequencyDefects<Rope>(),
           ScalingDefects(),
           ExtensionDefects(),
           PrecisionDefects(Rope::kSteps),
           {ChangedWord("partial_width_ignored", "the whole head is rotated although R < D",
                        [](const Case& c) { return "R=" + std::to_string(ExtentOf(c, "D")); })}})};
}

}  // namespace sextant::oracle
