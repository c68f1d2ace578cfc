// A safetensors file, as `sextant judge` reads it.
#include "fixtures/store/tensor_file.h"
#include "reference/number/tensor/safetensors.h"
#include "tools/fuzz/input.h"
#include "tools/fuzz/mutated_header.h"

using namespace sextant;

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return fuzz::MutateParts(data, size, most, seed, {.at = 0, .bytes = kPrefixSize});
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fuzz::InputFile file("fuzz.safetensors");
  const std::string path = file.With(fuzz::TextOf(data, size));
  fuzz::MayRefuse([&] {
    for (const std::string& name : fixtures::NamesInSafetensors(path)) {
      fuzz::MayRefuse([&] {
        const fixtures::FileTensor tensor = fixtures::ReadTensor(path + ":" + name);
        ValuesOf(tensor.view);
      });
    }
  });
  return 0;
}
