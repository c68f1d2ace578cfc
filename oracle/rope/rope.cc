#include "reference/rope.h"

#include "oracle/angle_defects.h"
#include "oracle/decoding_law.h"
#include "oracle/laws.h"
#include "oracle/oracle.h"
#include "oracle/rotary_defects.h"
#include "oracle/rotary_laws.h"
#include "oracle/scaling_defects.h"

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
