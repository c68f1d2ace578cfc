// The index of a golden in parts, without the parts.
#include "fixtures/store/golden_folder.h"
#include "tools/fuzz/input.h"

using namespace sextant;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fuzz::InputFile file("golden/index.json");
  const std::filesystem::path path = file.With(fuzz::TextOf(data, size));
  const std::string folder = path.parent_path().string();
  fuzz::Require(fixtures::IsGoldenFolder(folder));
  fuzz::MayRefuse([&] { fixtures::CasesOfFolder(folder); });
  fuzz::MayRefuse([&] { fixtures::PartsOfFolder(folder); });
  return 0;
}
