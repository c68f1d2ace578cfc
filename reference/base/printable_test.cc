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

TEST(Printable, ReplacesCharactersThatReorderOrEndText) {
  for (const char* character :
       {"\u061c", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202b", "\u202c", "\u202d",
        "\u202e", "\u2066", "\u2067", "\u2068", "\u2069"})
    EXPECT_EQ(Printable(character).find_first_not_of('?'), std::string::npos) << character;
  for (const char* other :
       {"\u061b", "\u061d", "\u200d", "\u2010", "\u2027", "\u202f", "\u2065", "\u206a"})
    EXPECT_EQ(Printable(other), other);
}

TEST(Printable, LeavesNoCommandForARunner) {
  EXPECT_EQ(Printable("::error::x"), "| ::error::x");
  EXPECT_EQ(Printable("a\n \t::error::x\nb"), "a\n|  \t::error::x\nb");
  EXPECT_EQ(Printable("\u00a0:\u200d:error::x"), "| \u00a0:\u200d:error::x");
  EXPECT_EQ(Printable("a ::error::x"), "a ::error::x");
  EXPECT_EQ(Printable("a ##[error]x"), "a ?#[error]x");
  EXPECT_EQ(Printable("####vso[x]"), "##?#vso[x]");
  EXPECT_EQ(Printable("#\u200d#[x]"), "?\u200d#[x]");
  EXPECT_EQ(Printable("### heading #1 ##"), "### heading #1 ##");
}

TEST(Marked, LeavesNoLineToOthers) {
  EXPECT_EQ(Marked("one\ntwo\n\n::three\n"), "one\n| two\n\n| ::three\n");
  EXPECT_EQ(Marked(Marked("a\nb")), "a\n| b");
}

TEST(Quoted, GivesOneShortLine) {
  EXPECT_EQ(Quoted("two\nlines"), "'two lines'");
  EXPECT_EQ(Quoted("abcdef", 3), "'abc'...");
  EXPECT_EQ(Quoted(""), "''");
}

TEST(FirstIllFormed, FindsBytesThatAreNoUtf8) {
  EXPECT_EQ(FirstIllFormed("caf\u00e9 \t\x01"), std::string_view::npos);
  EXPECT_EQ(FirstIllFormed("caf\xe9"), 3u);
  EXPECT_EQ(FirstIllFormed("\u00e9\xe9 x"), 2u);
}

}  // namespace
}  // namespace sextant
