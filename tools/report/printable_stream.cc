#include "tools/report/printable_stream.h"

#include <utility>

#include "reference/base/printable.h"
#include "tools/report/wrapped.h"

namespace sextant::tools {

std::ostream& operator<<(std::ostream& out, const Color& color) {
  auto* const printable = dynamic_cast<PrintableStream*>(out.rdbuf());
  if (!printable) return out << color.code;
  printable->Add(color);
  return out;
}

PrintableStream::PrintableStream(std::ostream& stream, size_t width)
    : stream_(stream), width_(width), to_(stream.rdbuf(this)) {}

PrintableStream::~PrintableStream() {
  WriteLine();
  stream_.rdbuf(to_);
}

void PrintableStream::Add(const Color& color) {
  Finish();
  line_ += color.code;
}

void PrintableStream::Finish() { line_ += Printable(std::exchange(added_, {})); }

bool PrintableStream::WriteLine() {
  Finish();
  std::string line = std::exchange(line_, {});
  if (width_ > 0) line = Wrapped(line, width_);
  const auto size = static_cast<std::streamsize>(line.size());
  return to_->sputn(line.data(), size) == size;
}

PrintableStream::int_type PrintableStream::overflow(int_type byte) {
  const char c = traits_type::to_char_type(byte);
  return xsputn(&c, 1) == 1 ? traits_type::not_eof(byte) : traits_type::eof();
}

std::streamsize PrintableStream::xsputn(const char* bytes, std::streamsize count) {
  std::string_view text(bytes, static_cast<size_t>(count));
  for (size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
    added_ += text.substr(0, end + 1);
    if (!WriteLine()) return 0;
  }
  added_ += text;
  return count;
}

int PrintableStream::sync() { return to_->pubsync(); }

}  // namespace sextant::tools
