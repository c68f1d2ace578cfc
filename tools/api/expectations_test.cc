#include "tools/api/expectations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "reference/base/error_test.h"
#include "reference/case/draw.h"
#include "tools/api/judgement.h"

namespace sextant::tools {
namespace {

using oracle::Verdict;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::chrono::sys_days kToday = std::chrono::year(2027) / 3 / 15;

Expectations Parsed(const std::string& text) {
  return Expectations::Parse(text, "known.toml", kToday);
}

// An entry with these lines besides `cases` and `reason`.
Expectations Entry(const std::string& lines, const std::string& cases = "rope *") {
  return Parsed("[[expect]]\ncases = \"" + cases + "\"\nreason = \"because\"\n" + lines);
}

std::string ErrorOf(const std::string& lines) {
  return MessageOf([&] { Entry(lines); });
}

const std::string kRope = "rope pairing=half H=1 S=3 D=4 @position=0,8191,32768";

// The verdict on the correct answer of kRope after `change`.
Verdict Judged(const std::function<void(Tensor<double>&)>& change) {
  const Case c = Case::Parse(kRope);
  const Tensors inputs = DrawInputs(c);
  const Recipe recipe = ParseRecipe("native", c.dtype());
  Tensors outputs = EvaluateByRecipe({c, inputs, recipe});
  change(outputs[0].values);
  const oracle::Judge judge(c, inputs, recipe);
  return JudgeOutputs(judge, c, inputs, recipe, outputs);
}

Verdict FailsAtLastPosition() {
  return Judged([](Tensor<double>& y) { y(0, 0, 2, 1) = y(0, 0, 2, 3) = 100; });
}

std::string Contradicted(const std::string& lines, const Verdict& verdict, bool strict = false) {
  const Expectations expectations = Entry(lines);
  return Contradiction(*expectations.For(verdict.case_line), verdict, strict);
}

TEST(Expectations, ReadsEveryKey) {
  const Expectations read = Entry(
      "outcome = \"fails\"\noutputs = [\"y\"]\nposition = [32768]\npair = [1, 1]\n"
      "cause = \"angle=bf16\"\nlink = \"https://example.org\"\nuntil = 2027-03-15\n");
  ASSERT_EQ(read.entries().size(), 1u);
  const Expectation& entry = read.entries()[0];
  EXPECT_EQ(entry.where, "known.toml:1");
  EXPECT_EQ(entry.cases, "rope *");
  EXPECT_EQ(entry.outcome, Outcome::kFails);
  EXPECT_THAT(entry.outputs, ElementsAre("y"));
  ASSERT_EQ(entry.ranges.size(), 2u);
  EXPECT_EQ(entry.ranges[0].axis, "pair");
  EXPECT_EQ(entry.ranges[0].last, 1);
  EXPECT_EQ(entry.ranges[1].first, 32768);
  EXPECT_EQ(entry.ranges[1].last, std::numeric_limits<int64_t>::max());
  EXPECT_EQ(entry.cause, "angle=bf16");
  EXPECT_EQ(entry.reason, "because");
  EXPECT_EQ(entry.link, "https://example.org");
  EXPECT_FALSE(entry.expired);
}

TEST(Expectations, ErrorsNameTheLineAndWhatWasExpected) {
  EXPECT_EQ(ErrorOf("outcome = \"crashes\"\n"),
            "known.toml:4: outcome 'crashes' is not one of: conforms unlikely fails unverified "
            "unsupported could_not_run");
  EXPECT_THAT(ErrorOf("posiiton = [3]\n"), HasSubstr("known.toml:4: there is no key 'posiiton'; "
                                                     "there are: cases outcome may outputs"));
  EXPECT_EQ(ErrorOf("may = \"crash\""), "known.toml:4: 'may' must be \"fail\"");
  EXPECT_EQ(ErrorOf("may = \"fail\"\noutcome = \"fails\""),
            "known.toml:1: the entry has 'outcome' and 'may', expected one of them");
  EXPECT_THAT(ErrorOf("posiiton = [3]\n"), HasSubstr(" position"));
  const std::string range = "must be one or two integers: [a] is from a on, [a, b] from a to b";
  for (const char* wrong : {"[]", "[1, 2, 3]", "[5, 4]", "[1.5]", "3", "[\"1\"]", "[[1]]"})
    EXPECT_EQ(ErrorOf(std::string("S = ") + wrong), "known.toml:4: 'S' " + range);
  for (const char* wrong : {"\"2027-02-30\"", "\"soon\"", "7", "\"2027-1-1\"", "\"2027-01-011\""})
    EXPECT_THAT(ErrorOf(std::string("until = ") + wrong), HasSubstr("4: 'until' must be a date"));
  EXPECT_THAT(ErrorOf("outputs = \"y\""), HasSubstr("4: 'outputs' must be a list of names"));
  EXPECT_THAT(ErrorOf("cause = \"\""), HasSubstr("4: 'cause' must be a text that is not empty"));
  EXPECT_THAT(ErrorOf("outcome = \"conforms\"\nS = [1]"), HasSubstr("needs outcome = \"fails\""));
  EXPECT_THAT(ErrorOf("outcome = \"unsupported\"\nS = [1]"),
              HasSubstr("needs outcome = \"fails\""));
  EXPECT_THAT(ErrorOf("outcome = \"unverified\"\ncause = \"x\""),
              HasSubstr("'cause' needs outcome"));
  EXPECT_THAT(MessageOf([] { Parsed("[[expect]]\ncases = \"*\"\n"); }),
              HasSubstr("known.toml:1: the entry has no 'reason'"));
  EXPECT_EQ(MessageOf([] { Entry("", "attention_sink *"); }),
            "known.toml:1: 'attention_sink' is called 'attention with=sink' now");
  EXPECT_THAT(MessageOf([] { Parsed("[[expected]]\n"); }), HasSubstr("there is no key 'expected'"));
  EXPECT_THAT(MessageOf([] { Parsed("\n[[expect]\n"); }),
              HasSubstr("known.toml:2: this is not TOML"));
  EXPECT_THAT(MessageOf([] { Parsed("expect = 3"); }), HasSubstr("must be a list of tables"));
  for (const char* wrong : {"[=]", "[[[", "[ %]", "[[\xc3\xa9]]", "[", "[[a", "a = [[[[[[", "[]",
                            "[\n", "[[ \r\nexpect]]", "[\rexpect]"})
    EXPECT_THAT(MessageOf([&] { Parsed(std::string("\n") + wrong); }),
                HasSubstr("known.toml:2: this is not TOML: "));
  EXPECT_EQ(MessageOf([] { Parsed("a = [1, }]"); }), "known.toml: this is not TOML");
  for (const std::string& wrong : {std::string(3000000, '['), std::string("\xEF\xBB\xBF[=]")})
    EXPECT_THAT(MessageOf([&] { Parsed(wrong); }), HasSubstr("known.toml:1: "));
  EXPECT_THAT(Parsed("").entries(), IsEmpty());
  EXPECT_THAT(Parsed("expect = []").entries(), IsEmpty());
}

TEST(Expectations, TheFirstEntryThatMatchesTheWholeLineDecides) {
  const std::string rest = "\"\nreason = \"because\"\n";
  const Expectations read =
      Parsed("[[expect]]\ncases = \"rope *seed=1" + rest + "[[expect]]\ncases = \"rope *" + rest +
             "[[expect]]\ncases = \"rope *seed=12" + rest);
  EXPECT_EQ(read.For("rope S=2 seed=1"), &read.entries()[0]);
  EXPECT_EQ(read.For("rope S=2 seed=12"), &read.entries()[1]);
  EXPECT_EQ(read.For("a rope S=2 seed=1"), nullptr);
  EXPECT_THAT(
      read.StaleEntries({"rope S=2 seed=1", "rope S=2 seed=12"}),
      ElementsAre(
          "known.toml:7: earlier entries decide every case that it matches, expected special "
          "entries before general ones: cases = \"rope *seed=12\""));
  EXPECT_THAT(
      read.StaleEntries({"rope S=2 seed=12"}),
      ElementsAre(HasSubstr("known.toml:1: it matches no case"), HasSubstr("known.toml:7")));
}

TEST(Expectations, WhatMayFailDecidesOnlyFailures) {
  const Expectations read = Entry("may = \"fail\"");
  EXPECT_NE(read.For("rope S=2", Outcome::kFails), nullptr);
  for (const Outcome outcome : {Outcome::kConforms, Outcome::kUnlikely, Outcome::kUnsupported,
                                Outcome::kUnverified, Outcome::kCouldNotRun})
    EXPECT_EQ(read.For("rope S=2", outcome), nullptr);
  EXPECT_NE(Entry("").For("rope S=2", Outcome::kConforms), nullptr);
}

// Brackets and backslashes have no meaning in a pattern.
TEST(Expectations, PatternsMatchListsLiterally) {
  const Expectations read = Entry("", "rope f=[1,2] ?=3");
  EXPECT_NE(read.For("rope f=[1,2] S=3"), nullptr);
  EXPECT_EQ(read.For("rope f=1 S=3"), nullptr);
}

TEST(Expectations, AnEntryExpiresAfterItsLastDay) {
  for (const char* date : {"2027-03-14", "\"2027-03-14\""}) {
    const Expectations expired = Entry(std::string("until = ") + date);
    EXPECT_EQ(expired.For("rope S=2"), nullptr);
    EXPECT_THAT(expired.StaleEntries({"rope S=2"}),
                ElementsAre("known.toml:1: expired after 2027-03-14: cases = \"rope *\""));
  }
  EXPECT_NE(Entry("until = 2027-03-15").For("rope S=2"), nullptr);
}

TEST(Expectations, NamesOfOutputsAndAxesMustExist) {
  const Case c = Case::Parse(kRope);
  const auto error = [&c](const std::string& lines) {
    const Expectations read = Entry(lines);
    return MessageOf([&] { read.RequireNames(c); });
  };
  EXPECT_EQ(error("outputs = [\"z\"]"), "known.toml:1: rope has no output 'z'; it has: y");
  EXPECT_EQ(error("T = [1]"),
            "known.toml:1: rope has no output with the axis 'T'; axes are: B, D, "
            "H, S, pair, position");
  EXPECT_NO_THROW(Entry("T = [1]", "attention *").RequireNames(c));
}

TEST(Contradiction, ComparesOutcomes) {
  const Verdict right = Judged([](Tensor<double>&) {});
  EXPECT_EQ(Contradicted("", right), "it is expected to be 'fails', but is 'conforms'");
  EXPECT_EQ(Contradicted("", FailsAtLastPosition()), "");
  EXPECT_EQ(Contradicted("outcome = \"could_not_run\"", FailsAtLastPosition()),
            "it is expected to be 'could_not_run', but is 'fails'");
  Verdict crash = right;
  crash.status = Verdict::Status::kCouldNotRun;
  crash.grade.reset();
  crash.tensors.clear();
  EXPECT_EQ(Contradicted("outcome = \"could_not_run\"", crash), "");
  EXPECT_EQ(Contradicted("", crash), "it is expected to be 'fails', but is 'could_not_run'");
}

// Without --strict an unlikely case conforms, too.
TEST(Contradiction, ACaseThatIsExpectedToConformMustConform) {
  const std::string conforms = "outcome = \"conforms\"";
  Verdict right = Judged([](Tensor<double>&) {});
  EXPECT_EQ(Contradicted(conforms, right), "");
  EXPECT_EQ(Contradicted(conforms, FailsAtLastPosition()),
            "it is expected to be 'conforms', but is 'fails'");
  right.grade = right.tensors[0].grade = oracle::Grade::kUnlikely;
  EXPECT_EQ(Contradicted(conforms, right), "");
  EXPECT_EQ(Contradicted(conforms, right, true),
            "it is expected to be 'conforms', but is 'unlikely'");
  right.status = Verdict::Status::kUnverified;
  EXPECT_EQ(Contradicted(conforms, right), "it is expected to be 'conforms', but is 'unverified'");
}

TEST(Contradiction, FailingElementsMustLieInTheRanges) {
  const Verdict verdict = FailsAtLastPosition();
  EXPECT_EQ(Contradicted("position = [32768]", verdict), "");
  EXPECT_EQ(
      Contradicted("position = [8191, 32768]\npair = [1, 1]\nS = [2, 2]\nD = [1, 3]", verdict), "");
  EXPECT_EQ(Contradicted("position = [32769]", verdict),
            "y fails at position=32768, expected only position=32769..");
  EXPECT_EQ(Contradicted("D = [1, 2]", verdict), "y fails at D=3, expected only D=1..2");
  EXPECT_EQ(Contradicted("pair = [0, 0]", verdict), "y fails at pair=1, expected only pair=0..0");
}

TEST(Contradiction, OnlyTheListedOutputsMayFail) {
  Verdict verdict = FailsAtLastPosition();
  EXPECT_EQ(Contradicted("outputs = [\"y\"]", verdict), "");
  verdict.tensors[0].name = "lse";
  EXPECT_EQ(Contradicted("outputs = [\"y\"]", verdict),
            "lse is 'fails', which is expected only of y");
  verdict.trace = verdict.tensors;
  verdict.tensors[0].name = "y";
  EXPECT_EQ(Contradicted("outputs = [\"y\"]", verdict),
            "lse is 'fails', which is expected only of y");
}

TEST(Contradiction, TheCauseMustBeAmongTheLikelyCauses) {
  Verdict verdict = FailsAtLastPosition();
  verdict.causes.clear();
  EXPECT_EQ(Contradicted("cause = \"b\"", verdict),
            "the expected cause is b, but no cause was found");
  verdict.causes = {{"a", ""}, {"b", ""}};
  EXPECT_EQ(Contradicted("cause = \"b\"", verdict), "");
  EXPECT_EQ(Contradicted("cause = \"c\"", verdict), "the expected cause is c, but likely is: a, b");
}

// An unlikely case is no failure without --strict, but it can be expected in both.
TEST(Contradiction, UnlikelyIsAnOutcomeOfItsOwn) {
  Verdict verdict = Judged([](Tensor<double>&) {});
  verdict.grade = verdict.tensors[0].grade = oracle::Grade::kUnlikely;
  for (const bool strict : {false, true}) {
    EXPECT_EQ(Contradicted("outcome = \"unlikely\"", verdict, strict), "");
    EXPECT_EQ(Contradicted("", verdict, strict), "it is expected to be 'fails', but is 'unlikely'");
  }
  verdict.status = Verdict::Status::kUnverified;
  EXPECT_EQ(OutcomeOf(verdict, false), Outcome::kUnverified);
  EXPECT_EQ(OutcomeOf(verdict, true), Outcome::kUnlikely);
}

// Ranges are those of the axes on which only some elements fail; position and pair replace S and D.
TEST(ExpectationsOf, WritesWhatItReads) {
  Verdict verdict = FailsAtLastPosition();
  verdict.causes = {{"angle=bf16", "why"}};
  const Verdict right = Judged([](Tensor<double>&) {});
  const Expectations read = Parsed(ExpectationsOf({right, verdict, verdict}, false));
  ASSERT_EQ(read.entries().size(), 1u);
  const Expectation& entry = read.entries()[0];
  EXPECT_EQ(entry.cases, verdict.case_line);
  EXPECT_EQ(entry.reason, kNoReasonYet);
  EXPECT_EQ(entry.cause, "angle=bf16");
  EXPECT_THAT(entry.outputs, ElementsAre("y"));
  std::vector<std::string> ranges;
  for (const auto& [axis, first, last] : entry.ranges)
    ranges.push_back(axis + " " + std::to_string(first) + " " + std::to_string(last));
  EXPECT_THAT(ranges, ElementsAre("pair 1 1", "position 32768 32768"));
  EXPECT_EQ(Contradiction(entry, verdict, false), "");
  EXPECT_THAT(Parsed(ExpectationsOf({right}, false)).entries(), IsEmpty());
}

Verdict FailsBy(const std::string& line, const std::vector<std::string>& causes) {
  Verdict verdict;
  verdict.case_line = line;
  verdict.status = Verdict::Status::kFails;
  for (const std::string& cause : causes) verdict.causes.push_back({cause, "why"});
  return verdict;
}

// The patterns of the entries, after those of single cases; each failure must be as expected.
std::vector<std::string> GeneralEntriesFor(const std::vector<Verdict>& failing) {
  const Expectations read = Parsed(ExpectationsOf(failing, false));
  std::vector<std::string> general;
  for (const Verdict& verdict : failing) {
    const Expectation* entry = read.For(verdict.case_line, Outcome::kFails);
    if (!entry) return {"no entry: " + verdict.case_line};
    EXPECT_EQ(Contradiction(*entry, verdict, false), "") << verdict.case_line;
  }
  for (const Expectation& entry : read.entries()) {
    if (entry.may) general.push_back(entry.cases + " " + entry.cause);
  }
  return general;
}

TEST(ExpectationsOf, WritesOneEntryForACommonCause) {
  const Verdict a = FailsBy("rope S=1 dtype=f32 seed=1", {"p", "q"}),
                b = FailsBy("rope S=2 dtype=f32 seed=1", {"q"}),
                c = FailsBy("rope S=1 dtype=bf16 seed=1", {"r"}),
                d = FailsBy("rope S=2 dtype=bf16 seed=1", {"r", "p"}),
                e = FailsBy("rope S=3 dtype=bf16 seed=1", {"q"}),
                other = FailsBy("softmax M=1 dtype=f32 seed=1", {"q"}),
                unknown = FailsBy("rope S=4 dtype=f32 seed=1", {});
  EXPECT_THAT(GeneralEntriesFor({a, b}), ElementsAre("rope * q"));
  EXPECT_THAT(GeneralEntriesFor({a, c, other}), IsEmpty());  // nothing in common
  EXPECT_THAT(GeneralEntriesFor({a, b, c, d}), ElementsAre("rope * dtype=bf16 * r", "rope * q"));
  EXPECT_THAT(GeneralEntriesFor({a, b, unknown, e, other}), ElementsAre("rope * q"));
  EXPECT_THAT(GeneralEntriesFor({a, b, unknown, c, d}),
              ElementsAre("rope * dtype=bf16 * r", "rope * q"));
  EXPECT_EQ(Parsed(ExpectationsOf({a, b, unknown, c, d}, false)).entries().size(), 3u);
}

}  // namespace
}  // namespace sextant::tools
