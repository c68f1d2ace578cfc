// sextant golden
#include <iostream>
#include <limits>
#include <memory>

#include "reference/base/count_text.h"
#include "reference/base/printable.h"
#include "reference/case/out_of_memory.h"
#include "reference/prove/prove.h"
#include "tools/api/exit_status.h"
#include "tools/api/proof_count.h"
#include "tools/cli/cases_to_store.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"
#include "tools/report/progress.h"

namespace sextant::tools {
namespace {

struct GoldenArguments : StoreOptions {
  ProveOptions prove;
  size_t most_elements = std::numeric_limits<size_t>::max();
};

struct Stored {
  ProofCount count;
  size_t cases = 0;
  bool complete = true;  // every case is stored, and every element is proven
};

Record ProveNative(const Case& c, const ProveOptions& options) {
  Record record{c.ToString(), DrawInputs(c, NpyReader()), {}, {}};
  record.golden = Prove({c, record.inputs, ParseRecipe("native", c.dtype())}, options);
  return record;
}

// Proves one case and writes it, unless the format cannot hold it.
void StoreGolden(const Case& c, const ProveOptions& options, fixtures::RecordFile& file,
                 Stored& all) {
  std::string why = file.WhyNot(c);
  if (why.empty()) {
    const Record record = WithinMemory(c, [&] { return ProveNative(c, options); });
    why = file.Append(record);
    if (why.empty()) {
      const ProofCount count = CountProofs(record.golden);
      all.count.proven += count.proven;
      all.count.enclosed += count.enclosed;
      all.count.unspecified += count.unspecified;
      all.complete = all.complete && count.IsComplete();
      ++all.cases;
      return;
    }
  }
  std::cout << "skipped " << c.ToString() << "\n  " << why << "\n";
  all.complete = false;
}

int Golden(const GoldenArguments& options) {
  std::vector<Selected> selected = CasesToStore(options);
  std::erase_if(selected,
                [&](const Selected& s) { return ElementsOf(s.c) > options.most_elements; });
  if (selected.empty()) return NothingToDo("every case has more elements than --most-elements");
  const auto file = CreateStore(options, Content::kGolden, selected);
  Stored all;
  size_t done = 0;
  {
    Progress progress("proving");
    for (const Selected& s : selected) {
      ProveOptions prove = options.prove;
      prove.progress = [&](double p) {
        progress((static_cast<double>(done) + p) / static_cast<double>(selected.size()));
      };
      StoreGolden(s.c, prove, *file, all);
      prove.progress(1);
      ++done;
    }
  }
  if (all.cases == 0) {
    std::cerr << "sextant: " << Marked(options.output)
              << " is not written: it can hold none of the cases\n";
    return kIncomplete;
  }
  file->Finish();
  const ProofCount& count = all.count;
  std::cout << Marked(options.output) << ": " << CountText(all.cases, "case") << ", "
            << CountText(count.proven, "element") << " proven";
  if (count.enclosed > 0) std::cout << ", " << count.enclosed << " only enclosed (radius stored)";
  if (count.unspecified > 0) std::cout << ", " << count.unspecified << " unspecified";
  if (done > all.cases) std::cout << "; " << CountText(done - all.cases, "case") << " skipped";
  std::cout << "\n";
  if (count.elements() == 0) return NothingToDo(kNoElement);
  return all.complete ? kVerified : kIncomplete;
}

}  // namespace

Action BindGolden(CLI::App& app) {
  const auto options = std::make_shared<GoldenArguments>();
  AddStoreOptions(app, *options, Content::kGolden);
  AddOption(app, "--most-elements", options->most_elements,
            "leave out cases whose tensors have more elements in all", {});
  AddProof(app, options->prove);
  return [options] { return Golden(*options); };
}

}  // namespace sextant::tools
