#include "tools/api/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "fixtures/store/golden_folder.h"
#include "fixtures/store/temporary_folder_test.h"
#include "fixtures/store/writer.h"
#include "reference/base/error_test.h"
#include "reference/prove/prove.h"
#include "tools/api/named_cases.h"
#include "tools/api/prove_parts.h"

namespace sextant::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kLine[] = "rms_norm eps=1e-05 unit_offset=false M=2 N=1 dtype=f32 seed=1";

Record GoldenOf(const std::string& line) {
  const Case c = Case::Parse(line);
  const Tensors inputs = DrawInputs(c);
  return {c.ToString(), inputs, Prove({c, inputs, ParseRecipe("native", c.dtype())}), {}};
}

class SelectionTest : public testing::Test {
 protected:
  static std::vector<Selected> Of(const std::vector<std::string>& arguments,
                                  const std::vector<std::string>& filters = {}) {
    return Select({.arguments = arguments, .filters = filters});
  }
  // For each selected case: "line", or "golden" if it comes from a golden file.
  static std::vector<std::string> Kinds(const std::vector<std::string>& arguments) {
    std::vector<std::string> kinds;
    for (const Selected& s : Of(arguments)) kinds.push_back(s.golden ? "golden" : "line");
    return kinds;
  }
  static std::string ErrorOf(const std::vector<std::string>& arguments) {
    try {
      Of(arguments);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
  std::string Golden(const std::vector<Record>& records) {
    fixtures::WriteRecords(folder_ / "a.h5", records);
    return folder_ / "a.h5";
  }
  std::string Cases(const std::string& text) {
    fixtures::WriteBytes(folder_ / "a.cases", text);
    return folder_ / "a.cases";
  }

  fixtures::TemporaryFolder folder_;
};

TEST_F(SelectionTest, ReadsCaseLinesFilesAndGoldens) {
  const std::string golden = Golden({GoldenOf("rms_norm N=2 M=2"), GoldenOf("rms_norm N=3 M=2")});
  const std::string file = Cases("# heading\nrms_norm N=4 M=2  # why\n\nrms_norm N=5 M=2\n");
  const std::vector<Selected> selected = Of({kLine, golden, file});
  std::vector<int64_t> rows;
  for (const Selected& s : selected) rows.push_back(s.c.dimensions().at("N"));
  EXPECT_THAT(rows, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(selected[3].why, "why");
  EXPECT_FALSE(selected[0].golden || selected[3].golden);
  EXPECT_EQ(selected[2].golden->Read(0, {}).name, "y");
}

TEST_F(SelectionTest, FiltersByTextWithWildcards) {
  const std::string file = Cases("rms_norm N=4 M=2\nrms_norm N=5 M=2 dtype=bf16\n");
  const auto rows = [&](const std::string& filter) {
    std::vector<int64_t> all;
    for (const Selected& s : Of({file}, {filter})) all.push_back(s.c.dimensions().at("N"));
    return all;
  };
  EXPECT_THAT(rows("N=5"), ElementsAre(5));
  EXPECT_THAT(rows("rms_norm*bf16*"), ElementsAre(5));
  EXPECT_THAT(rows("*N=?*"), ElementsAre(4, 5));
  EXPECT_THAT(rows("N=? dtype=bf*"), ElementsAre(5));
  EXPECT_THAT(rows("rms?norm"), ElementsAre(4, 5));
  EXPECT_THROW(rows("rms?norm*N=6"), NoCase);
}

// A golden is judged by its stored values, so it does not repeat a case line.
TEST_F(SelectionTest, SelectsALineAndAGoldenOfTheSameCase) {
  const std::string golden = Golden({GoldenOf(kLine)});
  EXPECT_THAT(Kinds({kLine, golden}), ElementsAre("line", "golden"));
  EXPECT_THAT(Kinds({golden, golden}), ElementsAre("golden", "golden"));
  EXPECT_THAT(Kinds({golden, kLine}), ElementsAre("golden"));
}

TEST_F(SelectionTest, SelectsACaseOnceIfItsLinesDifferOnlyInSpelling) {
  EXPECT_THAT(Kinds({"rms_norm N=1 M=2", "rms_norm M=2 N=1 seed=1"}), ElementsAre("line"));
}

TEST_F(SelectionTest, FiltersNarrowEachOther) {
  const std::vector<std::string> lines = {"rms_norm N=1 M=2", "rms_norm N=1 M=24",
                                          "softmax N=1 M=2"};
  EXPECT_EQ(Of(lines, {"rms_norm"}).size(), 2u);
  EXPECT_EQ(Of(lines, {"M=2"}).size(), 3u);
  EXPECT_EQ(Of(lines, {"*M=2 *"}).size(), 2u);
  EXPECT_EQ(Of(lines, {"rms_norm*M=2?"}).size(), 2u);  // "M=2 " as well as "M=24"
  EXPECT_EQ(Of(lines, {"rms_norm", "M=24"}).size(), 1u);
  EXPECT_THROW(Of(lines, {"softmax", "M=24"}), NoCase);
}

TEST_F(SelectionTest, SaysWhyItIsEmpty) {
  const std::vector<std::string> lines = {"rms_norm N=1 M=24", "softmax N=1 M=2"};
  const Selection selection{
      .arguments = lines, .filters = {"softmax", "M=24"}, .excluded = {"rms*24"}};
  EXPECT_THAT(
      [&] { Select(selection); },
      testing::ThrowsMessage<NoCase>("no case was selected: of 2 cases, --filter 'softmax' selects "
                                     "1, --filter 'M=24' selects 1, --exclude 'rms*24' selects 1"));
  EXPECT_THAT([] { Of({"/dev/null"}); }, testing::ThrowsMessage<NoCase>("no case was selected"));
}

TEST_F(SelectionTest, FiltersWithFormerNamesAreErrors) {
  const std::vector<std::string> lines = {"softmax N=1 M=2"};
  const auto error = [&](const Selection& selection) {
    return MessageOf([&] { Select(selection); });
  };
  EXPECT_EQ(error({.arguments = lines, .filters = {"attention_bias*bf16"}}),
            "--filter: 'attention_bias' is called 'attention with=bias' now");
  EXPECT_EQ(error({.arguments = lines, .excluded = {"linear_bias"}}),
            "--exclude: 'linear_bias' is called 'linear with=bias' now");
}

TEST_F(SelectionTest, WordsWithoutQuotesContinueALine) {
  EXPECT_THAT(JoinedLines({"rms_norm", "N=1", "M=2", "softmax N=1", "M=3"}),
              ElementsAre("rms_norm N=1 M=2", "softmax N=1 M=3"));
  EXPECT_THAT(JoinedLines({"a.cases", "rope", "@position=0,1"}),
              ElementsAre("a.cases", "rope @position=0,1"));
  EXPECT_EQ(Of({"softmax", "N=1", "M=2"}).size(), 1u);
  EXPECT_THAT(ErrorOf({"N=1", "M=2"}),
              HasSubstr("expected an operation before it, 'OPERATION N=1"));
  EXPECT_THAT(ErrorOf({"sofmax", "N=1"}),
              HasSubstr("no operation 'sofmax' (did you mean 'softmax'?)"));
}

TEST_F(SelectionTest, NotesAliasesOnce) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(Of({"rms_norm N=1 M=2 dtype=float16", "softmax N=1 M=2 dtype=float16"}).size(), 2u);
  Replaced replaced;
  const std::vector<std::string> lines = {"rope pairing=half H=1 S=2 D=8"};
  Select({.arguments = lines, .with = "theta=5", .replaced = &replaced});
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "sextant: dtype=float16 is called dtype=f16 here\n"
            "sextant: theta=5 is called base=5 here\n");
}

// In the judge, a radius below 0 or NaN says that an element need not be compared, or not yet.
TEST_F(SelectionTest, RefusesRadiiThatNoProofStores) {
  Record golden = GoldenOf("rms_norm N=2 M=2");
  for (const double radius : {-1.0, -0x1p-1074, double{NAN}}) {
    golden.golden[0].radius.data[3] = radius;
    EXPECT_THAT(ErrorOf({Golden({golden})}), HasSubstr(": golden/y/radius[1,1] is "));
  }
}

TEST_F(SelectionTest, ErrorsNameTheFileAndItsLine) {
  const std::string file = Cases("rms_norm N=1 M=2\nrms_norm N=1 Q=2\n");
  EXPECT_EQ(ErrorOf({file}), file + ":2: rms_norm has no dimension Q; it has: M N");
  EXPECT_EQ(ErrorOf({folder_ / "no.h5"}), folder_ / "no.h5 does not exist");
  EXPECT_THAT(ErrorOf({folder_ / "no.cases"}), HasSubstr("no.cases: there is no such file"));
  fixtures::WriteBytes(folder_ / "softmax.cases", "softmax N=1 M=2\n");
  EXPECT_THAT(ErrorOf({folder_ / "sofmax.cases"}), HasSubstr("did you mean 'softmax.cases'?"));
  EXPECT_THAT(ErrorOf({folder_ / "."}), HasSubstr("is a folder, expected a file of cases"));
  fixtures::WriteBytes(folder_ / "text.h5", "rms_norm N=1 M=2\n");
  EXPECT_EQ(ErrorOf({folder_ / "text.h5"}), folder_ / "text.h5 is not an HDF5 file");
  fixtures::WriteBytes(folder_ / "golden.npz", "PK");
  EXPECT_THAT(ErrorOf({folder_ / "golden.npz"}), HasSubstr("golden.npz is for other programs"));
  EXPECT_EQ(ErrorOf({""}), "an empty line is no case");
}

TEST_F(SelectionTest, ConfigurationsDoNotCompleteGoldens) {
  const std::vector<std::string> arguments = {Golden({GoldenOf(kLine)})};
  EXPECT_THROW(Select({.arguments = arguments,
                       .filters = {},
                       .excluded = {},
                       .config = {.path = "config.json"}}),
               Error);
}

// Files written by `sextant inputs` have no golden values.
TEST_F(SelectionTest, RecordsOfInputFilesHaveNoGolden) {
  const Case c = Case::Parse(kLine);
  const std::vector<Selected> selected = Of({Golden({{kLine, DrawInputs(c), {}, {}}})});
  ASSERT_EQ(selected.size(), 1u);
  EXPECT_FALSE(selected[0].golden);
  const Record question{kLine, DrawInputs(c), {}, {}};
  EXPECT_EQ(Of({Golden({question, question})}).size(), 2u) << "each case of a file counts";
}

TEST_F(SelectionTest, RefusesGoldensOfAnotherCase) {
  const Record right = GoldenOf(kLine);
  Record record = right;
  record.inputs[0].values.data[1] = 1;
  std::string path = Golden({record});
  EXPECT_THAT(ErrorOf({path}),
              StartsWith(path + ": " + kLine + ": inputs/x[0,1] is 1, expected -0.31"));
  record = right;
  record.inputs[0].dtype = DType::kF64;
  EXPECT_THAT(ErrorOf({Golden({record})}), HasSubstr("inputs/x is f64[1,2], expected f32[1,2]"));
  record = right;
  record.golden[0].name = "z";
  EXPECT_THAT(ErrorOf({Golden({record})}), HasSubstr("has no golden/y"));
  record = right;
  record.golden[0].dtype = DType::kF64;
  EXPECT_THAT(ErrorOf({Golden({record})}), HasSubstr("golden/y is f64[1,2], expected f32[1,2]"));
}

// Slices that lie in several parts, too.
TEST_F(SelectionTest, ReadsAFolderOfPartsAsOneGolden) {
  const Record whole = GoldenOf("rope_table R=4 S=24 dtype=bf16");
  const Case c = Case::Parse(whole.case_line);
  const fixtures::GoldenPlan plan({c, Case::Parse(kLine)}, 20);
  ASSERT_GT(plan.parts.size(), 5u);
  const std::string path = folder_ / "parts";
  fixtures::GoldenFolder folder(path, plan, fixtures::GoldenFolder::Use::kAlone);
  for (size_t p = 0; p < plan.parts.size(); ++p) {
    fixtures::Writer writer(folder.PathOf(p));
    for (const auto& [index, slice] : plan.parts[p].cases)
      WriteProven(PartByPart(plan.cases[index]), slice, 1000, {}, writer);
    writer.Finish();
  }
  EXPECT_THAT(ErrorOf({path}), HasSubstr("index.json: is not there"));
  folder.Finish();
  const std::vector<Selected> selected = Of({path});
  ASSERT_EQ(selected.size(), 2u);
  ASSERT_TRUE(selected[0].golden && selected[1].golden);
  for (const char* const text : {"", "S=3..3", "S=4..14", "S=5..23"}) {
    const Slice slice = ParseSlice(c, text);
    for (size_t o = 0; o < 2; ++o) {
      const TensorSpec& spec = c.info().signature.outputs[o];
      const GoldenTensor read = selected[0].golden->Read(o, slice);
      for (const auto part :
           {&GoldenTensor::value, &GoldenTensor::high, &GoldenTensor::low, &GoldenTensor::radius}) {
        const Tensor<double> expected = ExtractSlice(whole.golden[o].*part, spec, slice);
        EXPECT_EQ((read.*part).shape, expected.shape);
        EXPECT_EQ((read.*part).data, expected.data) << text << " " << spec.name;
      }
    }
  }
  EXPECT_THAT(ErrorOf({folder.PathOf(1)}), HasSubstr("is only the slice S="));
  std::filesystem::remove(folder.PathOf(2));
  EXPECT_THAT(ErrorOf({path}), HasSubstr(": is missing: run"));
  std::filesystem::create_directory(folder_ / "empty");
  EXPECT_THAT(ErrorOf({folder_ / "empty"}), HasSubstr("is a folder, expected a file of cases"));
}

TEST_F(SelectionTest, RefusesADamagedGolden) {
  const std::string path = Golden({GoldenOf("rms_norm N=128 M=64")});  // half of the file is data
  std::string bytes = fixtures::BytesOf(path);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  fixtures::WriteBytes(path, bytes);
  EXPECT_THAT(ErrorOf({path}), StartsWith(path + ": /cases/0000/"));
}

// Defaults follow the new words: E is D, R is D.
TEST_F(SelectionTest, SetsWordsInEveryCaseLine) {
  Replaced replaced;
  std::vector<std::string> left_out;
  const auto lines = [&](const std::string& argument, const std::string& with) {
    replaced = {};
    left_out.clear();
    std::vector<std::string> all;
    const std::vector<std::string> arguments = {argument};
    for (const Selected& s : Select({.arguments = arguments,
                             .filters = {"dtype=f32"},
                             .left_out = &left_out,
                             .with = with,
                             .replaced = &replaced}))
      all.push_back(s.c.ToString());
    return all;
  };
  const std::string file = Cases(
      "rms_norm N=1 M=4  # why\nrms_norm N=1 M=5\nrms_norm N=2 M=4 dtype=f16\n"
      "rms_norm N=1 @x=1,2,3\nrms_norm N=1 M=2 @x=131072,1\n");
  EXPECT_THAT(lines(file, "M=64  dtype=bf16"),
              ElementsAre("rms_norm eps=1e-05 unit_offset=false M=64 N=1 dtype=bf16 seed=1"));
  EXPECT_EQ(replaced.equal, 1);
  ASSERT_EQ(replaced.not_applicable.size(), 2);
  EXPECT_THAT(replaced.not_applicable[0].line, HasSubstr(" M=3 N=1 dtype=f32 seed=1 @x=1,2,3"));
  EXPECT_THAT(replaced.not_applicable[0].why, HasSubstr("@x lists 3 numbers"));
  EXPECT_EQ(left_out.size(), 5) << "so that expectations of them are not stale";
  EXPECT_EQ(lines(file, "dtype=f16").size(), 3);
  ASSERT_EQ(replaced.not_applicable.size(), 1);
  EXPECT_THAT(replaced.not_applicable[0].why, HasSubstr("131072, expected a value of f16"));
  EXPECT_THAT(lines("rope pairing=half H=1 S=2 D=8", "D=16"),
              ElementsAre(HasSubstr(" D=16 H=1 R=16 S=2 ")));
  EXPECT_THAT(lines("rope pairing=half H=1 S=2 D=8 R=4", "D=16"),
              ElementsAre(HasSubstr(" D=16 H=1 R=4 S=2 ")));
  EXPECT_THAT(
      [&] { lines("rms_norm N=1 M=4", "T=3"); },
      testing::ThrowsMessage<NoCase>(StartsWith("none of 1 case can have T=3; the first: ")));
  EXPECT_EQ(lines("rms_norm N=1 M=4", "N=8589934592 M=1 dtype=f64").size(), 1)
      << "without drawing 64 GiB";
  EXPECT_EQ(lines("rope pairing=half H=1 S=2 D=2", "S=4294967296").size(), 1);
  EXPECT_EQ(MessageOf([&] { lines("no/such.cases", "M"); }), "--with 'M': 'M' is not KEY=VALUE");
  EXPECT_EQ(MessageOf([&] { lines("no/such.cases", "M=4 M=5"); }), "--with 'M=4 M=5' has M= twice");
  for (const auto& [with, why] : {std::pair("head_dim=8 D=4", "attention: D= is given twice"),
                                  {"sliding_window=0", "sliding_window=0: expected a number"}}) {
    EXPECT_THAT([&] { lines("attention mask=causal H=1 S=2 D=8", with); },
                testing::ThrowsMessage<NoCase>(HasSubstr(why)));
  }
  EXPECT_THROW(lines("rms_norm N=1", "M=4"), Error) << "the line is wrong by itself";
  EXPECT_THROW(lines(Golden({GoldenOf("rms_norm N=2 M=2")}), "M=4"), Error);
}

TEST_F(SelectionTest, ANameStandsForTheCasesOfAnOperation) {
  EXPECT_EQ(CasesNamed("softmax"), "fixtures/cases/softmax.cases");
  EXPECT_EQ(CasesNamed("real/softmax"), "fixtures/cases/real/softmax.cases");
  EXPECT_EQ(CasesNamed("mystery"), "mystery");
  EXPECT_EQ(Of({"softmax"}).size(), Of({"fixtures/cases/softmax.cases"}).size());
  const std::string file = Cases("rms_norm N=1 M=4\n");
  EXPECT_EQ(CasesNamed(file), file);
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(std::filesystem::path(file).parent_path());
  const std::string elsewhere = CasesNamed("softmax");  // above the program
  std::filesystem::current_path(here);
  EXPECT_THAT(ErrorOf({"silu"}), HasSubstr("its cases: activation --filter kind=swish"));
  EXPECT_TRUE(std::filesystem::equivalent(elsewhere, "fixtures/cases/softmax.cases"));
}

}  // namespace
}  // namespace sextant::tools
