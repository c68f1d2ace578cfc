#include "tools/c/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "fixtures/store/temporary_folder_test.h"
#include "fixtures/store/tensor_file.h"
#include "reference/base/json.h"

namespace sextant::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// softmax of two rows in bf16; 1 and 0.5 are exact, and the second row is wrong. A third row is
// right.
struct WrongSoftmax {
  uint16_t x[6] = {}, y[6] = {0x3F00, 0x3F00, 0x3F80, 0x3F80, 0x3F00, 0x3F00};
  int64_t shape[2] = {2, 2};
  DLTensor of_x{x, {kDLCPU, 0}, 2, {kDLBfloat, 16, 1}, shape, nullptr, 0};
  DLTensor of_y{y, {kDLCPU, 0}, 2, {kDLBfloat, 16, 1}, shape, nullptr, 0};

  Json Judge(const SextantOptions* options) const {
    const SextantTensor tensors[] = {{"x", &of_x}, {"y", &of_y}};
    SextantResult* result = nullptr;
    EXPECT_EQ(sextant_judge("softmax", tensors, 2, options, &result), SEXTANT_OK)
        << sextant_last_error();
    const Json json = ParseJson(sextant_json(result), 20);
    sextant_free(result);
    return json;
  }
};

SextantOptions Options() {
  SextantOptions options{};
  options.struct_size = sizeof options;
  return options;
}

TEST(Options, OfAnOlderCallerEndEarlier) {
  SextantOptions options = Options();
  options.struct_size = offsetof(SextantOptions, budget_elements);
  options.budget_elements = 2;  // beyond the end
  EXPECT_EQ(WrongSoftmax().Judge(&options)["budget"], nullptr);
  options.struct_size = sizeof options;
  EXPECT_EQ(WrongSoftmax().Judge(&options)["budget"]["elements"], 2);
}

TEST(Options, KeepTheTensorsOfAFailureInTheirTypes) {
  const fixtures::TemporaryFolder folder;
  const std::string deeper = folder / "new/folder";
  SextantOptions options = Options();
  options.keep = deeper.c_str();
  const Json verdict = WrongSoftmax().Judge(&options);
  const std::string kept = verdict["kept"];
  EXPECT_THAT(kept, testing::StartsWith(deeper + "/softmax-"));
  EXPECT_THAT(std::string(verdict["text"]), HasSubstr("repeat: sextant judge 'softmax"));
  EXPECT_THAT(fixtures::NamesInSafetensors(kept), ElementsAre("x", "y"));
  const fixtures::FileTensor y = fixtures::ReadTensor(kept + ":y");
  EXPECT_EQ(y.view.type, ElementType::kBF16);
  EXPECT_THAT(ValuesOf(y.view).data, ElementsAre(0.5, 0.5, 1, 1));
}

TEST(Options, KeepNothingOfAConformingAnswer) {
  const fixtures::TemporaryFolder folder;
  const std::string path = folder / "kept";
  SextantOptions options = Options();
  options.keep = path.c_str();
  WrongSoftmax softmax;
  softmax.y[2] = softmax.y[3] = 0x3F00;
  const Json verdict = softmax.Judge(&options);
  EXPECT_EQ(verdict["status"], "conforms");
  EXPECT_EQ(verdict["kept"], "");
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Options, LoseNoVerdictIfTheTensorsCannotBeKept) {
  SextantOptions options = Options();
  options.keep = "/dev/null/folder";
  const Json verdict = WrongSoftmax().Judge(&options);
  EXPECT_EQ(verdict["status"], "fails");
  EXPECT_EQ(verdict["kept"], "");
  EXPECT_THAT(std::string(verdict["text"]), HasSubstr("could not be kept: /dev/null/folder: "));
}

TEST(Options, TakeTheFolderFromTheEnvironment) {
  const fixtures::TemporaryFolder folder;
  const std::string kept_in = folder / "kept";
  ::setenv("SEXTANT_KEEP", kept_in.c_str(), 1);
  const Json kept = WrongSoftmax().Judge(nullptr)["kept"];
  SextantOptions options = Options();
  options.keep = "";
  const Json not_kept = WrongSoftmax().Judge(&options)["kept"];
  ::unsetenv("SEXTANT_KEEP");
  EXPECT_NE(kept, "");
  EXPECT_EQ(not_kept, "");
}

TEST(Options, ABudgetLeavesElementsOut) {
  SextantOptions options = Options();
  options.budget_elements = 2;
  options.budget_seed = 3;
  WrongSoftmax softmax;
  softmax.shape[0] = 3;
  const Json verdict = softmax.Judge(&options);  // the first and the last row
  EXPECT_EQ(verdict["tensors"][0]["left_out"], 2);
  EXPECT_THAT(std::string(verdict["text"]), HasSubstr(" in the part that was judged: softmax"));
  EXPECT_THAT(std::string(verdict["text"]), HasSubstr("left out; the part was chosen with seed 3"));
}

}  // namespace
}  // namespace sextant::tools
