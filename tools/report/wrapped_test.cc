#include "tools/report/wrapped.h"

#include <gtest/gtest.h>

namespace sextant::tools {
namespace {

TEST(Wrapped, BreaksAtSpaces) {
  EXPECT_EQ(Wrapped("aaaa bbbb\n", 9), "aaaa bbbb\n");
  EXPECT_EQ(Wrapped("aaaa bbbb\n", 8), "aaaa\n    bbbb\n");
  EXPECT_EQ(Wrapped("  aa bb cc dd", 10), "  aa bb cc\n      dd");
  EXPECT_EQ(Wrapped("aaaaaaaaaaaa bb", 4), "aaaaaaaaaaaa\n    bb");  // a word stays whole
  EXPECT_EQ(Wrapped("äöü äöü", 7), "äöü äöü");
  EXPECT_EQ(Wrapped("aaaaaaaa cc dd\n", 9), "aaaaaaaa\n    cc dd\n");  // which fits exactly
  EXPECT_EQ(Wrapped("", 4), "");
}

// A shell reads it as one command with the same arguments.
TEST(Wrapped, CommandsStayCommands) {
  EXPECT_EQ(Wrapped("repeat: run 'a b' --c", 15), "repeat: run \\\n    'a b' --c");
  EXPECT_EQ(Wrapped("repeat: run 'aaaa bb' --c", 20), "repeat: run \\\n    'aaaa bb' --c");
}

TEST(Wrapped, JsonStaysAsItIs) { EXPECT_EQ(Wrapped(R"({"a b": "c d"})", 4), R"({"a b": "c d"})"); }

}  // namespace
}  // namespace sextant::tools
