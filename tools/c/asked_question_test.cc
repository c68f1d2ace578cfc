#include "tools/c/asked_question.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <stdexcept>

#include "reference/base/error.h"
#include "reference/base/json.h"
#include "tools/c/asked_question_test.h"

namespace sextant::tools {
namespace {

using testing::HasSubstr;

constexpr char kCAttributes[] =
    R"({"base":500000,"eps":0.5,"kind":"half","plus_one":true,"sections":[1,1.5],"unset":null,)"
    R"("scaling":{"type":"linear","factor":4.0,"other":null},"D":2})";

using CAnswer = int (*)(const SextantQuestion*);

// Status and message of the answer.
std::string ReplyToC(CAnswer answer, const std::string& attributes = "{}") {
  const HostReply reply = MakeQuestion(attributes)->Ask(answer);
  return reply.status + ": " + reply.message;
}

bool IsAligned(const DLTensor* tensor) {
  return reinterpret_cast<uintptr_t>(tensor->data) % 64 == 0;
}
float* Floats(const DLTensor* tensor) { return static_cast<float*>(tensor->data); }

// Reads x and writes y = -x.
int Negate(const SextantQuestion* q) {
  const float* x = Floats(q->input(q, "x"));
  float* y = Floats(q->output(q, "y"));
  for (int i = 0; i < 2; ++i) y[i] = -x[i];
  return SEXTANT_ANSWER_OK;
}

TEST(AskedQuestion, SendsTheOutputsThatWereWritten) {
  const auto question = MakeQuestion();
  const HostReply reply = question->Ask(Negate);
  EXPECT_EQ(reply.status, "ok");
  ASSERT_EQ(reply.outputs.size(), 1u);
  EXPECT_EQ(reply.outputs[0].first, "y");
  float y[2];
  std::memcpy(y, reply.outputs[0].second->bytes().data(), sizeof y);
  EXPECT_EQ(y[0], -1);
  EXPECT_EQ(y[1], -2);
}

TEST(AskedQuestion, HasNullForAnAbsentOptionalInput) {
  EXPECT_EQ(ReplyToC([](const SextantQuestion* q) {
              EXPECT_EQ(q->input(q, "bias"), nullptr);
              return Negate(q);
            }),
            "ok: ");
}

TEST(GuardedTensor, IsFilledWithNaNOrAnOddNumber) {
  const auto is_unwritten = [](DType dtype, double x) {
    if (HasNaN(dtype)) return std::isnan(x);
    return dtype == DType::kF4E2M1 ? std::signbit(x) && x == 0
                                   : x == (dtype == DType::kI64  ? -1
                                           : dtype == DType::kI8 ? -120
                                                                 : -8);
  };
  for (const DType dtype : kDTypes) {
    GuardedTensor tensor(dtype, {2});
    const TensorView view{tensor.bytes().data(), ElementTypeOf(dtype), {2}, {1}};
    for (const double x : ValuesOf(view).data)
      EXPECT_TRUE(is_unwritten(dtype, x)) << NameOf(dtype) << " " << x;
  }
}

TEST(AskedQuestion, SendsAnOptionalOutputOnlyIfItWasAnswered) {
  const auto question = MakeQuestion();
  const HostReply ignored = question->Ask([](const SextantQuestion* q) {
    q->output(q, "z");
    return Negate(q);
  });
  EXPECT_EQ(ignored.outputs.size(), 1u);
  const HostReply sent = question->Ask([](const SextantQuestion* q) {
    q->answered(q, "z");
    return Negate(q);
  });
  ASSERT_EQ(sent.outputs.size(), 2u);
  EXPECT_EQ(sent.outputs[1].first, "z");
  EXPECT_EQ(ReplyToC([](const SextantQuestion* q) { return q->answered(q, "z") + Negate(q); }),
            "error: output z is answered, but was not asked for");
}

TEST(AskedQuestion, DescribesTensors) {
  EXPECT_EQ(ReplyToC([](const SextantQuestion* q) {
              const DLTensor* x = q->input(q, "x");
              const DLTensor* y = q->output(q, "y");
              const DLTensor* z = q->output(q, "z");
              const bool right =
                  x->ndim == 1 && x->shape[0] == 2 && x->strides[0] == 1 &&
                  x->dtype.code == kDLFloat && x->dtype.bits == 32 &&
                  x->device.device_type == kDLCPU && x->byte_offset == 0 && IsAligned(x) &&
                  IsAligned(y) && IsAligned(z) && std::isnan(Floats(y)[0]) &&
                  std::isnan(Floats(y)[1]) && z->ndim == 0 && z->dtype.code == kDLBfloat &&
                  z->shape && q->output(q, "y") == y && std::strcmp(q->dtype, "f32") == 0 &&
                  std::strcmp(q->operation, "op") == 0 && std::strcmp(q->case_line, "op D=2") == 0;
              return q->fail(q, right ? SEXTANT_ANSWER_UNSUPPORTED : SEXTANT_ANSWER_ERROR, "seen");
            }),
            "unsupported: seen");
}

TEST(AskedQuestion, HasAttributesByNameAndType) {
  EXPECT_EQ(ReplyToC(
                [](const SextantQuestion* q) {
                  double number = 0;
                  int64_t integer = 0;
                  int boolean = 7;
                  const char *text = "", *scaling = "";
                  const double* list = nullptr;
                  size_t count = 0;
                  bool right = q->number(q, "base", &number) == SEXTANT_SET && number == 500000;
                  right &= q->number(q, "eps", &number) == SEXTANT_SET && number == 0.5;
                  right &= q->integer(q, "base", &integer) == SEXTANT_SET && integer == 500000;
                  right &= q->boolean(q, "plus_one", &boolean) == SEXTANT_SET && boolean == 1;
                  right &= q->text(q, "kind", &text) == SEXTANT_SET;
                  right &= q->text(q, "scaling", &scaling) == SEXTANT_SET;
                  right &= q->list(q, "sections", &list, &count) == SEXTANT_SET && count == 2;
                  right &= list[1] == 1.5 && std::strcmp(text, "half") == 0;
                  right &= std::strcmp(scaling, "linear") == 0;
                  right &= q->integer(q, "scaling.factor", &integer) == SEXTANT_SET && integer == 4;
                  right &= q->number(q, "unset", &number) == SEXTANT_UNSET && number == 0.5;
                  right &= q->number(q, "scaling.other", &number) == SEXTANT_UNSET;
                  right &= q->integer(q, "D", &integer) == SEXTANT_SET && integer == 2;
                  right &= q->type(q, "base") == SEXTANT_NUMBER;
                  right &= q->type(q, "kind") == SEXTANT_TEXT;
                  right &= q->type(q, "plus_one") == SEXTANT_BOOLEAN;
                  right &= q->type(q, "sections") == SEXTANT_LIST;
                  right &= q->type(q, "unset") == SEXTANT_NOT_SET;
                  right &= q->type(q, "none") == SEXTANT_NO_ATTRIBUTE;
                  return right ? Negate(q) : SEXTANT_ANSWER_ERROR;
                },
                kCAttributes),
            "ok: ");
}

TEST(AskedQuestion, IsUnsupportedIfSomethingWasNotRead) {
  EXPECT_EQ(ReplyToC(Negate, R"({"base":2,"unset":null,"M":3})"),
            "unsupported: answer did not read: base");
  EXPECT_EQ(ReplyToC([](const SextantQuestion* q) {
              q->output(q, "y");
              return int{SEXTANT_ANSWER_OK};
            }),
            "unsupported: answer did not read: x");
  EXPECT_EQ(ReplyToC(
                [](const SextantQuestion* q) {
                  const char* scaling = nullptr;
                  q->text(q, "scaling", &scaling);
                  return Negate(q);
                },
                R"({"scaling":{"type":"linear","factor":4,"other":null}})"),
            "unsupported: answer did not read: scaling.factor");
}

// The first mistake is reported, whatever `answer` returns.
TEST(AskedQuestion, NamesWrongCalls) {
  const auto reply = [](CAnswer answer) { return ReplyToC(answer, kCAttributes); };
  EXPECT_THAT(reply([](const SextantQuestion* q) {
                double theta = 0;
                EXPECT_EQ(q->number(q, "theta", &theta), SEXTANT_WRONG);
                q->output(q, "nothing");
                return int{SEXTANT_ANSWER_OK};
              }),
              HasSubstr("error: there is no attribute 'theta'; there are: D base eps kind"));
  EXPECT_EQ(reply([](const SextantQuestion* q) {
              int64_t eps = 0;
              return q->integer(q, "eps", &eps) + 1;
            }),
            "error: attribute eps is 0.5, asked for as an integer");
  EXPECT_EQ(reply([](const SextantQuestion* q) {
              double kind = 0;
              return q->number(q, "kind", &kind) + 1;
            }),
            R"(error: attribute kind is "half", asked for as a number)");
  EXPECT_EQ(reply([](const SextantQuestion* q) {
              EXPECT_EQ(q->output(q, "Y"), nullptr);
              return int{SEXTANT_ANSWER_OK};
            }),
            "error: there is no output 'Y'; there are: y z");
  EXPECT_EQ(reply([](const SextantQuestion* q) {
              EXPECT_EQ(q->input(q, "w"), nullptr);
              return int{SEXTANT_ANSWER_OK};
            }),
            "error: there is no input 'w'; there are: x");
  EXPECT_EQ(reply([](const SextantQuestion* q) { return q->number(q, nullptr, nullptr) + 1; }),
            "error: a function of the question was called with a null pointer");
}

TEST(AskedQuestion, ReportsStatusesAndExceptions) {
  EXPECT_EQ(ReplyToC([](const SextantQuestion* q) { return q->fail(q, 2, "no\n memory"); }),
            "error: no\n memory");
  EXPECT_EQ(ReplyToC([](const SextantQuestion*) { return 7; }),
            "error: answer returned 7, expected 0 (ok), 1 (unsupported) or 2 (error)");
  EXPECT_EQ(ReplyToC([](const SextantQuestion*) -> int { throw std::runtime_error("thrown"); }),
            "error: answer threw an exception: thrown");
  EXPECT_EQ(ReplyToC([](const SextantQuestion*) -> int { throw 3; }),
            "error: answer threw an exception that is not a std::exception");
  EXPECT_EQ(ReplyToC([](const SextantQuestion* q) {
              q->input(q, "x");
              return int{SEXTANT_ANSWER_OK};
            }),
            "error: answer did not ask for the output y");
}

TEST(AskedQuestion, NoticesWritesOutsideOfItsTensors) {
  EXPECT_EQ(ReplyToC([](const SextantQuestion* q) {
              Floats(q->output(q, "y"))[2] = 0;
              return Negate(q);
            }),
            "error: answer wrote outside of the memory of output y: 4 bytes after its end");
  EXPECT_EQ(ReplyToC([](const SextantQuestion* q) -> int {
              static_cast<char*>(q->output(q, "z")->data)[-1] = 0;
              throw 1;
            }),
            "error: answer wrote outside of the memory of output z: 1 byte before its start");
  EXPECT_EQ(ReplyToC([](const SextantQuestion* q) {
              Floats(q->input(q, "x"))[-1] = Floats(q->input(q, "x"))[5] = 0;
              return Negate(q);
            }),
            "error: answer wrote outside of the memory of input x: 4 bytes before its start and 4 "
            "bytes after its end");
}

// Where x and y are, and what y held before.
struct Seen {
  const void* x = nullptr;
  const void* y = nullptr;
  unsigned char byte = 0;
};

Seen SeenBy(AskedQuestion& question) {
  Seen seen;
  question.Ask([&seen](const SextantQuestion* q) {
    const void* y = q->output(q, "y")->data;
    seen = {q->input(q, "x")->data, y, *static_cast<const unsigned char*>(y)};
    return Negate(q);
  });
  return seen;
}

TEST(AskedQuestion, HasTheMemoryOfTheQuestionBeforeOrOther) {
  const auto first = MakeQuestion("{}", {{"memory", R"({"same":true,"fill":7})"}});
  const Seen before = SeenBy(*first);
  EXPECT_EQ(before.byte, 7);
  const auto other = MakeQuestion("{}", {{"memory", R"({"same":false,"fill":255})"}}, first.get());
  const Seen elsewhere = SeenBy(*other);
  EXPECT_NE(elsewhere.x, before.x);
  EXPECT_NE(elsewhere.y, before.y);
  EXPECT_EQ(elsewhere.byte, 255);
  const auto again = MakeQuestion("{}", {{"memory", R"({"same":true,"fill":9})"}}, first.get());
  const Seen there = SeenBy(*again);
  EXPECT_EQ(there.x, before.x);
  EXPECT_EQ(there.y, before.y);
  EXPECT_EQ(there.byte, 9);  // not the answer that is left from the first one
}

TEST(AskedQuestion, NoticesWhatIsWrittenAfterTheAnswer) {
  const auto question = MakeQuestion("{}", {{"memory", R"({"same":true,"fill":7})"}});
  EXPECT_EQ(question->WrittenLate(), "");  // it was not asked
  const Seen seen = SeenBy(*question);
  EXPECT_EQ(question->WrittenLate(), "");
  static_cast<float*>(const_cast<void*>(seen.y))[1] = 5;
  EXPECT_EQ(question->WrittenLate(), "answer changed the output y, after it had returned");
}

TEST(AskedQuestion, RefusesMessagesThatAreNoQuestion) {
  const auto read = [](std::span<char>) {};
  EXPECT_THROW(AskedQuestion({}, read), Error);
  for (const char* attributes : {"[1", R"({"scaling":{}})", R"({"sections":["a"]})"})
    EXPECT_THROW(MakeQuestion(attributes), Error);
  EXPECT_THROW(MakeQuestion("{}", {{"memory", R"({"same":1})"}}), Error);
}

TEST(AskedQuestion, SaysAllInJson) {
  const auto reads = [](const SextantQuestion* q) {
    const Json json = Json::parse(q->json(q));
    EXPECT_EQ(json["operation"], "op");
    EXPECT_EQ(json["case"], "op D=2");
    EXPECT_EQ(json["dtype"], "f32");
    EXPECT_EQ(json["attributes"], Json::parse(kCAttributes));
    EXPECT_EQ(json["inputs"], (Json{{"x", {{"dtype", "F32"}, {"shape", {2}}}}}));
    EXPECT_EQ(json["absent"], Json{"bias"});
    EXPECT_EQ(json["outputs"]["y"], (Json{{"dtype", "F32"}, {"shape", {2}}}));
    EXPECT_EQ(json["outputs"]["z"]["optional"], true);
    return Negate(q);  // reads no attribute by its name
  };
  EXPECT_EQ(ReplyToC(reads, kCAttributes), "ok: ");
}

}  // namespace
}  // namespace sextant::tools
