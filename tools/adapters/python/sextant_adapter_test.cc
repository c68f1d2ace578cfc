// Tests the Python adapter together with ExecClient, the two implementations of
// oracle/subject/PROTOCOL.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/subject/exec_client.h"

namespace sextant::tools {
namespace {

using oracle::ExecClient;
using oracle::Question;
using oracle::Reply;

constexpr char kExample[] = "exec /usr/bin/python3 -B tools/adapters/python/example.py";
constexpr double kTimeLimit = 60;  // seconds

// mean(1, 49) = 25, so the root mean square is 5.
Question RmsNormOfOneAndSeven(DType dtype, const std::string& attributes) {
  const DType wide = dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  return {.operation = "rms_norm",
          .case_line = "rms_norm eps=0 unit_offset=false M=2 N=1 dtype=" +
                       std::string(NameOf(dtype)) + " seed=1",
          .dtype = dtype,
          .attributes_json = attributes,
          .inputs = {{"x", dtype, Tensor<double>({1, 2}, {1, 7})},
                     {"weight", wide, Tensor<double>({2}, {1, 2})}},
          .expected = {{"y", dtype, {1, 2}}}};
}

TEST(SlowPythonAdapter, AnswersInEveryDType) {
  ExecClient client(kExample, kTimeLimit);
  EXPECT_EQ(client.hello().name, "example");
  EXPECT_EQ(client.hello().recipe, "native");
  EXPECT_EQ(client.hello().operations, std::vector<std::string>{"rms_norm"});
  for (const DType dtype : kFloatTypes) {
    const Reply reply =
        client.Ask(RmsNormOfOneAndSeven(dtype, R"({"eps":0,"unit_offset":false,"M":2,"N":1})"));
    ASSERT_EQ(reply.status, Reply::Status::kOk) << reply.message;
    EXPECT_EQ(reply.outputs[0].dtype, dtype);
    EXPECT_EQ(reply.outputs[0].values.data,
              (std::vector<double>{RoundTo(dtype, 1.0 / 5), RoundTo(dtype, 14.0 / 5)}))
        << NameOf(dtype);
  }
  client.Close();
}

TEST(SlowPythonAdapter, ReportsUnsupportedQuestionsAndErrors) {
  ExecClient client(kExample, kTimeLimit);
  const Reply unsupported = client.Ask(RmsNormOfOneAndSeven(DType::kF32, R"({"eps":0,"cap":1})"));
  EXPECT_EQ(unsupported.status, Reply::Status::kUnsupported);
  EXPECT_EQ(unsupported.message, "the function takes no 'cap'");
  const Reply error = client.Ask(RmsNormOfOneAndSeven(DType::kF32, R"({"eps":0})"));
  EXPECT_EQ(error.status, Reply::Status::kError);
  EXPECT_THAT(error.message, testing::HasSubstr("unit_offset"));
}

}  // namespace
}  // namespace sextant::tools
