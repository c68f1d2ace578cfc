#include "oracle/audit/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "oracle/audit/cases_test.h"
#include "oracle/catalog/catalog.h"
#include "oracle/catalog/defect_subject.h"
#include "oracle/defect/coverage_goal.h"

namespace sextant::oracle {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

// Names of the targets that no case catches in any dtype.
std::vector<std::string> Survivors(const Audit& audit) {
  std::vector<std::string> names;
  for (const TargetResult& result : audit.results) {
    if (result.caught_by.empty()) names.push_back(result.target);
  }
  return names;
}

const TargetResult& ResultOf(const Audit& audit, const std::string& target) {
  const auto at = std::ranges::find(audit.results, target, &TargetResult::target);
  if (at == audit.results.end()) throw Error("there is no result for ", target);
  return *at;
}

std::vector<DType> MissingDTypes(const Audit& audit, const std::string& target) {
  std::vector<DType> dtypes;
  for (const MissingDType& missing : ResultOf(audit, target).missing)
    dtypes.push_back(missing.dtype);
  return dtypes;
}

// At position 0 a rotation is the identity, so most rope defects do not show.
TEST(AuditSuite, ReportsDefectsThatWeakCasesMiss) {
  const Audit audit = AuditSuite(Cases({"rope pairing=half H=2 D=8 @position=0"}));
  EXPECT_THAT(audit.baseline_failures, IsEmpty());
  EXPECT_FALSE(audit.Passed());
  EXPECT_THAT(Survivors(audit), Contains("rotates_backwards"));
  EXPECT_THAT(Survivors(audit), Contains("base=2"));
  EXPECT_THAT(Survivors(audit), Not(Contains("position_off_by_one")));
  EXPECT_THAT(Survivors(audit), Not(Contains("(one element pushed)")));
}

TEST(AuditSuite, NamesTheCasesThatCatch) {
  const auto cases =
      Cases({"rope pairing=half H=2 D=8 @position=0", "rope pairing=half H=2 D=8 @position=1",
             "rope pairing=half H=2 D=8 @position=2"});
  std::map<std::string, std::vector<size_t>> by;
  for (const TargetResult& result : AuditSuite(cases).results) by[result.target] = result.caught_by;
  EXPECT_THAT(by["rotates_backwards"], ElementsAre(1, 2));
  EXPECT_THAT(by["position_off_by_one"], ElementsAre(0, 1, 2));
}

// Clamping negative positions to 0 shows in every dtype, but no f32 or bf16 case has a negative
// position.
TEST(AuditSuite, RequiresEveryDTypeInWhichADefectShows) {
  const std::string clamped = "negative_position_clamped";
  auto cases = Cases({"rope pairing=half H=1 D=2 dtype=f64 @position=-3",
                      "rope pairing=half H=1 D=2 dtype=f32 @position=3",
                      "rope pairing=half H=1 D=2 dtype=f16 @position=-1"});
  const Audit audit = AuditSuite(cases);
  EXPECT_THAT(ResultOf(audit, clamped).caught_by, ElementsAre(0, 2));
  EXPECT_THAT(MissingDTypes(audit, clamped), ElementsAre(DType::kF32, DType::kBF16));
  EXPECT_TRUE(ResultOf(audit, clamped).Survives());
  EXPECT_THAT(ResultOf(audit, clamped).cannot_show, IsEmpty());

  cases.push_back(Case::Parse("rope pairing=half H=1 D=2 dtype=f32 @position=-2"));
  cases.push_back(Case::Parse("rope pairing=half H=1 D=2 dtype=bf16 @position=-2"));
  EXPECT_FALSE(ResultOf(AuditSuite(cases), clamped).Survives());
}

// Rounding to bf16 changes nothing in a bf16 case.
TEST(AuditSuite, ReportsDTypesInWhichADefectCannotShow) {
  const auto cases = Cases(
      {"rms_norm N=3 M=7 dtype=f32", "rms_norm N=3 M=7 dtype=f16", "rms_norm N=3 M=7 dtype=f64"});
  const Audit audit = AuditSuite(cases);
  const TargetResult& rounded = ResultOf(audit, "weight_in_bf16");
  EXPECT_THAT(rounded.caught_by, ElementsAre(0, 1, 2));
  EXPECT_THAT(rounded.cannot_show, ElementsAre(DType::kBF16));
  EXPECT_FALSE(rounded.Survives());
}

// MissingDType::retyped is the case with the fewest elements, or all cases if all_retyped is set.
TEST(AuditSuite, SuggestsTheSmallestCaseInAnotherDType) {
  const auto cases =
      Cases({"rope pairing=half H=2 D=8 @position=-3", "rope pairing=half H=1 D=2 @position=-3",
             "rope pairing=half H=1 D=4 @position=3"});
  const std::string clamped = "negative_position_clamped";
  const auto retyped = [&](bool all) {
    const Audit audit = AuditSuite(cases, {.all_retyped = all});
    return ResultOf(audit, clamped).missing.at(0).retyped;
  };
  EXPECT_THAT(retyped(false), ElementsAre(1));
  EXPECT_THAT(retyped(true), ElementsAre(1, 0));
}

// 70000 is not an f16 number, so the case cannot be tried in f16.
TEST(AuditSuite, DoesNotTryADTypeThatCannotHoldTheInputs) {
  const Audit audit = AuditSuite(Cases({"rms_norm N=1 M=2 @x=70000,1"}));
  const TargetResult& subtracted = ResultOf(audit, "mean_subtracted");
  EXPECT_THAT(subtracted.caught_by, ElementsAre(0));
  EXPECT_THAT(MissingDTypes(audit, "mean_subtracted"), ElementsAre(DType::kF64));
  EXPECT_THAT(subtracted.cannot_show, Contains(DType::kF16));
}

// There are two losses of the seventeenth row: it is zero, or it equals the first. If all rows are
// equal, the case catches only the first loss, which is not enough.
TEST(AuditSuite, CountsACaseOnlyIfItCatchesEveryLoss) {
  EXPECT_THAT(Survivors(AuditSuite(Cases({"rms_norm N=17 M=2 @x=1,7"}))), Contains("N>=17"));
  EXPECT_THAT(Survivors(AuditSuite(Cases({"rms_norm N=17 M=2"}))), Not(Contains("N>=17")));
}

TEST(AuditSuite, ScoresNothingUnlessTheHonestSubjectPasses) {
  const auto cases = Cases({"rms_norm N=3 M=7", "rope pairing=half H=2 D=8 @position=0",
                            "rope pairing=half H=2 D=8 @position=1"});
  const Audit audit = AuditSuite(cases, {.baseline = DefectSubject("rope/rotates_backwards")});
  EXPECT_THAT(audit.baseline_failures, ElementsAre(cases[2].ToString()));
  EXPECT_THAT(audit.results, IsEmpty());
  EXPECT_FALSE(audit.Passed());
}

// A large case takes long: it is tried on what no earlier case of its dtype has caught, and on the
// pushed element, which every case must catch.
TEST(AuditSuite, TriesALargeCaseOnlyOnWhatIsNotCaughtYet) {
  const auto cases =
      Cases({"rms_norm N=1 M=3", "rms_norm N=1 M=32768", "rms_norm N=1 M=32768 dtype=f64"});
  const Audit audit = AuditSuite(cases);
  const auto caught_by = [&](const std::string& name) {
    return std::ranges::find(audit.results, name, &TargetResult::target)->caught_by;
  };
  EXPECT_THAT(caught_by("mean_subtracted"), ElementsAre(0, 2));
  EXPECT_THAT(caught_by("(one element pushed)"), ElementsAre(0, 1, 2));
}

TEST(AuditSuite, FailsWithoutCases) { EXPECT_FALSE(AuditSuite({}).Passed()); }

TEST(AuditSuite, ReadsInputsThatAreFiles) {
  const FileReader read = [](const std::string&, const std::string&, DType) {
    return Tensor<double>({1, 2}, {1, 7});
  };
  const auto cases = Cases({"rms_norm N=1 M=2 @x=x.npy#00"});
  const Audit audit = AuditSuite(cases, {.read_file = read});
  EXPECT_THAT(audit.baseline_failures, IsEmpty());
  EXPECT_THAT(Survivors(audit), Not(Contains("(one element pushed)")));
}

// Five steps: the case itself and its four dtypes.
TEST(AuditSuite, ReportsProgress) {
  std::vector<double> seen;
  AuditSuite(Cases({"rms_norm N=1 M=2"}), {.progress = [&](double d) { seen.push_back(d); }});
  EXPECT_THAT(seen, ElementsAre(0.2, 0.4, 0.6, 0.8, 1));
}

TEST(AuditSuite, ScoresEveryDefectAndCoverageGoalAndThePushedElement) {
  const Audit audit = AuditSuite(Cases({"rms_norm N=1 M=2"}));
  EXPECT_EQ(audit.results.size(),
            CatalogEntryOf("rms_norm").defects.size() + CoverageGoalsOf("rms_norm").size() + 1);
}

// The tests audit-suite/<op> run the program and check that the cases catch everything.
TEST(CommittedCases, HaveComments) {
  size_t cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator("fixtures/cases")) {
    if (entry.path().extension() != ".cases") continue;
    for (const CaseLine& line : ReadCaseLines(entry.path())) {
      ++cases;
      EXPECT_FALSE(line.why.empty()) << line.text << " has no comment";
    }
  }
  EXPECT_GT(cases, 0u);
}

}  // namespace
}  // namespace sextant::oracle
