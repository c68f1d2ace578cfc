// Makes everything that a stream prints Printable: names, messages and errors of others.
#pragma once

#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace sextant::tools {

// An escape sequence of ours, the only one that a PrintableStream lets through. Empty: no colour.
struct Color {
  std::string_view code{};
};
std::ostream& operator<<(std::ostream& out, const Color& color);

// While it lives, the stream writes lines, each when it is complete, and all of them Printable.
class PrintableStream : public std::streambuf {
 public:
  // `width`: the columns of a terminal (wrapped.h); 0: lines of any length.
  explicit PrintableStream(std::ostream& stream, size_t width = 0);
  ~PrintableStream() override;  // writes the last line, also without an end
  PrintableStream(const PrintableStream&) = delete;
  PrintableStream& operator=(const PrintableStream&) = delete;
  void Add(const Color& color);

 protected:
  int_type overflow(int_type byte) override;
  std::streamsize xsputn(const char* bytes, std::streamsize count) override;
  int sync() override;

 private:
  void Finish();  // makes what was added of the line printable
  bool WriteLine();

  std::ostream& stream_;
  const size_t width_;
  std::streambuf* const to_;
  std::string line_, added_;  // the start of the line, printable; what was added since
};

}  // namespace sextant::tools
