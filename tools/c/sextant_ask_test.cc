#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "reference/base/json.h"
#include "tools/c/sextant.h"

namespace sextant::tools {
namespace {

using testing::HasSubstr;

struct FreeAnswer {
  void operator()(SextantResult* result) const { sextant_free(result); }
};
using AskedResult = std::unique_ptr<SextantResult, FreeAnswer>;
using AskedFunction = int (*)(const SextantQuestion*, void*);

std::span<const float> Input(const SextantQuestion* q, const char* name) {
  const DLTensor* x = q->input(q, name);
  size_t count = 1;
  for (int axis = 0; axis < x->ndim; ++axis) count *= static_cast<size_t>(x->shape[axis]);
  return {static_cast<const float*>(x->data), count};
}
float* Output(const SextantQuestion* q, const char* name) {
  return static_cast<float*>(q->output(q, name)->data);
}

// relu(x)^2 in f32; `user`, if not null, counts the questions.
int AnswerRelu2(const SextantQuestion* q, void* user) {
  const auto x = Input(q, "x");
  float* y = Output(q, "y");
  for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] > 0 ? x[i] * x[i] : 0;
  if (user) ++*static_cast<int*>(user);
  return SEXTANT_ANSWER_OK;
}

// softmax in f32 without the largest element subtracted, of rows of an even number of elements.
int AnswerSoftmax(const SextantQuestion* q, void*) {
  const auto x = Input(q, "x");
  float* y = Output(q, "y");
  const auto width = static_cast<size_t>(q->input(q, "x")->shape[1]);
  for (size_t row = 0; row < x.size(); row += width) {
    double sum = 0;
    for (size_t i = 0; i < width; ++i) sum += std::exp(static_cast<double>(x[row + i]));
    for (size_t i = 0; i < width; ++i)
      y[row + i] = static_cast<float>(std::exp(static_cast<double>(x[row + i])) / sum);
  }
  return SEXTANT_ANSWER_OK;
}

SextantImplementation Mine(AskedFunction answer, void* user = nullptr, const char* name = "mine") {
  return {sizeof(SextantImplementation), name, nullptr, answer, user};
}

AskedResult Identified(const char* question, const SextantImplementation& mine,
                       const SextantOptions* options = nullptr) {
  SextantResult* result = nullptr;
  EXPECT_EQ(sextant_identify(question, &mine, nullptr, options, &result), SEXTANT_OK)
      << sextant_last_error();
  return AskedResult(result);
}

// The error of a call that ends with `status`.
std::string ErrorOf(int status, AskedFunction answer, const char* question = "activation F=8",
                    const SextantOptions* options = nullptr) {
  const SextantImplementation mine = Mine(answer);
  SextantResult* result = nullptr;
  EXPECT_EQ(sextant_identify(question, &mine, nullptr, options, &result), status);
  EXPECT_EQ(result, nullptr);
  return sextant_last_error();
}

std::span<const double> ArrayOfAnswer(const AskedResult& result, const char* name) {
  SextantArray array{};
  EXPECT_EQ(sextant_array(result.get(), name, &array), SEXTANT_OK) << sextant_last_error();
  return {array.data, array.count};
}

TEST(Identify, FindsWhatAFunctionComputes) {
  int asked = 0;
  const AskedResult result = Identified("activation F=8", Mine(AnswerRelu2, &asked));
  const Json found = Json::parse(sextant_json(result.get()));
  EXPECT_EQ(found["conforms"], true);
  EXPECT_THAT(found["case"].get<std::string>(), HasSubstr("kind=relu2"));
  EXPECT_EQ(found["subject"], "mine");
  EXPECT_GT(found["judged"], 10);
  EXPECT_EQ(static_cast<size_t>(asked), found["questions"].size());
  EXPECT_EQ(sextant_status(result.get()), 0);
}

TEST(Identify, ANumberOfTheCaseIsKnownAndAskedFor) {
  const auto reads_kind = [](const SextantQuestion* q, void*) {
    const char* kind = "";
    EXPECT_EQ(q->text(q, "kind", &kind), SEXTANT_SET);
    EXPECT_STREQ(kind, "relu");
    const Json json = Json::parse(q->json(q));
    EXPECT_EQ(json["attributes"]["kind"], "relu");
    EXPECT_EQ(json["inputs"]["x"]["dtype"], "F32");
    return AnswerRelu2(q, nullptr);
  };
  const AskedResult result = Identified("activation kind=relu F=8", Mine(reads_kind));
  const Json found = Json::parse(sextant_json(result.get()));
  EXPECT_EQ(found["conforms"], false);
  EXPECT_FALSE(found["details"].empty());
  EXPECT_EQ(sextant_status(result.get()), 1);
}

TEST(Identify, AnAttributeThatIsNotReadIsNotAnswered) {
  EXPECT_THAT(ErrorOf(SEXTANT_INVALID, AnswerRelu2, "activation kind=relu F=8"),
              HasSubstr("answer did not read: kind"));
}

TEST(Identify, BadFunctionsEndTheCallWithOneError) {
  const auto fails = [](const SextantQuestion* q, void*) {
    return q->fail(q, SEXTANT_ANSWER_ERROR, "out of luck");
  };
  const std::string error = ErrorOf(SEXTANT_NO_ANSWER, fails);
  EXPECT_THAT(error, testing::StartsWith("mine did not answer activation kind="));
  EXPECT_THAT(error, testing::EndsWith(": out of luck"));
  const auto returns_7 = [](const SextantQuestion*, void*) { return 7; };
  EXPECT_THAT(ErrorOf(SEXTANT_NO_ANSWER, returns_7), HasSubstr("answer returned 7"));
  const auto writes_outside = [](const SextantQuestion* q, void*) {
    AnswerRelu2(q, nullptr);
    Output(q, "y")[-1] = 0;
    return 0;
  };
  EXPECT_THAT(ErrorOf(SEXTANT_NO_ANSWER, writes_outside),
              HasSubstr("wrote outside of the memory of output y: 4 bytes before its start"));
  const auto changes_input = [](const SextantQuestion* q, void*) {
    AnswerRelu2(q, nullptr);
    const_cast<float*>(Input(q, "x").data())[0] += 1;
    return 0;
  };
  EXPECT_THAT(ErrorOf(SEXTANT_NO_ANSWER, changes_input), HasSubstr("changed the input x"));
  const auto asks_for_z = [](const SextantQuestion* q, void*) {
    q->input(q, "z");
    return AnswerRelu2(q, nullptr);
  };
  EXPECT_THAT(ErrorOf(SEXTANT_NO_ANSWER, asks_for_z), HasSubstr("there is no input 'z'"));
  const auto throws = [](const SextantQuestion*, void*) -> int { throw std::logic_error("why"); };
  EXPECT_THAT(ErrorOf(SEXTANT_NO_ANSWER, throws), HasSubstr("threw an exception: why"));
}

TEST(Identify, AnswersWithoutANumberEndTheCallWithOneError) {
  const auto writes_nothing = [](const SextantQuestion* q, void*) {
    Input(q, "x");
    Output(q, "y");
    return 0;
  };
  EXPECT_THAT(ErrorOf(SEXTANT_INVALID, writes_nothing),
              HasSubstr("every element of y is NaN in the answer to activation"));
  const auto declines = [](const SextantQuestion* q, void*) {
    return q->fail(q, SEXTANT_ANSWER_UNSUPPORTED, "only on Sundays");
  };
  EXPECT_THAT(ErrorOf(SEXTANT_INVALID, declines), HasSubstr("only on Sundays"));
}

TEST(Identify, AFunctionMayCallTheLibrary) {
  const auto draws = [](const SextantQuestion* q, void*) {
    SextantResult* none = nullptr;
    EXPECT_EQ(sextant_draw("rope", &none), SEXTANT_INVALID);
    SextantResult* drawn = nullptr;
    EXPECT_EQ(sextant_draw(q->case_line, &drawn), SEXTANT_OK);
    sextant_free(drawn);
    return AnswerRelu2(q, nullptr);
  };
  EXPECT_EQ(sextant_status(Identified("activation F=8", Mine(draws)).get()), 0);
}

TEST(Identify, AFunctionRunsInTheFloatingPointEnvironmentOfTheCaller) {
  const auto asks_mode = [](const SextantQuestion* q, void* user) {
    *static_cast<int*>(user) = std::fegetround();
    return AnswerRelu2(q, nullptr);
  };
  int mode = FE_TONEAREST;
  std::fesetround(FE_UPWARD);
  const SextantImplementation mine = Mine(asks_mode, &mode);
  SextantResult* made = nullptr;
  sextant_identify("activation F=8", &mine, nullptr, nullptr, &made);
  const AskedResult result(made);
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(mode, FE_UPWARD);
}

TEST(Identify, EndsWhereProgressAsksForIt) {
  SextantOptions options{};
  options.struct_size = sizeof options;
  options.progress = [](double, void*) { return 1; };
  EXPECT_EQ(ErrorOf(SEXTANT_CANCELLED, AnswerRelu2, "activation F=8", &options), "cancelled");
}

TEST(Identify, NamesWrongCalls) {
  EXPECT_THAT(ErrorOf(SEXTANT_INVALID, AnswerRelu2, "activatio"), HasSubstr("'activatio'"));
  EXPECT_THAT(ErrorOf(SEXTANT_INVALID, nullptr), HasSubstr("'mine' has no function"));
  EXPECT_EQ(sextant_identify("activation", nullptr, nullptr, nullptr, nullptr), SEXTANT_INVALID);
  EXPECT_STREQ(sextant_last_error(), "argument result is a null pointer");
  SextantResult* result = nullptr;
  EXPECT_EQ(sextant_identify("activation", nullptr, nullptr, nullptr, &result), SEXTANT_INVALID);
  EXPECT_STREQ(sextant_last_error(), "argument implementation is a null pointer");
  SextantImplementation mine = Mine(AnswerRelu2);
  mine.struct_size = 8;
  EXPECT_EQ(sextant_identify("activation", &mine, nullptr, nullptr, &result), SEXTANT_INVALID);
  EXPECT_THAT(sextant_last_error(), HasSubstr("struct_size of an implementation is 8"));
  const SextantIdentifyOptions part{sizeof part, nullptr, "vision_config", nullptr};
  mine = Mine(AnswerRelu2);
  EXPECT_EQ(sextant_identify("activation", &mine, &part, nullptr, &result), SEXTANT_INVALID);
  EXPECT_THAT(sextant_last_error(), HasSubstr("expected `against`"));
}

int ProfileStatus(const std::vector<SextantImplementation>& all, const char* cases,
                  SextantResult** result, const char* by = "row") {
  const SextantProfileOptions how{sizeof how, by, 0, 0, 0};
  return sextant_profile(cases, all.data(), all.size(), &how, nullptr, result);
}

TEST(Profile, GivesErrorsByGroupOfEachImplementation) {
  SextantResult* made = nullptr;
  ASSERT_EQ(ProfileStatus({Mine(AnswerSoftmax), Mine(nullptr, nullptr, "recipe:native")},
                          "softmax N=3 M=64 seed=7\nsoftmax N=3 M=64 seed=8\n", &made),
            SEXTANT_OK)
      << sextant_last_error();
  const AskedResult result(made);
  const Json json = Json::parse(sextant_json(made));
  EXPECT_EQ(json["cases"].size(), 2u);
  EXPECT_EQ(json["subjects"][0]["subject"], "mine");
  const auto key = ArrayOfAnswer(result, "mine/key"),
             elements = ArrayOfAnswer(result, "mine/elements"),
             largest = ArrayOfAnswer(result, "mine/ulps_largest"),
             native = ArrayOfAnswer(result, "recipe:native/ulps_largest");
  ASSERT_EQ(key.size(), 3u);
  for (size_t row = 0; row < 3; ++row) {
    EXPECT_EQ(key[row], static_cast<double>(row));
    EXPECT_EQ(elements[row], 128);  // of two cases
    EXPECT_EQ(largest[row], json["subjects"][0]["groups"][row]["errors"]["ulps"]["largest"]);
    EXPECT_LE(largest[row], 0.5000001);  // computed in double: rounded once
    EXPECT_GT(native[row], largest[row]);
  }
}

TEST(Profile, AWrongElementIsTheWorst) {
  const auto wrong = [](const SextantQuestion* q, void*) {
    AnswerSoftmax(q, nullptr);
    Output(q, "y")[70] *= 2;
    return 0;
  };
  SextantResult* made = nullptr;
  ASSERT_EQ(ProfileStatus({Mine(wrong)}, "softmax N=3 M=64", &made), SEXTANT_OK);
  const AskedResult result(made);
  const auto largest = ArrayOfAnswer(result, "mine/permitted_largest");
  EXPECT_LE(largest[0], 1);
  EXPECT_GT(largest[1], 1000);
  const Json worst = Json::parse(sextant_json(made))["subjects"][0]["worst"][0];
  EXPECT_EQ(worst["where"], "y[1,6]");
  EXPECT_EQ(worst["repeat"], "");  // no command can call the function
}

TEST(Profile, PrintsNothing) {
  testing::internal::CaptureStderr();
  SextantResult* made = nullptr;
  const int status = ProfileStatus({Mine(AnswerSoftmax)}, "softmax N=1 M=4 dtype=float32", &made);
  const AskedResult result(made);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "also not that float32 is an alias";
  EXPECT_EQ(status, SEXTANT_OK) << sextant_last_error();
}

TEST(Profile, NamesWrongCalls) {
  const auto error = [](const std::vector<SextantImplementation>& all, const char* cases,
                        const char* by = "row") {
    SextantResult* result = nullptr;
    EXPECT_NE(ProfileStatus(all, cases, &result, by), SEXTANT_OK);
    EXPECT_EQ(result, nullptr);
    return std::string(sextant_last_error());
  };
  EXPECT_EQ(error({}, "softmax"), "there is no implementation, expected at least one");
  EXPECT_EQ(error({Mine(AnswerSoftmax)}, " \n"), "there is no case line");
  EXPECT_EQ(error({Mine(AnswerSoftmax)}, nullptr), "argument cases is a null pointer");
  EXPECT_EQ(error({Mine(AnswerSoftmax), Mine(AnswerSoftmax)}, "softmax N=1 M=4"),
            "two implementations have the name 'mine'");
  EXPECT_THAT(error({Mine(AnswerSoftmax)}, "softmax N=1 M=4", "colour"), HasSubstr("colour"));
  const auto fails = [](const SextantQuestion*, void*) -> int { return SEXTANT_ANSWER_ERROR; };
  EXPECT_THAT(error({Mine(fails)}, "softmax N=1 M=4"), HasSubstr("mine did not answer softmax"));
}

}  // namespace
}  // namespace sextant::tools
