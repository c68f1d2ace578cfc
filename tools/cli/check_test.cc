// Tests of `sextant check`: the status of each case, and the exit status.
#include "tools/cli/check_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "fixtures/store/writer.h"
#include "reference/case/draw.h"
#include "reference/prove/prove.h"

namespace sextant::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Record GoldenOf(const std::string& line) {
  const Case c = Case::Parse(line);
  const Tensors inputs = DrawInputs(c);
  return {c.ToString(), inputs, Prove({c, inputs, ParseRecipe("native", c.dtype())}), {}};
}

Record AnswerOf(const std::string& line) {
  const Case c = Case::Parse(line);
  return {
      c.ToString(), {}, {}, EvaluateByRecipe({c, DrawInputs(c), ParseRecipe("native", c.dtype())})};
}

TEST_F(CheckTest, ReportsConformingAndFailingSubjects) {
  EXPECT_EQ(Run({"rms_norm N=2 M=4", "--subject", "recipe:native"}), kVerified);
  EXPECT_THAT(Statuses(), ElementsAre("conforms"));
  EXPECT_THAT(stdout_, HasSubstr("recipe:native by recipe native: 1 case: 1 "));
  EXPECT_EQ(Run({"rms_norm N=2 M=4", "--subject", "defect:rms_norm/mean_subtracted"}),
            kNonconforming);
  EXPECT_THAT(Statuses(), ElementsAre("fails"));
  EXPECT_THAT(report_["cases"][0]["causes"][0]["name"].get<std::string>(),
              HasSubstr("mean_subtracted"));
}

TEST_F(CheckTest, TheRecipeOptionReplacesTheRecipeOfTheSubject) {
  const std::vector<std::string> words = {"rms_norm N=2 M=64 dtype=bf16", "--subject",
                                          "recipe:all_native"};
  EXPECT_EQ(Run(words), kVerified);
  EXPECT_EQ(Run({words[0], words[1], words[2], "--recipe", "exact"}), kNonconforming);
  EXPECT_EQ(report_["recipe"], "exact");
}

// Scores, weights and sums are rounded to bf16, as in PyTorch on a CPU; the recipe `native` has
// f32.
TEST_F(CheckTest, NamesTheRecipesThatWouldPermitAFailingAnswer) {
  const std::string line = "attention mask=causal H=2 S=16 D=64 dtype=bf16";
  EXPECT_EQ(Run({line, "--subject", "recipe:all_native", "--recipe", "native"}), kNonconforming);
  EXPECT_EQ(report_["cases"][0]["conforming_recipes"].size(), 1);
  const auto recipe = report_["cases"][0]["conforming_recipes"][0].get<std::string>();
  EXPECT_THAT(stdout_, HasSubstr("\n  conforms by `" + recipe + "`, which permits "));
  EXPECT_THAT(stdout_, HasSubstr(" times as much, if that says how it is computed\n  repeat: "));
  EXPECT_GT(report_["cases"][0]["recipe_width"], 1);
  EXPECT_FALSE(report_["cases"][0]["recipe_has_other_errors"]);
  EXPECT_EQ(Run({line, "--subject", "recipe:all_native", "--recipe", recipe}), kVerified);
}

TEST_F(CheckTest, NamesRecipesOfKnownImplementations) {
  const auto recipes_of = [&](const std::string& line, const std::string& subject) {
    EXPECT_EQ(Run({line, "--subject", "recipe:" + subject, "--recipe", "native"}), kNonconforming);
    return report_["cases"][0]["conforming_recipes"];
  };
  EXPECT_EQ(recipes_of("softmax N=2 M=64 dtype=f64", "*=f32 store=T"),
            Json({"native softmax=f32"}));
  const std::string block = "decoder_block pairing=half S=4 M=6 H=4 K=2 D=6 F=5 dtype=bf16";
  EXPECT_EQ(recipes_of(block, "native keep=f32"), Json({"native keep=f32"}));
  EXPECT_THAT(stdout_, HasSubstr("\n  conforms by `native keep=f32`, which permits "));
  EXPECT_EQ(Run({block, "--subject", "defect:decoder_block/attention_residual_missing"}),
            kNonconforming);
  EXPECT_EQ(report_["cases"][0]["conforming_recipes"], Json::array());
  const std::string small =  // keep=f32 permits this bug
      "decoder_block pairing=half S=3 M=4 H=2 K=1 D=4 F=3 dtype=bf16 @position=-9,-2,3";
  EXPECT_EQ(Run({small, "--subject", "defect:decoder_block/dot_in_bf16"}), kNonconforming);
  EXPECT_THAT(stdout_, HasSubstr("\n  likely cause: dot_in_bf16 (first wrong at q_rotated: "));
  EXPECT_EQ(Run({"rms_norm N=2 M=4", "--subject", "defect:rms_norm/mean_subtracted"}),
            kNonconforming);
  EXPECT_EQ(report_["cases"][0]["conforming_recipes"], Json::array());
  EXPECT_THAT(stdout_, Not(HasSubstr("conforms by")));
}

// The stored values are not proven again: after the change the file holds a wrong golden.
TEST_F(CheckTest, JudgesByTheStoredValuesOfAGoldenFile) {
  Record record = GoldenOf("rms_norm N=1 M=2");
  fixtures::WriteRecords(folder_ / "a.h5", {record});
  EXPECT_EQ(Run({folder_ / "a.h5", "--subject", "recipe:native"}), kVerified);
  record.golden[0].value.data[0] = record.golden[0].high.data[0] = 64;
  record.golden[0].low.data[0] = 0;
  fixtures::WriteRecords(folder_ / "a.h5", {record});
  EXPECT_EQ(Run({folder_ / "a.h5", "--subject", "recipe:native"}), kNonconforming);
}

// The digests of the file are right, and its radius permits every answer.
TEST_F(CheckTest, ARadiusThatWouldHideABugVerifiesNothing) {
  const std::string file = folder_ / "a.h5";
  for (const char* subject : {"defect:rms_norm/mean_subtracted", "recipe:native"}) {
    for (const size_t first : {0, 4, 7}) {  // of all rows, of one row, of one element
      Record forged = GoldenOf("rms_norm N=2 M=4");
      auto& radii = forged.golden[0].radius.data;
      std::fill(radii.begin() + static_cast<ptrdiff_t>(first), radii.end(), 10);
      fixtures::WriteRecords(file, {forged});
      const bool is_wrong_elsewhere = std::string(subject) != "recipe:native" && first > 0;
      const int status = is_wrong_elsewhere ? kNonconforming : kIncomplete;
      EXPECT_EQ(Run({file, "--subject", subject}), status);
      EXPECT_EQ(Run({file, "--subject", subject, "--open-rows"}), status);
      EXPECT_THAT(stdout_, HasSubstr(", " + std::to_string(8 - first) + " of them too loosely"));
      EXPECT_TRUE(IsRed(junit_));
      EXPECT_EQ(Run({file, "--subject", subject, "--strict"}), kNonconforming);
      EXPECT_THAT(stdout_, HasSubstr("FAILS rms_norm"));
      EXPECT_EQ(report_["cases"][0]["tensors"][0]["loose"], 8 - first);
      EXPECT_TRUE(report_["cases"][0]["fails"]);
    }
  }
}

// A tie in f32 whose rounding no precision decides, because of the root.
TEST_F(CheckTest, TheRadiusOfAProofVerifies) {
  fixtures::WriteRecords(folder_ / "a.h5", {GoldenOf("rms_norm N=1 M=9 eps=0 @x=1,0,0,0,0,0,0,0,0 "
                                                     "@weight=0x1.000002p+0,1,1,1,1,1,1,1,1")});
  EXPECT_EQ(Run({folder_ / "a.h5", "--subject", "recipe:native", "--strict"}), kVerified);
  EXPECT_THAT(stdout_, HasSubstr("; 9 of 9 elements judged, 1 only enclosed\n"));
}

TEST_F(CheckTest, ReportsThatThereIsNothingToDo) {
  EXPECT_EQ(Run({"/dev/null", "--subject", "fast"}), kNothing);
  EXPECT_EQ(stderr_, "sextant: nothing to do: no case was selected\n");
  EXPECT_EQ(Run({"rms_norm N=1 M=2", "--filter", "softmax", "--subject", "fast"}), kNothing);
  EXPECT_EQ(Run({"rms_norm N=0 M=2", "--subject", "fast"}), kNothing);
  EXPECT_EQ(stderr_, "sextant: nothing to do: no output has an element\n");
  EXPECT_EQ(report_["exit_status"], kNothing);
  EXPECT_EQ(Run({"rms_norm N=0 M=2", "rms_norm N=1 M=2", "--subject", "fast"}), kVerified);
}

// A value outside the dtype, a wrong shape, a missing output and other inputs are reported for
// their own case; the other cases are judged.
TEST_F(CheckTest, AnInvalidAnswerAffectsItsOwnCaseOnly) {
  std::vector<std::string> words;
  std::vector<Record> records;
  for (const char* rows : {"1", "2", "3", "4", "5"}) {
    words.push_back(std::string("rms_norm M=2 dtype=bf16 N=") + rows);
    records.push_back(AnswerOf(words.back()));
  }
  records[0].outputs[0].dtype = DType::kF32;
  records[0].outputs[0].values.data[0] = 1.00390625;
  records[1].outputs[0].values = Tensor<double>({1, 4});
  records[2].outputs[0].name = "z";
  records[3].inputs = {{"x", DType::kBF16, Tensor<double>({4, 2})}};
  fixtures::WriteRecords(folder_ / "answers.h5", records);
  words.insert(words.end(), {"--subject", "files:" + (folder_ / "answers.h5")});
  EXPECT_EQ(Run(words), kNotRun);
  const std::string none = "could_not_run";
  EXPECT_THAT(Statuses(), ElementsAre(none, none, none, none, "conforms"));
  EXPECT_THAT(stdout_, HasSubstr("y[0,0] is 1.00390625, expected a value of bf16"));
  EXPECT_THAT(stdout_, HasSubstr("y has shape [1,4], expected [2,2]"));
  EXPECT_THAT(stdout_, HasSubstr("it has no output 'y'"));
  EXPECT_THAT(stdout_, HasSubstr("the answer has other inputs: inputs/x[0,0] is 0, expected"));
  EXPECT_TRUE(report_["cases"][0]["grade"].is_null());
  EXPECT_EQ(report_["counts"]["could_not_run"], 4);
}

TEST_F(CheckTest, CountsCasesThatCouldNotRunEvenIfOthersFail) {
  std::vector<Record> records = {AnswerOf("rms_norm N=1 M=2"), AnswerOf("rms_norm N=2 M=2")};
  records[0].outputs[0].values.data[0] += 1;
  records[1].outputs[0].name = "z";
  fixtures::WriteRecords(folder_ / "answers.h5", records);
  EXPECT_EQ(Run({"rms_norm N=1 M=2", "rms_norm N=2 M=2", "--subject",
                 "files:" + (folder_ / "answers.h5")}),
            kNonconforming);
  EXPECT_THAT(stdout_, HasSubstr("2 cases: 1 could_not_run, 1 fails; "));
  EXPECT_THAT(stdout_, HasSubstr("\n1 of 2 cases could not be run; the exit status is 1 and not 3 "
                                 "because another case fails\n"));
  EXPECT_EQ(report_["counts"]["fail"], 1);
  EXPECT_EQ(report_["counts"]["could_not_run"], 1);
}

// Row y[0] overflows binary16, so no answer for it could fail; row y[1] can fail.
TEST_F(CheckTest, AcceptsOpenRowsWithTheOption) {
  const std::vector<std::string> words = {
      "linear N=2 M=2 F=2 dtype=f16 @x=60000,60000,1,1 @weight=30,40,1,2", "--subject",
      "recipe:native"};
  EXPECT_EQ(Run(words), kIncomplete);
  EXPECT_THAT(Statuses(), ElementsAre("unverified"));
  EXPECT_EQ(Run({words[0], words[1], words[2], "--open-rows"}), kVerified);
  EXPECT_THAT(Statuses(), ElementsAre("conforms"));
  EXPECT_EQ(report_["cases"][0]["open_rows"], 1);
}

// No element of the required output y could have failed, so nothing was verified.
TEST_F(CheckTest, DoesNotAcceptARequiredOutputThatCannotFail) {
  EXPECT_EQ(Run({"linear N=1 M=2 F=2 dtype=f16 @x=60000,60000 @weight=30,40,1,2", "--subject",
                 "recipe:native", "--open-rows"}),
            kIncomplete);
  EXPECT_THAT(Statuses(), ElementsAre("unverified"));
}

TEST_F(CheckTest, UnsupportedCasesMakeTheRunIncomplete) {
  fixtures::WriteRecords(folder_ / "answers.h5", {AnswerOf("rms_norm N=1 M=2")});
  EXPECT_EQ(Run({"rms_norm N=1 M=2", "rms_norm N=2 M=2", "--subject",
                 "files:" + (folder_ / "answers.h5")}),
            kIncomplete);
  EXPECT_THAT(Statuses(), ElementsAre("conforms", "unsupported"));
}

TEST_F(CheckTest, UnsupportedCasesAreAcceptedIfOnlySupportedOnesCount) {
  fixtures::WriteRecords(folder_ / "answers.h5", {AnswerOf("rms_norm N=1 M=2")});
  const std::string subject = "files:" + (folder_ / "answers.h5");
  EXPECT_EQ(Run({"rms_norm N=1 M=2", "rms_norm N=2 M=2", "--subject", subject}), kIncomplete);
  EXPECT_TRUE(IsRed(junit_));
  EXPECT_THAT(junit_, HasSubstr("1 case unsupported (--supported-only accepts them)"));
  EXPECT_EQ(Run({"rms_norm N=1 M=2", "rms_norm N=2 M=2", "rms_norm N=3 M=2", "--subject", subject,
                 "--supported-only"}),
            kVerified);
  EXPECT_FALSE(IsRed(junit_));
  EXPECT_THAT(stdout_, testing::StartsWith("unsupported: 2 cases: "));
  EXPECT_THAT(stdout_, Not(HasSubstr("repeat:")));
  EXPECT_EQ(Run({"rms_norm N=2 M=2", "--subject", subject, "--supported-only"}), kIncomplete);
  EXPECT_TRUE(IsRed(junit_));
  EXPECT_THAT(junit_, HasSubstr("nothing was judged"));
}

TEST_F(CheckTest, SeveralFiltersNarrowEachOther) {
  const std::string cases =
      Write("a.cases", "rms_norm N=1 M=2\nrms_norm N=2 M=2\nsoftmax N=1 M=2\n");
  EXPECT_EQ(Run({"--filter", "N=2", "--filter", "rms", cases, "--subject", "fast"}), kVerified);
  EXPECT_EQ(report_["counts"]["cases"], 1);
  EXPECT_EQ(Run({"--filter", "N=2", "--filter", "softmax", cases, "--subject", "fast"}), kNothing);
  EXPECT_EQ(stderr_,
            "sextant: nothing to do: no case was selected: of 3 cases, --filter 'N=2' selects 1, "
            "--filter 'softmax' selects 1\n");
  EXPECT_EQ(Run({cases, "--exclude", "*M=2 N=1*", "--exclude", "softmax", "--subject", "fast"}),
            kVerified);
  EXPECT_EQ(report_["counts"]["cases"], 1);
  EXPECT_EQ(Run({cases, "--filter", "rms_norm", "--exclude", "rms_norm", "--subject", "fast"}),
            kNothing);
}

// All 5 have the same cause: the first has its details, two more are named, -v prints all.
TEST_F(CheckTest, FailuresOfOneCauseAreOneEntry) {
  std::vector<std::string> words;
  for (const char* rows : {"1", "2", "3", "4", "5"})
    words.push_back(std::string("rms_norm M=8 N=") + rows);
  words.insert(words.end(), {"--subject", "defect:rms_norm/mean_subtracted"});
  const auto count = [this](const std::string& text) {
    size_t found = 0;
    for (size_t at = stdout_.find(text); at != stdout_.npos; at = stdout_.find(text, at + 1))
      ++found;
    return found;
  };
  EXPECT_EQ(Run(words), kNonconforming);
  EXPECT_EQ(count("FAILS rms_norm"), 3u);
  EXPECT_EQ(count("  repeat: "), 1u);
  EXPECT_EQ(count("\n  like one above\n"), 2u);
  EXPECT_EQ(count("mean_subtracted ("), 1u) << "only the run says why";
  EXPECT_THAT(stdout_, HasSubstr("\n5 of 5 failing cases: likely cause "
                                 "defect:rms_norm/mean_subtracted ("));
  EXPECT_THAT(stdout_, HasSubstr("\n2 failing cases more like these: -v\n"));
  EXPECT_EQ(report_["counts"]["fail"], 5);
  words.emplace_back("-v");
  EXPECT_EQ(Run(words), kNonconforming);
  EXPECT_EQ(count("  repeat: "), 5u);
  EXPECT_EQ(count("\n  likely cause: mean_subtracted ("), 5u);
}

// A recipe that permits much permits most bugs, too; a precision is told by it.
TEST_F(CheckTest, AWideRecipeIsSaidBesideAPrecisionButNotBesideABug) {
  EXPECT_EQ(Run({"rms_norm N=8 M=64", "--subject", "defect:rms_norm/mean_over_one_less"}),
            kNonconforming);
  EXPECT_THAT(stdout_, HasSubstr("likely cause: mean_over_one_less"));
  EXPECT_THAT(stdout_, Not(HasSubstr("conforms by")));
  EXPECT_EQ(Run({"rms_norm N=8 M=64", "--subject", "defect:rms_norm/sum_in_bf16"}), kNonconforming);
  EXPECT_THAT(stdout_, HasSubstr("conforms by `native sum=bf16`"));
}

TEST_F(CheckTest, SaysHowAliasesAreCalled) {
  EXPECT_EQ(Run({"silu", "N=1", "F=2", "dtype=bfloat16", "--subject", "fast"}), kVerified);
  EXPECT_EQ(stderr_,
            "sextant: silu is called activation kind=swish here\n"
            "sextant: dtype=bfloat16 is called dtype=bf16 here\n");
}

TEST_F(CheckTest, StopsAtTheFirstFailureWithFailFast) {
  const std::vector<std::string> words = {"softmax N=1 M=2",  "rms_norm N=1 M=2",
                                          "rms_norm N=2 M=2", "rms_norm N=3 M=2",
                                          "--subject",        "defect:rms_norm/mean_subtracted",
                                          "--fail-fast"};
  EXPECT_EQ(Run(words), kNonconforming);
  EXPECT_THAT(Statuses(), ElementsAre("unsupported", "fails"));
  EXPECT_EQ(report_["counts"]["not_reached"], 2);
  EXPECT_THAT(stdout_, HasSubstr("\nstopped at the first failure: 2 cases not judged\n"));
}

TEST_F(CheckTest, ShowsConformingCasesOnRequest) {
  EXPECT_EQ(Run({"rms_norm N=1 M=2", "-v", "--subject", "recipe:exact", "--recipe", "native"}),
            kVerified);
  EXPECT_THAT(stdout_, testing::StartsWith("exact rms_norm eps=1e-05 unit_offset=false M=2 N=1 "));
}

TEST_F(CheckTest, JsonLinesAreOneLinePerVerdictAndTheSummary) {
  EXPECT_EQ(Run({"rms_norm N=1 M=2", "rms_norm N=2 M=2", "--subject",
                 "defect:rms_norm/mean_subtracted", "--json-lines", "-"}),
            kNonconforming);
  std::istringstream in(stdout_);
  std::vector<std::string> types;
  for (std::string line; std::getline(in, line);) types.push_back(Json::parse(line)["type"]);
  EXPECT_THAT(types, ElementsAre("case", "case", "summary"));
  EXPECT_THAT(stderr_, HasSubstr("\n2 of 2 failing cases: possible cause"));
  EXPECT_EQ(Run({"rms_norm N=1 M=2", "--subject", "fast", "--json-lines", folder_ / "a.jsonl"}),
            kVerified);
  EXPECT_THAT(fixtures::BytesOf(folder_ / "a.jsonl"), HasSubstr("\n{\"type\":\"summary\","));
  EXPECT_THAT(stdout_, HasSubstr("fast by recipe"));
}

TEST_F(CheckTest, SetsWordsInTheCases) {
  const std::string cases =
      Write("a.cases", "softmax N=1 M=2\nsoftmax N=1 M=3\nrms_norm N=1 M=2\n");
  EXPECT_EQ(Run({cases, "--with", "M=8 dtype=bf16", "--subject", "fast", "-v"}), kVerified);
  EXPECT_EQ(report_["counts"]["cases"], 2);
  EXPECT_EQ(report_["cases"][0]["case"], "softmax M=8 N=1 dtype=bf16 seed=1");
  EXPECT_THAT(stdout_, HasSubstr("\nwith M=8 dtype=bf16: 0 cases not applicable, 1 case equal to "
                                 "another\n"));
  // eps is a word of rms_norm alone: the cases of softmax do not conform, they are not asked.
  EXPECT_EQ(Run({cases, "--with", "eps=0.5", "--subject", "fast"}), kVerified);
  EXPECT_EQ(report_["counts"]["cases"], 1);
  EXPECT_EQ(report_["counts"]["conform"], 1);
  EXPECT_EQ(report_["counts"]["not_applicable"], 2);
  EXPECT_EQ(report_["with"]["words"], "eps=0.5");
  EXPECT_EQ(report_["with"]["not_applicable"][0]["case"], "softmax M=2 N=1 dtype=f32 seed=1");
  EXPECT_THAT(stdout_,
              HasSubstr("\nwith eps=0.5: 2 cases not applicable, 0 cases equal to another; "
                        "the first not applicable: softmax M=2 N=1 dtype=f32 seed=1: "
                        "softmax has no "));
  EXPECT_THAT(junit_, HasSubstr("skipped=\"2\""));
  EXPECT_EQ(Run({cases, "--with", "D=63", "--subject", "fast"}), kNothing);
  EXPECT_THAT(stderr_, testing::StartsWith("sextant: nothing to do: none of 3 cases can have D=63; "
                                           "the first: softmax M=2 N=1 dtype=f32 seed=1: softmax "
                                           "has no dimension D"));
  EXPECT_EQ(std::ranges::count(stderr_, '\n'), 1);
}

// An expectation of a case as it is in the file is not stale if the case has other words.
TEST_F(CheckTest, ExpectationsOfCasesWithOtherWordsAreNotStale) {
  const std::string cases = Write("a.cases", "softmax N=1 M=2\n");
  const std::string known =
      Write("known.toml", "[[expect]]\ncases = 'softmax M=2 *'\nreason = 'r'\n");
  EXPECT_EQ(Run({cases, "--with", "M=8", "--subject", "fast", "--expect", known}), kVerified);
}

// A subject for one width: the report ends with what it wants and what can be done.
TEST_F(CheckTest, AdvisesIfMostCasesAreUnsupported) {
  std::filesystem::create_directory(folder_ / "real");
  Write("real/a.cases", "softmax N=1 M=1024\n");
  std::string text;
  for (const char* width : {"2", "3", "4", "5", "6"})
    text += std::string("softmax N=1 M=") + width + "\n";
  const std::string cases = Write("a.cases", text);
  fixtures::WriteRecords(folder_ / "answers.h5", {AnswerOf("softmax N=1 M=4")});
  const std::string subject = "files:" + (folder_ / "answers.h5");
  EXPECT_EQ(Run({cases, "--subject", subject}), kIncomplete);
  const std::string advice =
      "\n4 of 5 cases are unsupported:\n"
      "  softmax: M=4 and dtype=f32 in the one answered case, and in none of the 4 unsupported\n"
      "  the shapes of real kernels: sextant check '" +
      (folder_ / "real/a.cases") + "' --subject '" + subject +
      "' --with 'M=4 dtype=f32'\n"
      "  these cases with the words of your kernel: --with 'M=4 dtype=f32'\n"
      "  to accept that the subject declines cases: --supported-only\n";
  EXPECT_THAT(stdout_, testing::EndsWith(advice));
  EXPECT_EQ(report_["advice"].size(), 5);
  EXPECT_EQ(Run({cases, "--subject", "fast"}), kVerified);
  EXPECT_EQ(report_["advice"], Json::array());
}

}  // namespace
}  // namespace sextant::tools
