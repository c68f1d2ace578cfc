// A file of expectations, and what it says of cases.
#include "reference/case/case.h"
#include "tools/api/expectations.h"
#include "tools/fuzz/input.h"

namespace {

using namespace sextant;

const std::vector<Case>& Cases() {
  static const std::vector<Case> kCases = {Case::Parse("rope pairing=half H=1 S=2 D=4"),
                                           Case::Parse("softmax N=1 M=3 dtype=bf16"),
                                           Case::Parse("cast overflow=inf N=2 M=2 dtype=f16")};
  return kCases;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace std::chrono;
  fuzz::MayRefuse([&] {
    const auto known = tools::Expectations::Parse(fuzz::TextOf(data, size), "known.toml",
                                                  sys_days(2027y / June / 30));
    std::vector<std::string> lines;
    for (const Case& c : Cases()) {
      lines.push_back(c.ToString());
      fuzz::MayRefuse([&] { known.RequireNames(c); });
      for (const auto outcome : {tools::Outcome::kConforms, tools::Outcome::kFails}) {
        const tools::Expectation* entry = known.For(lines.back(), outcome);
        if (entry) tools::Contradiction(*entry, outcome);
      }
    }
    known.StaleEntries(lines);
  });
  return 0;
}
