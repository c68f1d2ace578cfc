#include "tools/api/part_as_case.h"

#include <gtest/gtest.h>

#include "reference/case/draw.h"
#include "reference/prove/prove.h"

namespace sextant::tools {
namespace {

// The numbers of a part are those of the whole case, and so are the exact values.
TEST(PartAround, IsTheSameComputation) {
  for (const std::string line :
       {"rms_norm N=900 M=256", "rope pairing=half B=2 H=4 S=700 D=64 @position=random_positions",
        "rope_table R=64 S=9000", "quantize N=700 A=1 G=2 M=128 dtype=bf16"}) {
    const Case c = Case::Parse(line);
    const Tensors inputs = DrawInputs(c);
    const Recipe recipe = ParseRecipe("native", c.dtype());
    const Tensors outputs = EvaluateByRecipe({c, inputs, recipe});
    const TensorSpec& y = c.info().signature.outputs.back();
    const size_t index = CountOf(c.ShapeOf(y)) * 2 / 3;
    const auto part = PartAround(c, ReadersOf(inputs), ReadersOf(outputs), y, index);
    ASSERT_TRUE(part) << line;
    size_t elements = 0;
    for (const NamedTensor& tensor : part->outputs) elements += tensor.values.data.size();
    EXPECT_LE(elements, size_t{1} << 16) << line;
    EXPECT_GE(elements, size_t{1} << 12) << line;
    // The element is in the part.
    const auto indices = IndicesIn(c.ShapeOf(y), y, part->part);
    EXPECT_NE(std::ranges::find(indices, index), indices.end()) << line;
    const Tensors own = EvaluateByRecipe({part->c, part->inputs, recipe});
    ASSERT_EQ(own.size(), part->outputs.size());
    for (size_t o = 0; o < own.size(); ++o)
      EXPECT_EQ(own[o].values.data, part->outputs[o].values.data) << line;
  }
}

TEST(PartAround, IsEmptyWhereNoCaseIsThatPart) {
  for (const std::string line : {
           "softmax N=3 M=4",                                   // small enough
           "attention H=2 S=900 T=900 D=64 mask=causal",        // the mask depends on the index
           "attention B=2 H=2 S=900 T=9 D=64 key_length=[3,9]"  // one number for each sequence
       }) {
    const Case c = Case::Parse(line);
    const Tensors inputs = DrawInputs(c);
    const Tensors outputs = EvaluateByRecipe({c, inputs, ParseRecipe("native", c.dtype())});
    const TensorSpec& y = c.info().signature.outputs[0];
    EXPECT_FALSE(PartAround(c, ReadersOf(inputs), ReadersOf(outputs), y, 0)) << line;
  }
}

}  // namespace
}  // namespace sextant::tools
