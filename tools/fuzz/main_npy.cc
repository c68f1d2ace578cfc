// An .npy file, as an input of a case and as a tensor of a question.
#include "fixtures/store/digest.h"
#include "fixtures/store/npy.h"
#include "tools/fuzz/input.h"
#include "tools/fuzz/mutated_header.h"

using namespace sextant;

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  const size_t bytes = size > 6 && data[6] == 1 ? 2 : 4;  // by the version
  return fuzz::MutateParts(data, size, most, seed, {.at = 8, .bytes = bytes});
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fuzz::InputFile file("fuzz.npy");
  const std::string_view bytes = fuzz::TextOf(data, size);
  const std::string path = file.With(bytes), digest = fixtures::DigestOf(bytes);
  fuzz::MayRefuse([&] { ValuesOf(fixtures::OpenNpy(path).view); });
  for (const DType dtype : {DType::kF32, DType::kF8E4M3FN})
    fuzz::MayRefuse([&] { fixtures::ReadNpy(path, digest, dtype); });
  return 0;
}
