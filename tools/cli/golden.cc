// sextant golden
#include <iostream>
#include <memory>

#include "fixtures/store/writer.h"
#include "reference/base/count_text.h"
#include "reference/case/memory.h"
#include "reference/prove/prove.h"
#include "tools/api/exit_status.h"
#include "tools/api/proof_count.h"
#include "tools/cli/cases_to_store.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"
#include "tools/report/progress.h"

namespace sextant::tools {
namespace {

struct Options : StoreOptions {
  int threads = 0;
};

Record ProveNative(const Case& c, int threads, const std::function<void(double)>& progress) {
  Record record{c.ToString(), DrawInputs(c, NpyReader()), {}, {}};
  record.golden = Prove(c, record.inputs, ParseRecipe("native", c.dtype()),
                        {.threads = threads, .progress = progress});
  return record;
}

int Golden(const Options& options) {
  const std::vector<Selected> selected = CasesToStore(options);
  if (selected.empty()) return NothingToDo(kNoCase);
  fixtures::Writer writer(options.output);
  size_t done = 0;
  ProofCount all;
  bool complete = true;
  {
    Progress progress("proving");
    for (const Selected& s : selected) {
      const auto part = [&](double p) {
        progress((static_cast<double>(done) + p) / static_cast<double>(selected.size()));
      };
      const Record record =
          WithinMemory(s.c, [&] { return ProveNative(s.c, options.threads, part); });
      const ProofCount count = CountProofs(record.golden);
      all.proven += count.proven;
      all.enclosed += count.enclosed;
      all.unspecified += count.unspecified;
      complete = complete && count.IsComplete();
      writer.Append(record);
      part(1);
      ++done;
    }
  }
  writer.Finish();
  std::cout << options.output << ": " << CountText(selected.size(), "case") << ", "
            << CountText(all.proven, "element") << " proven";
  if (all.enclosed > 0) std::cout << ", " << all.enclosed << " only enclosed (radius stored)";
  if (all.unspecified > 0) std::cout << ", " << all.unspecified << " unspecified";
  std::cout << "\n";
  if (all.elements() == 0) return NothingToDo(kNoElement);
  return complete ? kVerified : kIncomplete;
}

}  // namespace

Action BindGolden(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  AddStoreOptions(app, *options);
  AddThreads(app, options->threads);
  return [options] { return Golden(*options); };
}

}  // namespace sextant::tools
