#include "reference/base/did_you_mean.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace sextant {
namespace {

TEST(EditDistance, CountsEdits) {
  EXPECT_EQ(EditDistance("rope", "rope"), 0u);
  EXPECT_EQ(EditDistance("rope", "roep"), 1u);  // neighbours exchanged
  EXPECT_EQ(EditDistance("rope", "ropes"), 1u);
  EXPECT_EQ(EditDistance("softmax", "softmx"), 1u);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(EditDistance("", "abc"), 3u);
}

TEST(DidYouMean, NamesTheNearest) {
  const std::vector<std::string> names = {"rope_given", "rope", "rms_norm", "layer_norm"};
  EXPECT_EQ(DidYouMean("roep", names), " (did you mean 'rope'?)");
  EXPECT_EQ(DidYouMean("rop", names), " (did you mean 'rope'?)");
  EXPECT_EQ(DidYouMean("rmsnorm", names), " (did you mean 'rms_norm'?)");
  EXPECT_EQ(DidYouMean("layer", names), " (did you mean 'layer_norm'?)");
  EXPECT_EQ(DidYouMean("rope_", {"rope_given", "rope_cos_sin"}), "") << "begins two names";
  EXPECT_EQ(DidYouMean("softmax", names), "");
  EXPECT_EQ(DidYouMean("x", names), "");
  EXPECT_EQ(DidYouMean("rope", {"rope"}), "");
}

TEST(DidYouMean, NamesTheNearestFileOfTheFolder) {
  const std::filesystem::path folder = testing::TempDir() + "did_you_mean";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "softmax.cases") << "\n";
  EXPECT_EQ(DidYouMeanFile(folder / "sofmax.cases"), " (did you mean 'softmax.cases'?)");
  EXPECT_EQ(DidYouMeanFile(folder / "rope.cases"), "");
  EXPECT_EQ(DidYouMeanFile(folder / "none/rope.cases"), "");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace sextant
