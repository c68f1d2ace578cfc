#include "tools/api/confirmation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/case/draw.h"
#include "reference/prove/prove.h"

namespace sextant::tools {
namespace {

using testing::HasSubstr;

struct ConfirmedQuestion {
  Case c;
  Tensors inputs;
  std::vector<GoldenTensor> golden;
};
ConfirmedQuestion ProofOf(const std::string& line) {
  ConfirmedQuestion q{Case::Parse(line), {}, {}};
  q.inputs = DrawInputs(q.c);
  q.golden = Prove({q.c, q.inputs, ParseRecipe("native", q.c.dtype())});
  return q;
}

TEST(Confirmation, SummaryCountsConfirmedElements) {
  const ConfirmedQuestion many = ProofOf("rms_norm N=64 M=64"), few = ProofOf("rms_norm N=1 M=2");
  Confirmation all(true, 1), share(false, 1);
  for (const ConfirmedQuestion& q : {many, few}) {
    EXPECT_EQ(all.FaultOf(q.c, {}, q.inputs, q.golden), "");
    EXPECT_EQ(share.FaultOf(q.c, {}, q.inputs, q.golden), "");
  }
  EXPECT_EQ(all.Summary(), "Boost.Multiprecision confirms 4098 of 4098 elements");
  // 4 of 64 rows of the first case, none of the second case.
  EXPECT_EQ(share.Summary(),
            "Boost.Multiprecision confirms 256 of 4098 elements (--confirm asks for all)");
}

TEST(Confirmation, RefutesAValueWhoseRoundedAndExactPartsChangeTogether) {
  ConfirmedQuestion q = ProofOf("rms_norm N=1 M=2 dtype=f64");
  GoldenTensor& y = q.golden[0];
  y.value.data[1] = y.high.data[1] = NextUp(DType::kF64, y.high.data[1]);
  EXPECT_THAT(
      Confirmation(true, 1).FaultOf(q.c, {}, q.inputs, q.golden),
      testing::AllOf(HasSubstr("golden/y[0,1] is "), HasSubstr("Boost.Multiprecision finds"),
                     HasSubstr("; 1 of 2 elements evaluated again")));
}

}  // namespace
}  // namespace sextant::tools
