#include "oracle/audit/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "oracle/catalog/catalog.h"
#include "oracle/catalog/defect_subject.h"
#include "oracle/defect/blind_spot.h"
#include "reference/case/operations.h"

namespace sextant::oracle {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

std::vector<Case> Cases(std::initializer_list<const char*> lines) {
  std::vector<Case> cases;
  for (const char* line : lines) cases.push_back(Case::Parse(line));
  return cases;
}

std::vector<std::string> Survivors(const Audit& audit) {
  std::vector<std::string> names;
  for (const Caught& result : audit.results) {
    if (result.by.empty()) names.push_back(result.what);
  }
  return names;
}

// At position 0 nothing shows but what spoils the identity.
TEST(AuditSuite, FindsWhatWeakCasesMiss) {
  const Audit audit = AuditSuite(Cases({"rope pairing=half H=2 D=8 @position=0"}));
  EXPECT_THAT(audit.dishonest, IsEmpty());
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
  for (const Caught& result : AuditSuite(cases).results) by[result.what] = result.by;
  EXPECT_THAT(by["rotates_backwards"], ElementsAre(1, 2));
  EXPECT_THAT(by["position_off_by_one"], ElementsAre(0, 1, 2));
}

TEST(AuditSuite, ScoresNothingUnlessTheHonestSubjectPasses) {
  const auto cases = Cases({"rms_norm N=3 M=7", "rope pairing=half H=2 D=8 @position=0",
                            "rope pairing=half H=2 D=8 @position=1"});
  const Audit audit = AuditSuite(cases, {.honest = DefectSubject("rope/rotates_backwards")});
  EXPECT_THAT(audit.dishonest, ElementsAre(cases[2].ToString()));
  EXPECT_THAT(audit.results, IsEmpty());
  EXPECT_FALSE(audit.Passed());
}

TEST(AuditSuite, PassesNothingWithoutCases) { EXPECT_FALSE(AuditSuite({}).Passed()); }

TEST(AuditSuite, ReadsInputsThatAreFiles) {
  const FileReader read = [](const std::string&, const std::string&) {
    return Tensor<double>({1, 2}, {1, 7});
  };
  const auto cases = Cases({"rms_norm N=1 M=2 @x=x.npy#00"});
  const Audit audit = AuditSuite(cases, {.read_file = read});
  EXPECT_THAT(audit.dishonest, IsEmpty());
  EXPECT_THAT(Survivors(audit), Not(Contains("(one element pushed)")));
}

TEST(AuditSuite, ReportsProgress) {
  std::vector<double> seen;
  AuditSuite(Cases({"rms_norm N=1 M=2", "rms_norm N=2 M=1"}),
             {.progress = [&](double done) { seen.push_back(done); }});
  EXPECT_THAT(seen, ElementsAre(0.5, 1));
}

// The committed cases of every operation catch everything.
class AuditOfCases : public testing::TestWithParam<std::string> {};

TEST_P(AuditOfCases, LeavesNoSurvivor) {
  std::vector<Case> cases;
  for (const CaseLine& line : ReadCaseLines("fixtures/cases/" + GetParam() + ".cases")) {
    cases.push_back(Case::Parse(line.text));
    EXPECT_FALSE(line.why.empty()) << line.text << " does not say why it exists";
  }
  const Audit audit = AuditSuite(cases);
  EXPECT_THAT(audit.dishonest, IsEmpty());
  EXPECT_THAT(Survivors(audit), IsEmpty());
  EXPECT_TRUE(audit.Passed());
  EXPECT_EQ(audit.results.size(),
            OracleOf(GetParam()).defects.size() + BlindSpotsOf(GetParam()).size() + 1);
}

std::vector<std::string> AllNames() {
  std::vector<std::string> names;
  for (const auto& operation : AllOperations()) names.emplace_back(operation->info().name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Operations, AuditOfCases, testing::ValuesIn(AllNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace sextant::oracle
