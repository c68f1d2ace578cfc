#include "oracle/judge/failing_indices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/case/draw.h"
#include "reference/case/operations.h"

namespace sextant::oracle {
namespace {

using testing::ElementsAre;

// "S=2..3 position=8..9": the axes on which these elements of the first output fail.
std::vector<std::string> Failing(const std::string& line, const std::vector<size_t>& elements,
                                 bool with_inputs = true) {
  const Case c = Case::Parse(line);
  const Tensors inputs = DrawInputs(c);
  const TensorSpec& output = c.info().signature.outputs[0];
  std::vector<bool> fails(CountOf(c.ShapeOf(output)));
  for (const size_t i : elements) fails.at(i) = true;
  std::vector<std::string> texts;
  for (const FailingIndices& axis :
       FailingIndicesOf({c, output, with_inputs ? &inputs : nullptr}, fails)) {
    std::string text = axis.axis + "/" + std::to_string(axis.extent);
    for (const auto& [first, last] : axis.ranges)
      text += " " + std::to_string(first) + ".." + std::to_string(last);
    texts.push_back(text + (axis.everywhere ? " everywhere" : "") +
                    (axis.elsewhere ? " elsewhere" : ""));
  }
  return texts;
}

// y[B=1,H=1,S=3,D=4]; elements 5 and 11 are y[0,0,1,1] and y[0,0,2,3]: pair 1 of the halves.
TEST(FailingIndices, NamesPositionsByTheirValuesAndPairsByThePairing) {
  const std::string line = "rope H=1 S=3 D=4 @position=100,-7,50 pairing=";
  EXPECT_THAT(Failing(line + "half", {5, 11}),
              ElementsAre("B/1 0..0 everywhere", "H/1 0..0 everywhere", "S/3 1..2", "D/4 1..1 3..3",
                          "position/3 -7..50", "pair/2 1..1"));
  EXPECT_THAT(Failing(line + "interleaved", {5, 11}).back(), "pair/2 0..1 everywhere");
}

// Channels 0, 3, 4 and 5 of 6 are in no pair.
TEST(FailingIndices, SaysThatChannelsWithoutAPairFail) {
  const std::string line = "rope pairing=half offset=1 R=2 H=1 S=1 D=6";
  EXPECT_THAT(Failing(line, {2}).back(), "pair/1 0..0 everywhere");
  EXPECT_THAT(Failing(line, {4}).back(), "pair/1 elsewhere");
}

// Row 1 of the batch has other positions than row 0.
TEST(FailingIndices, InputsOfSeveralAxesHaveTheirOwnValueAtEveryElement) {
  const std::string line = "rope pairing=half B=2 H=1 S=2 D=2 @position=random_positions(1000)";
  const Tensor<double> position = DrawInputs(Case::Parse(line))[1].values;
  const auto value = static_cast<int64_t>(position.data[2]);
  EXPECT_THAT(Failing(line, {4})[4],
              testing::EndsWith(" " + std::to_string(value) + ".." + std::to_string(value)));
}

// Columns 1 and 3 of the halves of R = 4 belong to pair 1.
TEST(FailingIndices, TablesOfHalvesHaveOnePairForTwoColumns) {
  const std::string line = "rope_cos_sin S=1 R=4 layout=";
  EXPECT_EQ(Failing(line + "halves", {1, 3}).back(), "pair/2 1..1");
  EXPECT_EQ(Failing(line + "interleaved", {2, 3}).back(), "pair/2 1..1");
  EXPECT_EQ(Failing(line + "half_width", {1}).back(), "pair/2 1..1");
}

TEST(FailingIndices, TablesHavePairsAndOutputsOfOtherOperationsDoNot) {
  EXPECT_THAT(Failing("rope_table S=2 R=4 @position=3,9", {3}),
              ElementsAre("B/1 0..0 everywhere", "S/2 1..1", "R/2/2 1..1", "position/2 9..9",
                          "pair/2 1..1"));
  EXPECT_THAT(Failing("rms_norm N=2 M=3", {0, 2}), ElementsAre("N/2 0..0", "M/3 0..0 2..2"));
}

TEST(FailingIndices, KnowsNoInputsWithoutThem) {
  EXPECT_EQ(Failing("rope pairing=half H=1 S=3 D=4", {0}, false).size(), 5u);
}

// So a file of expectations can be checked before any case runs.
TEST(FailingIndices, AxisNamesAreThoseOfEveryCase) {
  for (const auto& operation : AllOperations()) {
    for (const TensorSpec& output : operation->info().signature.outputs)
      EXPECT_GE(AxisNamesOf(*operation, output).size(), output.extents.size());
  }
  const auto rope = MakeOperationNamed("rope");
  EXPECT_THAT(AxisNamesOf(*rope, rope->info().signature.outputs[0]),
              ElementsAre("B", "H", "S", "D", "position", "pair"));
}

}  // namespace
}  // namespace sextant::oracle
