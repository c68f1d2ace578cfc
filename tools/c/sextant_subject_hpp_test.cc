// Tests of sextant_subject.hpp with the questions of the host.
#include <gtest/gtest.h>

#include <stdexcept>

#include "tools/c/asked_question_test.h"
#include "tools/c/sextant_subject.hpp"

namespace sextant::tools {
namespace {

using cpp::Question;

constexpr char kAttributes[] =
    R"({"base":500000,"eps":0.5,"kind":"half","plus_one":true,"list":[1,1.5],"unset":null})";

using Answer = void (*)(const Question&);
Answer answer_of_the_test;
void AnswerOfTheTest(const Question& question) { answer_of_the_test(question); }

// The answer to a question with the input x = [1, 2].
HostReply Ask(AskedQuestion& question, Answer answer) {
  static const cpp::Subject<AnswerOfTheTest> subject("mine", "1", "native", {"op"});
  answer_of_the_test = answer;
  return question.Ask(subject.For(1)->answer);
}

// Status and message of the answer.
std::string ReplyTo(Answer answer, const std::string& attributes = "{}") {
  const HostReply reply = Ask(*MakeQuestion(attributes), answer);
  return reply.status + ": " + reply.message;
}

// Reads x and writes y.
void Copy(const Question& q) {
  const auto x = q.Input<float>("x");
  std::copy(x.begin(), x.end(), q.Output<float>("y").begin());
}

TEST(CppSubject, DescribesItself) {
  static const cpp::Subject<Copy> subject("mine", "1", "native", {"op", "other"});
  EXPECT_EQ(subject.For(2), nullptr);
  ASSERT_NE(subject.For(1), nullptr);
  EXPECT_EQ(subject.For(1)->struct_size, sizeof(SextantSubject));
  EXPECT_STREQ(subject.For(1)->recipe, "native");
  EXPECT_STREQ(subject.For(1)->operations[1], "other");
  EXPECT_EQ(subject.For(1)->operations[2], nullptr);
}

template <class T>
void ExpectType(DType dtype) {
  EXPECT_EQ(cpp::Element<T>::kType.code, RowOf(dtype).dlpack) << NameOf(dtype);
  EXPECT_EQ(cpp::Element<T>::kType.bits, RowOf(dtype).bits) << NameOf(dtype);
  EXPECT_EQ(sizeof(T), SizeOf(dtype)) << NameOf(dtype);
}
TEST(CppSubject, HasTheElementTypesOfTheLibrary) {
  ExpectType<double>(DType::kF64);
  ExpectType<float>(DType::kF32);
  ExpectType<cpp::F16>(DType::kF16);
  ExpectType<cpp::BF16>(DType::kBF16);
  ExpectType<cpp::F8E4M3FN>(DType::kF8E4M3FN);
  ExpectType<cpp::F8E5M2>(DType::kF8E5M2);
  ExpectType<cpp::F8E4M3FNUZ>(DType::kF8E4M3FNUZ);
  ExpectType<cpp::F8E5M2FNUZ>(DType::kF8E5M2FNUZ);
  ExpectType<cpp::F4E2M1>(DType::kF4E2M1);
  ExpectType<cpp::I8>(DType::kI8);
  ExpectType<cpp::I4>(DType::kI4);
  ExpectType<cpp::E8M0>(DType::kE8M0);
  ExpectType<int64_t>(DType::kI64);
}

void ReadAll(const Question& q) {
  const auto x = q.Input<float>("x");
  const bool right = q.Number("base") == 500000 && q.Integer("base") == 500000 &&
                     q.Number("eps") == 0.5 && q.Boolean("plus_one") && q.Text("kind") == "half" &&
                     q.List("list").size() == 2 && q.List("list")[1] == 1.5 &&
                     !q.OptionalNumber("unset") && !q.OptionalInteger("unset") &&
                     !q.OptionalBoolean("unset") && !q.OptionalText("unset") &&
                     !q.OptionalList("unset") && x.size() == 2 && x[1] == 2 && x.extent(0) == 2 &&
                     x.shape().size() == 1 && q.operation() == "op" && q.dtype() == "f32" &&
                     q.case_line() == "op D=2" && q.Has<float>("x") && !q.Has<double>("x");
  if (!right) throw std::runtime_error("wrong");
  q.OptionalOutput<cpp::BF16>("z")[0].bits = 0x3F80;
  Copy(q);
}

TEST(CppSubject, ReadsTypedValues) {
  EXPECT_EQ(ReplyTo(ReadAll, kAttributes), "ok: ");
  const auto question = MakeQuestion(kAttributes);
  EXPECT_EQ(Ask(*question, ReadAll).outputs.size(), 2u);
}

TEST(CppSubject, RequiresValues) {
  const auto all = [](const Question& q) {
    q.Require("base", 500000);
    q.Require("eps", 0.5);
    q.Require("kind", "half");
    q.Require("plus_one", true);
    q.RequireUnset("unset");
    q.List("list");
    Copy(q);
  };
  EXPECT_EQ(ReplyTo(all, kAttributes), "ok: ");
  const auto number = [](const Question& q) { q.Require("eps", 0.25); };
  EXPECT_EQ(ReplyTo(number, kAttributes), "unsupported: supports only eps=0.25");
  const auto text = [](const Question& q) { q.Require("kind", "interleaved"); };
  EXPECT_EQ(ReplyTo(text, kAttributes), "unsupported: supports only kind=interleaved");
  const auto boolean = [](const Question& q) { q.Require("plus_one", false); };
  EXPECT_EQ(ReplyTo(boolean, kAttributes), "unsupported: supports only plus_one=false");
  const auto unset = [](const Question& q) { q.RequireUnset("base"); };
  EXPECT_EQ(ReplyTo(unset, kAttributes), "unsupported: supports only base=(unset)");
  const auto set = [](const Question& q) { q.Require("unset", 0); };
  EXPECT_EQ(ReplyTo(set, kAttributes), "unsupported: supports only unset=0");
}

TEST(CppSubject, HasNothingForAnAbsentOptionalInput) {
  const auto biased = [](const Question& q) {
    if (q.OptionalInput<float>("bias") || !q.OptionalInput<float>("x")) throw 3;
    Copy(q);
  };
  EXPECT_EQ(ReplyTo(biased), "ok: ");
  const auto unknown = [](const Question& q) {
    if (!q.OptionalInput<float>("w")) Copy(q);
  };
  EXPECT_EQ(ReplyTo(unknown), "error: there is no input 'w'; there are: x");
}

TEST(CppSubject, ReportsErrors) {
  const auto type = [](const Question& q) { q.Input<double>("x"); };
  EXPECT_EQ(ReplyTo(type), "unsupported: does not support the element type of x");
  const auto missing = [](const Question& q) { q.Number("theta"); };
  EXPECT_EQ(ReplyTo(missing, R"({"base":1})"),
            "error: there is no attribute 'theta'; there are: base");
  const auto dtype = [](const Question& q) { q.Text("dtype"); };
  EXPECT_EQ(ReplyTo(dtype),
            "error: 'dtype' is a member of the question, not an attribute: question->dtype, in C++ "
            "question.dtype()");
  const auto unset = [](const Question& q) { q.Number("unset"); };
  EXPECT_EQ(
      ReplyTo(unset, R"({"unset":null})"),
      "error: attribute unset is not set in this case: read it with OptionalNumber, which then "
      "returns no value");
  const auto output = [](const Question& q) { q.Output<float>("w"); };
  EXPECT_EQ(ReplyTo(output), "error: there is no output 'w'; there are: y z");
  const auto thrown = [](const Question&) { throw std::runtime_error("no device"); };
  EXPECT_EQ(ReplyTo(thrown), "error: no device");
  const auto unsupported = [](const Question&) { throw cpp::Unsupported("no"); };
  EXPECT_EQ(ReplyTo(unsupported), "unsupported: no");
  const auto other = [](const Question&) { throw 3; };
  EXPECT_EQ(ReplyTo(other), "error: answer threw an exception that is not a std::exception");
}

}  // namespace
}  // namespace sextant::tools
