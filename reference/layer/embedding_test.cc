#include "reference/layer/embedding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "reference/base/error_test.h"
#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::Each;
using testing::ElementsAre;

TEST(Embedding, TakesTheRowOfEachToken) {
  EXPECT_THAT(DoublesOf("embedding V=3 M=2 @token=2,0,2 @table=1,2,3,4,5,6"),
              ElementsAre(5, 6, 1, 2, 5, 6));
}

TEST(Embedding, RowsAreExactWithoutScale) {
  for (const std::string dtype : {"f32", "f16", "bf16", "f64"}) {
    const Proof proof = ProofOf("embedding S=4 V=9 M=3 dtype=" + dtype);
    EXPECT_THAT(proof.golden[0].permitted.data, Each(0)) << dtype;
  }
}

// 55.5 * 1.0078125 = 55.93359375 lies between the bf16 numbers 55.75 and 56. The product of two
// 8-bit significands is exact in f32.
TEST(Embedding, MultipliesByTheScaleExactlyBeforeTheLastRounding) {
  const Proof proof =
      ProofOf("embedding S=1 V=1 M=1 scale=55.5 dtype=bf16 @token=0 @table=1.0078125");
  EXPECT_THAT(proof.golden[0].high.data, ElementsAre(55.93359375));
  EXPECT_THAT(proof.golden[0].value.data, ElementsAre(56));
  EXPECT_NEAR(proof.golden[0].permitted.data[0], 0.125, 1e-9);  // half an ulp; the ulp is 2^-2
}

// The widths of Gemma models, and sqrt(M) rounded to bf16. A table entry 1 gives the scale itself;
// an entry 3 gives the exact product, rounded: 3 * 55.5 = 166.5 is a tie and rounds to 166, even.
TEST(Embedding, GemmaMultipliesByTheRootRoundedToBf16) {
  struct Model {
    int width;
    double scale, three_times;  // in bf16
  };
  for (const auto& [width, scale, three_times] :
       {Model{2048, 45.25, 136}, Model{2304, 48, 144}, Model{3072, 55.5, 166},
        Model{3584, 59.75, 179}, Model{3840, 62, 186}, Model{5376, 73.5, 220}}) {
    const std::string root = PrintValue(RoundTo(DType::kBF16, std::sqrt(width)));
    const std::string row = " S=1 V=2 dtype=bf16 @token=1 @table=0,0,1,3 scale=" + root;
    // The result does not depend on M: the case states the scale.
    EXPECT_THAT(ValuesOf("embedding M=2" + row), ElementsAre(scale, three_times)) << width;
  }
}

std::string ErrorOf(const std::string& line) {
  return MessageOf([&] { ProofOf(line); });
}

TEST(Embedding, RefusesTokensOutsideTheTable) {
  EXPECT_EQ(ErrorOf("embedding V=3 M=2 @token=0,3"),
            "token[1] is 3, expected 0 to 2: the table has 3 rows");
  EXPECT_EQ(ErrorOf("embedding V=3 M=2 @token=-1"),
            "token[0] is -1, expected 0 to 2: the table has 3 rows");
  EXPECT_EQ(ErrorOf("embedding V=3 M=2 @token=0..2"), "");
  EXPECT_EQ(ErrorOf("embedding V=0 M=2 @token=0"),
            "dimension V is 0, expected 1 or more: token[0] is a row of table");
}

TEST(Embedding, DrawsEveryTokenOfTheTable) {
  for (const int V : {1, 2, 7}) {
    const Case c = Case::Parse("embedding S=64 M=1 V=" + std::to_string(V));
    std::vector<double> seen = DrawInputs(c)[0].values.data;
    std::ranges::sort(seen);
    const auto repeated = std::ranges::unique(seen);
    seen.erase(repeated.begin(), repeated.end());
    ASSERT_EQ(seen.size(), static_cast<size_t>(V));
    for (int v = 0; v < V; ++v) EXPECT_EQ(seen[static_cast<size_t>(v)], v);
  }
}

}  // namespace
}  // namespace sextant
