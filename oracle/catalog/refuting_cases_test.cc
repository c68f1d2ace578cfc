#include "oracle/catalog/refuting_cases.h"

#include <gtest/gtest.h>

namespace sextant::oracle {
namespace {

std::vector<Case> CasesOf(std::initializer_list<const char*> lines) {
  std::vector<Case> cases;
  for (const char* line : lines) cases.push_back(Case::Parse(line));
  return cases;
}

TEST(RefutingCases, AreThoseThatWouldFailByTheDefect) {
  const auto cases = CasesOf({"rope pairing=half H=1 D=4 S=3", "rope pairing=half H=1 D=4 S=1",
                              "rope pairing=interleaved H=1 D=8 S=9 dtype=bf16"});
  EXPECT_EQ(CountRefuting("rope", "position_zero", cases, "native"), 2) << "S=1 is position 0";
  EXPECT_EQ(CountRefuting("rope", "pairing=interleaved", cases, "native"), 1)
      << "one case has this pairing, and one the position 0";
  EXPECT_EQ(CountRefuting("rope", "no_such_defect", cases, "native"), 0);
}

TEST(RefutingCases, LargeCasesAndFilesAreNotAsked) {
  EXPECT_EQ(
      CountRefuting("rope", "position_zero",
                    CasesOf({"rope pairing=half H=1 D=64 S=4096",
                             "rope pairing=half H=1 D=4 S=3 @x=none.npy#"
                             "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}),
                    "native"),
      0);
}

}  // namespace
}  // namespace sextant::oracle
