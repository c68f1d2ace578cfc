// A model's config.json: the facts in it, the lines that they complete, and a list of numbers.
#include "fixtures/config/named_list.h"
#include "reference/case/case.h"
#include "reference/case/operations.h"
#include "tools/api/completed_line.h"
#include "tools/fuzz/input.h"

using namespace sextant;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fuzz::InputFile file("fuzz.json");
  static const std::vector<std::string> operations = OperationNames();
  const std::string path = file.With(fuzz::TextOf(data, size));
  for (const char* part : {"", "vision_config"}) {
    fuzz::MayRefuse([&] {
      const fixtures::Model model = fixtures::ReadConfig(path, part);
      for (const fixtures::ModelLayers& kind : model.kinds) {
        if (!kind.facts.contains("scaling")) continue;
        fuzz::MayRefuse([&] { fixtures::ScalingAt(kind, 1 << 20); });
      }
      for (const std::string& operation : operations) {
        for (const char* layer : {"", "0"}) {
          fuzz::MayRefuse([&] {
            const auto line = tools::CompleteToCompare(operation, {path, part, layer}).line;
            Case::Parse(line);
          });
        }
      }
    });
  }
  const std::string name = path.substr(0, path.rfind(".json"));
  fuzz::MayRefuse([&] { fixtures::WithListsForNames("x=@" + name + ".short_factor", {""}); });
  return 0;
}
