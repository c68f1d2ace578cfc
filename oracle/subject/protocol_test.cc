// Tests that the examples of PROTOCOL.md are correct.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <vector>

#include "oracle/subject/exec_client.h"
#include "oracle/subject/misbehaving_child_test.h"
#include "oracle/subject/reply_words.h"
#include "oracle/subject/safetensors_message.h"

namespace sextant::oracle {
namespace {

// The indented lines after a line that begins with `start`, without their four spaces.
std::string ExampleAfter(const std::string& start) {
  std::ifstream file("oracle/subject/PROTOCOL.md");
  std::string line, example;
  while (std::getline(file, line) && !line.starts_with(start)) {
  }
  while (std::getline(file, line) && (line.empty() || line.starts_with("    "))) {
    example += line.substr(std::min<size_t>(line.size(), 4)) + "\n";
  }
  EXPECT_FALSE(example.empty()) << start;
  return example;
}

// Decodes the lines "0010  64 61 ...  da..." of a hex dump.
std::string BytesOf(const std::string& dump) {
  std::istringstream lines(dump);
  std::string bytes;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    std::istringstream words(line.substr(6, 47));
    for (int value; words >> std::hex >> value;) bytes += static_cast<char>(value);
  }
  return bytes;
}

TEST(Protocol, ExampleOfTheFirstQuestionIsCorrect) {
  EXPECT_EQ(
      BytesOf(ExampleAfter("The first question of every")),
      EncodeSafetensors({{"sextant", kProtocolVersion}, {"id", "1"}, {"operation", "hello"}}, {}));
}

TEST(Protocol, ExampleOfAnAnswerIsCorrect) {
  const std::string answer = BytesOf(ExampleAfter("An answer with a tensor"));
  const size_t size = ParsePrefix(answer.substr(0, 8), HeaderLimit({}));
  const SafetensorsHeader header = ParseSafetensorsHeader(answer.substr(8, size));
  CheckOutputs(header, {{"y", DType::kBF16, {2}}});
  EXPECT_EQ(header.metadata, (Metadata{{"id", "2"}, {"status", "ok"}}));
  EXPECT_EQ(DecodeBody(header, answer.substr(8 + size))[0].values.data,
            (std::vector<double>{1, -2}));
}

TEST(SlowProtocol, ExampleProgramWorks) {
  const std::string path = FreshFile(".py");
  std::ofstream(path) << ExampleAfter("## A whole program");
  ExecClient client("exec /usr/bin/python3 -I -S '" + path + "'", kPatient);
  // The means of the squares, (1 + 49) / 2 and (25 + 25) / 2, are both 25.
  Question question{.operation = "rms_norm",
                    .case_line = "rms_norm",
                    .attributes_json = R"({"eps":0,"unit_offset":true})",
                    .inputs = {{"x", DType::kF32, Tensor<double>({2, 2}, {1, 7, 5, 5})},
                               {"weight", DType::kF32, Tensor<double>({2}, {0, 1})}},
                    .expected = {{"y", DType::kF32, {2, 2}}}};
  const Reply reply = client.Ask(question);
  EXPECT_EQ(reply.outputs.at(0).values.data, (std::vector<double>{1.0f / 5, 14.0f / 5, 1, 2}));
  question.operation = "rope";
  EXPECT_EQ(client.Ask(question).status, Reply::Status::kUnsupported);
  client.Close();
}

}  // namespace
}  // namespace sextant::oracle
