#include "tools/api/shell_quoted.h"

#include <gtest/gtest.h>

namespace sextant::tools {
namespace {

TEST(PrintableWord, IsOneLineThatTheShellReadsBack) {
  EXPECT_EQ(PrintableWord("it's \u00e9"), "'it'\\''s \u00e9'");
  EXPECT_EQ(PrintableWord("a'\n\x1b[2J\\"), "$'a\\047\\012\\033[2J\\134'");
  EXPECT_EQ(PrintableWord("\u202e"), "$'\\342\\200\\256'");
  EXPECT_EQ(PrintableWord("##[error]"), "$'\\043\\043[error]'");
}

}  // namespace
}  // namespace sextant::tools
