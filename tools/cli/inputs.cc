// sextant inputs
#include <iostream>
#include <memory>

#include "reference/base/count_text.h"
#include "reference/base/printable.h"
#include "reference/case/out_of_memory.h"
#include "tools/api/exit_status.h"
#include "tools/cli/cases_to_store.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"

namespace sextant::tools {
namespace {

int Inputs(const StoreOptions& options) {
  const std::vector<Selected> selected = CasesToStore(options);
  const auto file = CreateStore(options, Content::kInputs, selected);
  for (const Selected& s : selected) {
    const Tensors inputs = WithinMemory(s.c, [&] { return DrawInputs(s.c, NpyReader()); });
    file->Append({s.c.ToString(), inputs, {}, {}});
  }
  file->Finish();
  std::cout << Marked(options.output) << ": " << CountText(selected.size(), "case") << "\n";
  return kVerified;
}

}  // namespace

Action BindInputs(CLI::App& app) {
  const auto options = std::make_shared<StoreOptions>();
  AddStoreOptions(app, *options, Content::kInputs);
  return [options] { return Inputs(*options); };
}

}  // namespace sextant::tools
