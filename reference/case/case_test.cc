#include "reference/case/case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "reference/base/error_test.h"
#include "reference/case/operations.h"
#include "reference/case/random_test.h"

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string Canonical(const std::string& line) { return Case::Parse(line).ToString(); }

std::string ErrorOfLine(const std::string& line) {
  return MessageOf([&] { Case::Parse(line); });
}

TEST(Case, PrintsEveryAttributeAndDimension) {
  EXPECT_EQ(Canonical("rope pairing=half H=2 S=3 D=8"),
            "rope pairing=half base=10000 scaling=none offset=0 direction=forward B=1 D=8 H=2 R=8 "
            "S=3 dtype=f32 "
            "seed=1");
  EXPECT_EQ(Canonical("rms_norm N=3 M=16 eps=0.1 dtype=bf16 seed=7  # why it exists"),
            "rms_norm eps=0.1 unit_offset=false M=16 N=3 dtype=bf16 seed=7");
  EXPECT_EQ(Canonical("rope_frequencies R=4 scaling=llama3(factor=32)"),
            "rope_frequencies base=10000 "
            "scaling=llama3(factor=32,low_freq_factor=1,high_freq_factor=4,original_max_position_"
            "embeddings=8192) "
            "R=4 dtype=f32 seed=1");
}

TEST(Case, OrderAndSpacesDoNotMatter) {
  EXPECT_EQ(Canonical("rope seed=2 D=4  S=1 H=1 @position=5 pairing=interleaved dtype=f16"),
            Canonical("rope   pairing=interleaved dtype=f16 H=1 S=1 D=4 @position=5 seed=2"));
}

RC_GTEST_PROP(Case, CanonicalLinesReadBack, (uint64_t seed)) {
  Random random(seed);
  const auto operations = AllOperations();
  const OperationInfo& info = random.OneOf(operations)->info();
  std::string more = "dtype=f32|bf16|f16|f64";
  for (const TensorSpec& input : info.signature.inputs) {
    more += " @" + input.name +
            (input.role == Role::kInteger ? "=sequence(-5)|hard|borders" : "=normal(3)|special");
    if (input.role == Role::kWide) more += " dtype." + input.name + "=f64|f32";
  }
  const Case c = RandomCase(info, random, more);
  RC_ASSERT(Case::Parse(c.ToString()).ToString() == c.ToString());
  RC_ASSERT(Case(c).ToString() == c.ToString());
}

TEST(Case, SomeDimensionsHaveDefaults) {
  const auto extent = [](const std::string& line, const std::string& letter) {
    return Case::Parse(line).dimensions().at(letter);
  };
  EXPECT_EQ(extent("rope pairing=half H=2 S=3 D=8", "R"), 8);
  EXPECT_EQ(extent("rope pairing=half H=2 S=3 D=8 R=4", "R"), 4);
  EXPECT_EQ(extent("rope pairing=half H=2 S=3 D=8", "B"), 1);
}

TEST(Case, ListsBindTheLastAxis) {
  EXPECT_EQ(Case::Parse("rope pairing=half H=1 D=8 @position=0,1,255..258").dimensions().at("S"),
            6);
  EXPECT_EQ(Case::Parse("rope_table S=2 @inv_freq=1,0.5,0.25").dimensions().at("R"), 6);
  EXPECT_EQ(ErrorOfLine("rope pairing=half H=1 D=8 S=4 @position=0,1"),
            "@position lists 2 numbers, expected 4 (its last axis) or 4 (all of [1,4])");
}

TEST(Case, AListBindsNothingIfItMayBeOneOfSeveralRows) {
  const auto extent = [](const std::string& line, const std::string& letter) {
    return Case::Parse(line).dimensions().at(letter);
  };
  const std::string line = "attention B=1 H=1 K=1 S=2 D=2 @v=1,2,3,4,5,6";
  EXPECT_EQ(extent(line + " T=3", "E"), 2);  // the list is all of v[1,1,3,2]
  EXPECT_EQ(extent(line + " T=1", "E"), 6);
  EXPECT_EQ(extent("rms_norm N=1 @x=1,2,3,4", "M"), 4);
  const std::string ambiguous =
      "rms_norm needs dimension M=: the 4 numbers of @x may be its last axis or all of x[N,M]";
  EXPECT_EQ(ErrorOfLine("rms_norm N=2 @x=1,2,3,4"), ambiguous);
  EXPECT_EQ(ErrorOfLine("rms_norm @x=1,2,3,4"), ambiguous);
  EXPECT_EQ(extent("rms_norm N=2 @x=1,2,3,4 @weight=1,1", "M"), 2);  // weight has one axis
  EXPECT_EQ(ErrorOfLine("rope_sections sections=[1,1] order=contiguous pairing=half H=1 D=4 "
                        "@position=5,7"),
            "rope_sections needs dimension S=: the 2 numbers of @position may be its last axis or "
            "all of position[B,A,S]");
}

// The signature has delta[B] after k[B,K,T,D], but the length of delta decides how k is read.
TEST(Case, ListsOfOneAxisAreBoundBeforeOthers) {
  const std::string line = "rope_shift pairing=half K=1 T=1 @k=1,2 @delta=";
  EXPECT_EQ(Case::Parse(line + "5").dimensions().at("D"), 2);
  EXPECT_THAT(ErrorOfLine(line + "5,6"),
              HasSubstr("needs dimension D=: the 2 numbers of @k may be"));
}

TEST(Case, RolesAndOverridesDetermineDTypes) {
  const Case c = Case::Parse("rope_given pairing=half H=1 S=1 D=4 dtype=bf16");
  const Signature& s = c.info().signature;
  EXPECT_EQ(c.DTypeOf(s.inputs[0]), DType::kBF16);
  EXPECT_EQ(c.DTypeOf(s.inputs[1]), DType::kI64);
  EXPECT_EQ(c.DTypeOf(s.inputs[2]), DType::kF32);
  EXPECT_EQ(c.With("dtype.inv_freq=bf16").DTypeOf(s.inputs[2]), DType::kBF16);
  EXPECT_EQ(c.With("dtype.x=f8_e4m3fn").DTypeOf(s.inputs[0]), DType::kF8E4M3FN);
}

TEST(Case, WithChangesOneWord) {
  const Case c = Case::Parse("rope pairing=half H=1 S=1 D=4 R=4");
  EXPECT_EQ(c.With("base=10").ToString(), Canonical("rope pairing=half base=10 H=1 S=1 D=4"));
  EXPECT_EQ(c.With("@position=5").ToString(),
            Canonical("rope pairing=half H=1 S=1 D=4 @position=5"));
  EXPECT_EQ(c.With("dtype=f64").dtype(), DType::kF64);
  EXPECT_THROW(c.With("D=2"), Error);  // R stays 4
}

TEST(Case, DefaultSpecsComeFromTheOperation) {
  const Case c = Case::Parse("rms_norm N=1 M=2 @x=one_hot");
  EXPECT_EQ(c.SpecOf(c.signature().inputs[0]), "one_hot");
  EXPECT_EQ(c.SpecOf(c.signature().inputs[1]), "near_one");
}

TEST(Case, DistributionsMayNameADimension) {
  const Case c = Case::Parse("embedding V=5 S=2 M=3 @table=normal(M)");
  EXPECT_EQ(c.SpecOf(c.signature().inputs[0]), "random_positions(5)");
  EXPECT_EQ(c.SpecOf(c.signature().inputs[1]), "normal(3)");
  EXPECT_THAT(c.With("V=8").ToString(), HasSubstr("@table=normal(M)"));
  EXPECT_EQ(c.With("V=8").SpecOf(c.signature().inputs[0]), "random_positions(8)");
  EXPECT_THAT(ErrorOfLine("embedding V=5 S=2 M=3 @token=random_positions(Q)"), HasSubstr("'Q'"));
}

TEST(Case, ErrorsListTheNamesThatExist) {
  EXPECT_EQ(ErrorOfLine(""), "an empty line is no case");
  EXPECT_EQ(ErrorOfLine("rope @x=file:a\x1b"),
            "the word '@x=file:a?' of a case has characters that are not printable");
  EXPECT_THAT(
      ErrorOfLine("ropes S=1"),
      HasSubstr("there is no operation 'ropes' (did you mean 'rope'?); there are: sinusoidal "
                "rope_frequencies"));
  EXPECT_EQ(ErrorOfLine("rms_norm N"), "'N' is not key=value");
  EXPECT_EQ(ErrorOfLine("rms_norm =3"), "'=3' is not key=value");
  EXPECT_EQ(ErrorOfLine("rms_norm N=1 M=2 N=3"), "rms_norm: N= is given twice");
  EXPECT_EQ(ErrorOfLine("rms_norm N=1 M=2 Q=3"), "rms_norm has no dimension Q; it has: M N");
  EXPECT_EQ(ErrorOfLine("rms_norm N=1"), "rms_norm needs dimension M=");
  EXPECT_EQ(ErrorOfLine("rms_norm N=1 M=2 theta=3"),
            "rms_norm has no attribute 'theta'; it has: eps unit_offset");
  EXPECT_EQ(ErrorOfLine("rms_norm N=1 M=2 @y=normal"),
            "rms_norm has no input 'y'; it has: x weight");
  EXPECT_EQ(ErrorOfLine("rms_norm N=1 M=2 dtype.z=f32"),
            "rms_norm has no tensor 'z'; its signature is x[N,M] weight:wide[M] -> y[N,M]");
  EXPECT_EQ(ErrorOfLine("rms_norm N=1 M=2 dtype=f8"),
            "rms_norm: dtype: 'f8' is not one of: f64 f32 f16 bf16");
  EXPECT_EQ(ErrorOfLine("rms_norm N=1 M=2 dtype=f8_e5m2"),
            "rms_norm: dtype=f8_e5m2, expected one of: f64 f32 f16 bf16, or "
            "dtype.NAME=f8_e5m2 for a tensor");
  EXPECT_EQ(ErrorOfLine("rms_norm N=1 M=2 dtype=i64"),
            "rms_norm: dtype: 'i64' is not one of: f64 f32 f16 bf16");
  EXPECT_EQ(ErrorOfLine("rms_norm N=1 M=2 dtype.x=i64"),
            "rms_norm: dtype.x: 'i64' is not one of: f64 f32 f16 bf16 f8_e4m3fn f8_e5m2 "
            "f8_e4m3fnuz f8_e5m2fnuz");
  EXPECT_EQ(ErrorOfLine("rms_norm N=-1 M=2"), "dimension N is -1, expected 0 to 8589934592");
  EXPECT_EQ(ErrorOfLine("rms_norm N=1.5 M=2"), "dimension N: '1.5' is not an integer");
  EXPECT_EQ(ErrorOfLine("rms_norm N=99999999999999999999 M=2"),
            "dimension N: '99999999999999999999' is too large: expected an integer below 2^63 in "
            "magnitude");
  EXPECT_EQ(ErrorOfLine("rms_norm N=1 M=2 seed=x"), "seed: 'x' is not an integer");
  EXPECT_EQ(ErrorOfLine("rms_norm N=1 M=2 eps=-1"), "eps is -1, expected 0 or more");
  EXPECT_EQ(ErrorOfLine("rms_norm N=1000000 M=1000000"),
            "rms_norm: tensor x has 1000000000000 elements, expected at most 8589934592");
  EXPECT_EQ(ErrorOfLine("rope H=1 S=1 D=4"), "rope needs pairing=, one of: half interleaved");
}

TEST(Case, ErrorsOfRotaryShapesNameTheLimit) {
  EXPECT_EQ(ErrorOfLine("rope pairing=half H=1 S=1 D=8 R=7"),
            "dimension R is 7, expected a multiple of 2");
  EXPECT_EQ(ErrorOfLine("rope pairing=half H=1 S=1 D=7"),
            "dimension R is 7, expected a multiple of 2 (unless given, R is D)");
  for (const char* line :
       {"rope pairing=half S=1", "rope_complex S=1", "rope_given pairing=half S=1",
        "rope_rotate pairing=half S=1", "rope_relayout from=half to=interleaved M=1"}) {
    EXPECT_EQ(ErrorOfLine(std::string(line) + " H=1 D=4 R=6"),
              "dimension R is 6, expected at most D, which is 4");
    EXPECT_EQ(ErrorOfLine(std::string(line) + " H=1 D=8 R=6 offset=3"),
              "offset is 3, expected 0 to 2 (D - R: the window of rotated channels lies inside the "
              "head)");
    EXPECT_THAT(ErrorOfLine(std::string(line) + " H=1 D=8 R=6 offset=-1"),
                HasSubstr("offset is -1"));
    EXPECT_EQ(ErrorOfLine(std::string(line) + " H=1 D=8 R=6 offset=2"), "");
  }
  EXPECT_EQ(ErrorOfLine("rope_table S=1 R=3"), "dimension R is 3, expected a multiple of 2");
  EXPECT_EQ(ErrorOfLine("rope_matrix pairing=half S=1 D=3"),
            "dimension D is 3, expected a multiple of 2");
  EXPECT_EQ(ErrorOfLine("sinusoidal S=1 M=3"), "dimension M is 3, expected a multiple of 2");
}

TEST(Case, ErrorsOfScalingsNameTheParameter) {
  const auto error = [](const std::string& scaling) {
    return ErrorOfLine("rope_frequencies R=4 scaling=" + scaling);
  };
  EXPECT_EQ(ErrorOfLine("rope_frequencies R=4 base=0"), "base is 0, expected more than 0");
  EXPECT_EQ(error("linear(factor=0)"), "linear: factor is 0, expected more than 0");
  EXPECT_EQ(error("linear"), "rope_frequencies: attribute scaling: linear needs factor=");
  EXPECT_THAT(
      error("cubic(factor=2)"),
      StartsWith("rope_frequencies: attribute scaling: 'cubic' is not one of: none linear "));
  EXPECT_EQ(error("llama3(low_freq_factor=5)"),
            "llama3: low_freq_factor is 5 and high_freq_factor 4, expected 0 < low <= high");
  EXPECT_EQ(error("llama3(original_max_position_embeddings=-1)"),
            "llama3: original_max_position_embeddings is -1, expected more than 0");
}

TEST(Case, ReadsCasesAndTheirReasonsFromFiles) {
  const std::string path = testing::TempDir() + "case_test.cases";
  {
    std::ofstream out(path);
    out << "# a heading\n\nrms_norm N=1 M=2  # short row\n  rms_norm N=2 M=2 @x=f.npy#00  \n";
  }
  const std::vector<CaseLine> lines = ReadCaseLines(path);
  std::remove(path.c_str());
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].number, 3u);
  EXPECT_EQ(lines[0].why, "short row");
  EXPECT_EQ(Case::Parse(lines[0].text).dimensions().at("M"), 2);
  EXPECT_THAT(lines[1].text, HasSubstr("@x=f.npy#00"));  // a hash inside a word starts no comment
  EXPECT_EQ(lines[1].why, "");
  EXPECT_THROW(ReadCaseLines(path), Error);
}

}  // namespace
}  // namespace sextant
