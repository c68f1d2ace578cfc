#include "tools/report/printable_stream.h"

#include <gtest/gtest.h>

#include <sstream>

namespace sextant::tools {
namespace {

TEST(PrintableStream, CleansLinesHoweverTheyArePrinted) {
  std::ostringstream out;
  {
    const PrintableStream printable(out);
    out << ":" << std::flush;
    EXPECT_EQ(out.str(), "");
    out << ':' << "error"
        << "::x\n \xe2"
        << "\x80"
        << "\xae" << 7 << "\n";
    EXPECT_EQ(out.str(), "| ::error::x\n ???7\n");
    out << "no end\x1b";
  }
  EXPECT_EQ(out.str(), "| ::error::x\n ???7\nno end?");
  out << "\x1b";
  EXPECT_EQ(out.str().back(), '\x1b');
}

TEST(PrintableStream, LetsOnlyColorsOfOursThrough) {
  std::ostringstream out, plain;
  {
    const PrintableStream printable(out);
    out << Color{"\033[31m"} << "red\033[32m" << Color{"\033[0m"} << "\n";
  }
  EXPECT_EQ(out.str(), "\033[31mred?[32m\033[0m\n");
  plain << Color{"\033[31m"} << Color{};
  EXPECT_EQ(plain.str(), "\033[31m");
}

// As a closed pipe or a full disk.
TEST(PrintableStream, PassesErrorsOn) {
  class : public std::streambuf {
  } full;
  std::ostream out(&full);
  const PrintableStream printable(out);
  EXPECT_TRUE(out << "a line that waits for its end");
  EXPECT_FALSE(out << "\n");
}

}  // namespace
}  // namespace sextant::tools
