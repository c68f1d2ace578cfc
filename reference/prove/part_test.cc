#include "reference/prove/part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "reference/case/operations.h"
#include "reference/case/random_test.h"
#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

bool SameBits(const Tensor<double>& a, const Tensor<double>& b) {
  return a.shape == b.shape &&
         std::memcmp(a.data.data(), b.data.data(), a.data.size() * sizeof(double)) == 0;
}

// Proves every part of the case and expects what Prove gives the whole.
void ExpectPartsOfWhole(const Proof& proof, size_t elements, size_t* count = nullptr) {
  const Case& c = proof.c;
  const DrawnInputs inputs(c);
  const Recipe recipe = ParseRecipe("native", c.dtype());
  const CaseCut parts = PartsOf(c, elements);
  if (count) *count = parts.size();
  for (size_t p = 0; p < parts.size(); ++p) {
    const Slice part = parts[p];
    const InputsOfPart of_part(c, inputs.readers(), part, 2);
    for (size_t i = 0; i < proof.inputs.size(); ++i) {
      EXPECT_TRUE(SameBits(of_part.values()[i].values,
                           ExtractSlice(proof.inputs[i].values, c.signature().inputs[i], part)))
          << c.ToString() << " " << TextOf(part) << " " << proof.inputs[i].name;
    }
    const auto golden = ProvePart({c, of_part.tensors(), recipe}, part, {.threads = 2});
    for (size_t o = 0; o < golden.size(); ++o) {
      const TensorSpec& spec = c.info().signature.outputs[o];
      for (const auto member : {&GoldenTensor::value, &GoldenTensor::high, &GoldenTensor::low,
                                &GoldenTensor::permitted, &GoldenTensor::radius}) {
        EXPECT_TRUE(SameBits(golden[o].*member, ExtractSlice(proof.golden[o].*member, spec, part)))
            << c.ToString() << " " << TextOf(part) << " " << spec.name;
      }
    }
    ASSERT_FALSE(testing::Test::HasFailure());
  }
}

TEST(ProvePart, GivesTheNumbersOfTheWholeCase) {
  Random random(17);
  for (const auto& operation : AllOperations()) {
    for (int i = 0; i < 6; ++i) {
      const Proof proof = ProofOf(AnyCase(operation->info(), random).ToString());
      ExpectPartsOfWhole(proof, 1 + random.Below(30));
      ASSERT_FALSE(HasFailure());
    }
  }
}

// Slices of a part are cut again; heads of queries share heads of keys.
TEST(ProvePart, CutsPartsIntoSlices) {
  for (const std::string line :
       {"rope pairing=half B=2 H=3 S=3000 D=8", "attention H=8 K=2 S=700 T=90 D=8",
        "rms_norm N=5000 M=16 dtype=bf16", "quantize N=700 A=2 G=3 M=16 dtype=bf16",
        "rope_table R=16 B=2 S=5000"}) {
    size_t count = 0;
    ExpectPartsOfWhole(ProofOf(line), 20000, &count);
    EXPECT_GT(count, 1u) << line;
  }
}

TEST(PartsOf, CountsTheElementsOfAllOutputs) {
  const Case c = Case::Parse("rope_table R=16 S=1000");  // cos and sin: 8 elements each
  EXPECT_EQ(PartsOf(c, 16000).size(), 1u);
  EXPECT_EQ(PartsOf(c, 4000).size(), 4u);
  EXPECT_EQ(TextOf(PartsOf(c, 4000)[1]), "S=250..499");
  EXPECT_EQ(PartsOf(Case::Parse("decoder_block pairing=half H=2 S=3 M=8 D=4 F=8"), 1).size(), 1u);
}

TEST(DrawnInputs, GivesTheInputsInAnyPiece) {
  Random random(18);
  for (const auto& operation : AllOperations()) {
    for (int i = 0; i < 10; ++i) {
      const Case c = AnyCase(operation->info(), random);
      const Tensors whole = DrawInputs(c);
      const DrawnInputs drawn(c);
      ASSERT_EQ(drawn.readers().size(), whole.size());
      for (size_t t = 0; t < whole.size(); ++t) {
        const std::vector<double>& values = whole[t].values.data;
        const TensorReader& reader = drawn.readers()[t];
        EXPECT_EQ(reader.name(), whole[t].name);
        EXPECT_EQ(reader.dtype(), whole[t].dtype);
        EXPECT_EQ(reader.shape(), whole[t].values.shape);
        if (values.empty()) continue;
        const size_t first = random.Below(values.size());
        std::vector<double> piece(1 + random.Below(values.size() - first));
        reader.Read(first, piece);
        EXPECT_EQ(std::memcmp(piece.data(), values.data() + first, piece.size() * sizeof(double)),
                  0)
            << c.ToString() << " " << whole[t].name;
      }
    }
  }
}

TEST(DrawnInputs, SaysWhichElementDoesNotFit) {
  const Case c = Case::Parse("rope_table R=4 S=4 @position=sequence(9007199254740991)");
  const DrawnInputs drawn(c);
  std::vector<double> piece(2);
  drawn.readers()[0].Read(0, piece);
  try {
    drawn.readers()[0].Read(2, piece);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("element 3 is 9007199254740994"));
  }
}

}  // namespace
}  // namespace sextant
