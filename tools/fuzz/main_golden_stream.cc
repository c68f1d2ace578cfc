// What the child process that reads an HDF5 file sends to its parent, which does not trust it: an
// input is the bytes of the pipe. If the first byte is 0, the rest is the content of one piece.
#include "fixtures/store/compare.h"
#include "fixtures/store/integrity.h"
#include "fixtures/store/pairing.h"
#include "fixtures/store/reader.h"
#include "tools/fuzz/input.h"

namespace sextant::fixtures {
namespace {

std::string_view sent;

}  // namespace

// The linker takes it instead of the library's.
void ReadInChild(const std::string&, const Limits&, const std::function<void(Sink&)>&,
                 const std::function<void(Source&)>& receive) {
  std::string_view left = sent;
  Source source([&left](std::span<std::byte> bytes) {
    if (left.size() < bytes.size()) throw Error("reading it ended too early");
    left.copy(reinterpret_cast<char*>(bytes.data()), bytes.size());
    left.remove_prefix(bytes.size());
  });
  receive(source);
}

}  // namespace sextant::fixtures

namespace {

using namespace sextant;

std::string InOnePiece(std::string_view content) {
  const uint32_t header[] = {1, static_cast<uint32_t>(content.size())};  // data
  return std::string(reinterpret_cast<const char*>(header), sizeof header) + std::string(content);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes = fuzz::TextOf(data + 1, size - 1);
  const std::string piece = InOnePiece(bytes);
  fixtures::sent = data[0] == 0 ? piece : bytes;
  static const fuzz::InputFile file("fuzz.h5");
  const std::string path = file.With("elements that stay in the file");
  const fixtures::ReadLimits limits{.elements = fuzz::kMostElements};
  fuzz::MayRefuse([&] { fixtures::ReadRecords(path, limits); });
  fuzz::MayRefuse([&] { fixtures::ReadLargeRecords(path, limits); });
  fuzz::MayRefuse([&] { fixtures::ReadDataset(path, "x", limits); });
  fuzz::MayRefuse([&] { fixtures::CheckDigests(path); });
  fuzz::MayRefuse([&] { fixtures::ReadFileTexts(path); });
  fuzz::MayRefuse([&] { fixtures::Compare(path, path); });
  return 0;
}
