#include "reference/base/printable.h"

#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(Printable, KeepsTextLinesAndTabs) {
  EXPECT_EQ(Printable("a b\n\tc~ \u00e4\u20ac\U0001F600"), "a b\n\tc~ \u00e4\u20ac\U0001F600");
}

TEST(Printable, ReplacesControlCharacters) {
  EXPECT_EQ(Printable("\x1b[31mred\x7f\r"), "?[31mred??");
  EXPECT_EQ(Printable(std::string_view("\0", 1)), "?");
  EXPECT_EQ(Printable("\xc2\x9b"), "??");  // U+009B starts an escape sequence
}

TEST(Printable, ReplacesIllFormedBytesOneByOne) {
  EXPECT_EQ(Printable("\xff"), "?");
  EXPECT_EQ(Printable("\x80z"), "?z");               // a continuation without a lead
  EXPECT_EQ(Printable("\xe2\x82"), "??");            // cut off
  EXPECT_EQ(Printable("\xe2z\x82"), "?z?");          // interrupted
  EXPECT_EQ(Printable("\xc0\xaf"), "??");            // overlong '/'
  EXPECT_EQ(Printable("\xe0\x80\xaf"), "???");       // overlong '/'
  EXPECT_EQ(Printable("\xf0\x80\x80\xaf"), "????");  // overlong '/'
  EXPECT_EQ(Printable("\xed\xa0\x80"), "???");       // a surrogate
  EXPECT_EQ(Printable("\xf4\x90\x80\x80"), "????");  // beyond U+10FFFF
  EXPECT_EQ(Printable("\xef\xbf\xbf"), "???");       // U+FFFF
}

TEST(Quoted, GivesOneShortLine) {
  EXPECT_EQ(Quoted("two\nlines"), "'two lines'");
  EXPECT_EQ(Quoted("abcdef", 3), "'abc'...");
  EXPECT_EQ(Quoted(""), "''");
}

}  // namespace
}  // namespace sextant
