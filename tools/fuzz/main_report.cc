// Reports of `sextant check`: the JSON Lines of a share, which `sextant merge` reads, and a JSON
// report, which tells `sextant audit-suite` what was judged.
#include "tools/cli/supported.h"
#include "tools/fuzz/input.h"
#include "tools/report/merged_report.h"

using namespace sextant;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fuzz::InputFile file("fuzz.json");
  static const std::vector<Case> cases = {Case::Parse("softmax N=1 M=3")};
  const std::string path = file.With(fuzz::TextOf(data, size));
  fuzz::MayRefuse([&] { tools::MergedReport({path}).Status(); });
  fuzz::MayRefuse([&] { tools::JudgedCasesOf(path, cases); });
  return 0;
}
