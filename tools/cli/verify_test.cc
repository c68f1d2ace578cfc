// Tests of `sextant verify`. The files are written by fixtures::WriteRecords, so their digests are
// right even if their values are wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <functional>

#include "fixtures/store/temporary_folder_test.h"
#include "fixtures/store/writer.h"
#include "reference/case/draw.h"
#include "reference/prove/prove.h"
#include "tools/api/exit_status.h"
#include "tools/cli/commands.h"

namespace sextant::tools {
namespace {

using testing::HasSubstr;

class VerifyTest : public testing::Test {
 protected:
  // The output of `sextant verify` for the golden of an attention after a change; stores the exit
  // status in `status_`.
  std::string OutputFor(const std::function<void(Record&)>& change) {
    const Case c = Case::Parse("attention H=1 S=2 D=2");
    const Tensors inputs = DrawInputs(c);
    Record record{c.ToString(), inputs, Prove({c, inputs, ParseRecipe("native", c.dtype())}), {}};
    change(record);
    fixtures::WriteRecords(folder_ / "a.h5", {record});
    CLI::App app;
    const Action action = BindVerify(app);
    app.parse(std::vector<std::string>{folder_ / "a.h5"});
    testing::internal::CaptureStdout();
    status_ = action();
    return testing::internal::GetCapturedStdout();
  }

  fixtures::TemporaryFolder folder_;
  int status_ = -1;
};

TEST_F(VerifyTest, AcceptsAnUnchangedGolden) {
  EXPECT_THAT(OutputFor([](Record&) {}), HasSubstr("every value proven again"));
  EXPECT_EQ(status_, kVerified);
}

TEST_F(VerifyTest, FindsWrongNumbersInEachTensor) {
  const auto next_up = [](Tensor<double>& tensor) {
    tensor.data[1] = std::nextafter(tensor.data[1], 9);
  };
  EXPECT_THAT(OutputFor([&](Record& r) { r.golden[0].value.data[1] += 0x1p-20; }),
              HasSubstr("golden/y/value[0,0,0,1] is "));
  EXPECT_EQ(status_, kNonconforming);
  EXPECT_THAT(OutputFor([&](Record& r) { next_up(r.golden[0].high); }),
              HasSubstr("golden/y/high[0,0,0,1] is "));
  EXPECT_EQ(status_, kNonconforming);
  EXPECT_THAT(OutputFor([&](Record& r) { next_up(r.golden[0].low); }),
              HasSubstr("golden/y/low[0,0,0,1] is "));
  EXPECT_EQ(status_, kNonconforming);
  EXPECT_THAT(OutputFor([&](Record& r) { next_up(r.golden[0].permitted); }),
              HasSubstr("golden/y/permitted[0,0,0,1] is "));
  EXPECT_EQ(status_, kNonconforming);
  EXPECT_THAT(OutputFor([&](Record& r) { r.golden[0].radius.data[1] = 1; }),
              HasSubstr("golden/y/radius[0,0,0,1] is "));
  EXPECT_EQ(status_, kNonconforming);
  EXPECT_THAT(OutputFor([&](Record& r) { r.inputs[0].values.data[0] = 7; }), HasSubstr("inputs/q"));
  EXPECT_EQ(status_, kNonconforming);
}

TEST_F(VerifyTest, ReportsMissingOutputs) {
  EXPECT_THAT(OutputFor([](Record& r) { r.golden.pop_back(); }),
              HasSubstr("the record does not have the outputs of its signature"));
  EXPECT_EQ(status_, kNonconforming);
  EXPECT_THAT(OutputFor([](Record& r) { r.golden.clear(); }),
              HasSubstr("the record does not have the outputs of its signature"));
  EXPECT_EQ(status_, kNonconforming);
}

}  // namespace
}  // namespace sextant::tools
