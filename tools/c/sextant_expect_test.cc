// sextant_expect: known results, for other languages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "fixtures/store/temporary_folder_test.h"
#include "reference/base/json.h"
#include "tools/c/sextant.hpp"

namespace sextant::cpp {
namespace {

using testing::HasSubstr;

class Expect : public testing::Test {
 protected:
  Expect() {
    fixtures::WriteBytes(
        path_,
        "[[expect]]\ncases = \"softmax M=2 N=1 dtype=f32*\"\nM = [1]\nreason = \"issue 7\"\n");
  }
  // The JSON of sextant_expect, or its error as a text.
  Json Of(const char* line, const char* outcome, const SextantResult* verdict = nullptr) const {
    SextantResult* result = nullptr;
    if (sextant_expect(path_.c_str(), line, outcome, verdict, &result) != SEXTANT_OK)
      return sextant_last_error();
    return Json::parse(Result(result).json());
  }
  fixtures::TemporaryFolder folder_;
  std::string path_ = folder_ / "known.toml";
};

constexpr char kSoftmax[] = "softmax N=1 M=2";

TEST_F(Expect, ReadsTheEntries) {
  const Json json = Of(nullptr, nullptr);
  EXPECT_EQ(json["entries"][0]["where"], path_ + ":1");
  EXPECT_EQ(json["entries"][0]["reason"], "issue 7");
  EXPECT_TRUE(json["entry"].is_null());
}

TEST_F(Expect, ComparesOutcomes) {
  EXPECT_TRUE(Of("rms_norm N=1 M=2", "fails")["entry"].is_null());
  EXPECT_EQ(Of(kSoftmax, "could_not_run")["entry"], 0);  // the pattern is of the complete line
  EXPECT_EQ(Of(kSoftmax, "could_not_run")["contradiction"],
            "it is expected to be 'fails', but is 'could_not_run'");
}

TEST_F(Expect, ComparesTheElementsOfAVerdict) {
  const std::vector<float> x = {0, 0}, right = {0.5, 0.5};
  const auto judged = [&](std::vector<float> y) {
    return Judge("softmax", {{"x", x.data(), {1, 2}}, {"y", y.data(), {1, 2}}});
  };
  const Result last = judged({0.5, 0.75}), first = judged({0.25, 0.5}), none = judged(right);
  EXPECT_EQ(Of(kSoftmax, "fails", last.c())["contradiction"], "");
  EXPECT_THAT(Of(kSoftmax, "fails", first.c())["contradiction"].get<std::string>(),
              HasSubstr("y fails at M=0, expected only M=1.."));
  EXPECT_THAT(Of("softmax N=2 M=2", "fails", last.c()).get<std::string>(),
              HasSubstr("the verdict is on 'softmax M=2 N=1 dtype=f32', expected one on"));
  EXPECT_THAT(Of(kSoftmax, "fails", Draw(kSoftmax).c()).get<std::string>(),
              HasSubstr("the verdict is not a result of sextant_judge"));
  EXPECT_THAT(Of(kSoftmax, "fails", none.c()).get<std::string>(),
              HasSubstr("'fails', which is not that of the verdict"));
}

TEST_F(Expect, RefusesWrongCalls) {
  EXPECT_THAT(Of(kSoftmax, "wrong").get<std::string>(), HasSubstr("could_not_run"));
  EXPECT_EQ(Of(kSoftmax, nullptr), "argument outcome is a null pointer");
  EXPECT_THAT(Of("sofmax", "fails").get<std::string>(), HasSubstr("sofmax"));
  SextantResult* result = nullptr;
  EXPECT_EQ(sextant_expect(nullptr, nullptr, nullptr, nullptr, &result), SEXTANT_INVALID);
  EXPECT_EQ(sextant_expect("no.toml", nullptr, nullptr, nullptr, &result), SEXTANT_INVALID);
  EXPECT_EQ(sextant_expect(path_.c_str(), nullptr, nullptr, nullptr, nullptr), SEXTANT_INVALID);
}

}  // namespace
}  // namespace sextant::cpp
