#include "reference/rope/rope_complex.h"

#include "oracle/defect/oracle.h"
#include "oracle/property/laws.h"
#include "oracle/rope/angle_defects.h"
#include "oracle/rope/configuration_laws.h"
#include "oracle/rope/decoding_law.h"
#include "oracle/rope/rotary_defects.h"
#include "oracle/rope/rotary_laws.h"
#include "oracle/rope/scaling_defects.h"

namespace sextant::oracle {
namespace {

// The same case as one of `rope`.
Case AsRope(const Case& c) {
  std::string line = c.ToString();
  return Case::Parse("rope pairing=interleaved" + line.substr(line.find(' ')));
}

Property IsRope() {
  return {"is_rope", "complex numbers turn as neighbouring channels do",
          [](const Case& c, const Tensors& inputs, const Ask& ask) {
            Findings findings;
            const Response here = ask(c, inputs), there = ask(AsRope(c), inputs);
            Same(here, there, findings);
            return findings;
          }};
}

}  // namespace

template <>
Oracle MakeOracle<RopeComplex>() {
  return {.properties = Joined<Property>(
              {LawsOfPositions(), LawsOfConfiguration(), {IsRope(), DecodingIsPrefill()}}),
          .defects = Joined<Defect>({PositionDefects(), TurnDefects<RopeComplex>(),
                                     FrequencyDefects<RopeComplex>(), ScalingDefects(),
                                     ExtensionDefects(), PrecisionDefects(RopeComplex::kSteps)})};
}

}  // namespace sextant::oracle
