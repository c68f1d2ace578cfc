#include "tools/api/subjects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "fixtures/store/temporary_folder_test.h"
#include "fixtures/store/writer.h"
#include "oracle/subject/exec_client.h"
#include "reference/case/draw.h"
#include "reference/prove/prove.h"
#include "tools/api/answer_of.h"

namespace sextant::tools {
namespace {

using oracle::Answer;
using testing::HasSubstr;
using Status = oracle::Answer::Status;

class FilesSubject : public testing::Test {
 protected:
  FilesSubject() : c_(Case::Parse("rms_norm N=1 M=2 dtype=bf16")), inputs_(DrawInputs(c_)) {
    record_ = {c_.ToString(), {}, {}, {{"y", DType::kF32, Tensor<double>({1, 2}, {1, 2})}}};
  }
  Answer AnswerOf(const Record& record) {
    const std::string path = folder_ / "a.h5";
    fixtures::WriteRecords(path, {record});
    return MakeSubject("files:" + path, 1).answer(c_, inputs_);
  }

  fixtures::TemporaryFolder folder_;
  const Case c_;
  const Tensors inputs_;
  Record record_;
};

TEST_F(FilesSubject, AnswersRecordedOutputsInTheDTypeOfTheCase) {
  const Answer answer = AnswerOf(record_);
  EXPECT_EQ(answer.status, Status::kAnswered);
  EXPECT_EQ(answer.outputs.at(0).dtype, DType::kBF16);
  EXPECT_EQ(answer.outputs.at(0).values.data, (std::vector<double>{1, 2}));
  record_.outputs.clear();
  EXPECT_EQ(AnswerOf(record_).status, Status::kUnsupported);
}

// The other cases of the file can still be answered.
TEST_F(FilesSubject, AValueOutsideTheDTypeFailsItsCaseOnly) {
  record_.outputs[0].values.data[1] = 1.00390625;
  const Answer answer = AnswerOf(record_);
  EXPECT_EQ(answer.status, Status::kFailed);
  EXPECT_EQ(answer.message, "y[0,1] is 1.00390625, expected a value of bf16");
}

TEST_F(FilesSubject, RefusesRecordedInputsThatDifferFromTheCase) {
  record_.inputs = inputs_;
  EXPECT_EQ(AnswerOf(record_).status, Status::kAnswered);
  record_.inputs[0].dtype = DType::kF64;  // the same numbers
  record_.inputs.push_back({"mine", DType::kF32, Tensor<double>({1}, {7})});
  EXPECT_EQ(AnswerOf(record_).status, Status::kAnswered);
  record_.inputs[0].values.data[1] = 3;
  Answer answer = AnswerOf(record_);
  EXPECT_EQ(answer.status, Status::kFailed);
  EXPECT_TRUE(answer.outputs.empty());
  EXPECT_THAT(answer.message,
              HasSubstr("the answer has other inputs: inputs/x[0,1] is 3, expected"));
  record_.inputs[0].values = Tensor<double>({2, 1}, inputs_[0].values.data);
  EXPECT_EQ(AnswerOf(record_).message,
            "the answer has other inputs: inputs/x has shape [2,1], expected [1,2]");
  record_.inputs = inputs_;
  record_.inputs[1].values.data[0] = 3;  // the first one is right
  EXPECT_THAT(AnswerOf(record_).message,
              HasSubstr("the answer has other inputs: inputs/weight[0] is 3, expected"));
}

TEST_F(FilesSubject, RefusesFilesThatAnswerACaseTwice) {
  const std::string path = folder_ / "a.h5";
  fixtures::WriteRecords(path, {record_, record_});
  EXPECT_THAT(
      [&] { MakeSubject("files:" + path, 1); },
      testing::ThrowsMessage<oracle::Failure>(HasSubstr("answers the same case twice: rms_norm")));
}

TEST_F(FilesSubject, SaysWhichFilesItReadsAndWhatJudgesOthers) {
  const std::string path = folder_ / "a.npz";
  std::ofstream(path) << "PK";
  const auto error = [](const std::string& file) -> std::string {
    try {
      MakeSubject("files:" + file, 1);
    } catch (const oracle::Failure& failure) {
      return failure.why;
    }
    return "";
  };
  EXPECT_THAT(error(path), HasSubstr("a.npz: is not an HDF5 file"));
  EXPECT_THAT(error(path),
              HasSubstr("; files: expects an .h5 file, of `sextant answer` or of `sextant inputs` "
                        "with the outputs added; `sextant judge` judges tensors of .npy, "
                        ".safetensors and .h5 files"));
  EXPECT_THAT(error(folder_ / "none.h5"), testing::Not(HasSubstr("sextant judge")));
}

TEST(WhyIrrelevant, DefectsAreRelevantToTheirOperationOnly) {
  const auto why = [](const char* subject, const char* line) {
    return WhyIrrelevant(MakeSubject(subject, 1), Case::Parse(line));
  };
  EXPECT_EQ(why("defect:rms_norm/mean_subtracted", "rms_norm N=1 M=2"), "");
  EXPECT_EQ(why("defect:rms_norm/mean_subtracted", "softmax N=1 M=2"),
            "the defect is in rms_norm: a case of softmax cannot show it");
  EXPECT_EQ(why("fast", "softmax N=1 M=2"), "");
}

TEST(MakeSubject, ErrorListsTheSubjects) {
  for (const char* text : {"slow", "recipe:", "files", "other:x"}) {
    EXPECT_THAT([&] { MakeSubject(text, 1); },
                testing::ThrowsMessage<Error>(testing::AllOf(
                    HasSubstr("is not a subject"), HasSubstr("; expected one of: fast | recipe:"))))
        << text;
  }
}

TEST(MakeSubject, SuggestsTheSubjectThatWasMeant) {
  for (const auto& [text, meant] : {std::pair("fsat", "fast"),
                                    {"defct:rope/x", "defect:rope/x"},
                                    {"lib", "lib:"},
                                    {"./mine.so", "lib:./mine.so"},
                                    {"a.h5", "files:a.h5"}}) {
    EXPECT_THAT([&] { MakeSubject(text, 1); },
                testing::ThrowsMessage<Error>(
                    HasSubstr(std::string(" is not a subject (did you mean '") + meant + "'?); ")));
  }
}

}  // namespace
}  // namespace sextant::tools
