// Case lines: a file of cases as `sextant check FILE` reads it, and the inputs that small cases
// draw.
#include <cmath>

#include "fixtures/store/npy.h"
#include "reference/case/draw.h"
#include "tools/api/case_file.h"
#include "tools/fuzz/input.h"

namespace {

using namespace sextant;

bool HasSmallInputs(const Case& c) {
  return std::ranges::all_of(c.signature().inputs, [&](const TensorSpec& input) {
    return fuzz::IsSmall(c.ShapeOf(input));
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fuzz::InputFile file("fuzz.cases");
  fuzz::MayRefuse([&] {
    for (const auto& [c, line] : tools::ReadCases(file.With(fuzz::TextOf(data, size)), {})) {
      const std::string text = c.ToString();
      fuzz::Require(Case::Parse(text).ToString() == text);
      if (HasSmallInputs(c)) fuzz::MayRefuse([&c = c] { DrawInputs(c, fixtures::ReadNpy); });
    }
  });
  return 0;
}
