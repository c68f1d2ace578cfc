// sextant golden
#include <algorithm>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <set>

#include "fixtures/store/golden_folder.h"
#include "reference/base/count_text.h"
#include "reference/base/parallel.h"
#include "reference/base/printable.h"
#include "reference/case/out_of_memory.h"
#include "reference/prove/prove.h"
#include "tools/api/exit_status.h"
#include "tools/api/proof_count.h"
#include "tools/api/prove_parts.h"
#include "tools/api/shard.h"
#include "tools/cli/cases_to_store.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"
#include "tools/onnx/onnx_folder.h"
#include "tools/report/progress.h"

namespace sextant::tools {
namespace {

struct GoldenArguments : StoreOptions {
  ProveOptions prove;
  size_t most_elements = std::numeric_limits<size_t>::max();
  double memory = kUsualMemory;  // MiB
  double part_size = -1;         // MiB; 0: one file; -1: not given
  std::string shard;             // empty: all
};

struct Stored {
  ProofCount count;
  size_t cases = 0;
  bool complete = true;  // every case is stored, and every element is proven

  void Add(const ProofCount& of_case) {
    count += of_case;
    complete = complete && of_case.IsComplete();
  }
};

Record ProveNative(const Case& c, const ProveOptions& options) {
  Record record{c.ToString(), DrawInputs(c, NpyReader()), {}, {}};
  record.golden = Prove({c, record.inputs, ParseRecipe("native", c.dtype())}, options);
  return record;
}

// Proves one case and writes it, unless the format cannot hold it.
void StoreGolden(const Case& c, const GoldenArguments& options, const ProveOptions& prove,
                 fixtures::RecordFile& file, Stored& all) {
  std::string why = file.WhyNot(c);
  if (why.empty()) {
    ProofCount count;
    WithinMemory(c, [&] {
      if (fixtures::Writer* const writer = file.InParts()) {
        count = WriteProven(PartByPart(c), {}, ElementsIn(options.memory), prove, *writer);
      } else {
        const Record record = ProveNative(c, prove);
        why = file.Append(record);
        count = CountProofs(record.golden);
      }
    });
    if (why.empty()) {
      all.Add(count);
      ++all.cases;
      return;
    }
  }
  std::cout << "skipped " << c.ToString() << "\n  " << why << "\n";
  all.complete = false;
}

// `parts`: of a folder; `others`: of which elements were proven before.
int Conclude(const GoldenArguments& options, const Stored& all, size_t skipped,
             const std::string& parts = "", bool others = false) {
  const ProofCount& count = all.count;
  std::cout << Marked(options.output) << ": " << CountText(all.cases, "case")
            << (parts.empty() ? "" : " in " + parts) << ", " << CountText(count.proven, "element")
            << " proven";
  if (count.enclosed > 0) std::cout << ", " << count.enclosed << " only enclosed (radius stored)";
  if (count.unspecified > 0) std::cout << ", " << count.unspecified << " unspecified";
  if (skipped > 0) std::cout << "; " << CountText(skipped, "case") << " skipped";
  std::cout << "\n";
  if (count.elements() == 0 && !others) return NothingToDo(kNoElement);
  return all.complete ? kVerified : kIncomplete;
}

int GoldenFile(const GoldenArguments& options, const std::vector<Selected>& selected) {
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
      StoreGolden(s.c, options, prove, *file, all);
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
  return Conclude(options, all, done - all.cases);
}

// Output elements of a part of that size: with high, low, permitted, and the inputs about 32 bytes
// each.
size_t PartElements(const GoldenArguments& options) {
  constexpr double kBytesOfElement = 32;
  if (options.part_size <= 0) return fixtures::kUsualPart;
  return static_cast<size_t>(std::max(1.0, options.part_size * 0x1p20 / kBytesOfElement));
}

// The parts of a folder that this process proves, unless they are there.
int GoldenFolder(const GoldenArguments& options, const std::vector<Selected>& selected) {
  using fixtures::GoldenFolder;
  std::vector<Case> cases;
  for (const Selected& s : selected) cases.push_back(s.c);
  const fixtures::GoldenPlan plan(std::move(cases), PartElements(options));
  const Shard shard = ShardOf(options.shard);
  GoldenFolder folder(options.output, plan,
                      shard.IsAll() ? GoldenFolder::Use::kAlone : GoldenFolder::Use::kShared);
  std::vector<double> costs;
  for (const fixtures::PlannedPart& part : plan.parts) costs.push_back(part.cost);
  const std::vector<size_t> dealt = DealtTo(costs, shard.count);
  std::vector<size_t> own;
  for (size_t p = 0; p < plan.parts.size(); ++p)
    if (dealt[p] == shard.index) own.push_back(p);
  std::vector<GoldenFolder::State> states(own.size());
  {
    // Child processes read the files: this one must not write HDF5 at the same time.
    InParallel(own.size(), options.prove.threads,
               [&](size_t i) { states[i] = folder.StateOf(own[i]); });
  }
  Stored all;
  std::set<size_t> stored;  // cases
  size_t kept = 0;
  {
    Progress progress("proving");
    std::optional<PartByPart> current;
    size_t of_current = 0;
    for (size_t i = 0; i < own.size(); ++i) {
      const fixtures::PlannedPart& part = plan.parts[own[i]];
      ProveOptions prove = options.prove;
      prove.progress = [&](double done) {
        progress((static_cast<double>(i) + done) / static_cast<double>(own.size()));
      };
      for (const auto& [index, slice] : part.cases) stored.insert(index);
      if (states[i] != GoldenFolder::State::kMissing) {
        ++kept;
        all.complete = all.complete && states[i] == GoldenFolder::State::kProven;
        continue;
      }
      fixtures::Writer writer(folder.PathOf(own[i]));
      for (const auto& [index, slice] : part.cases) {
        all.Add(WithinMemory(plan.cases[index], [&, index = index, &slice = slice] {
          if (!current || of_current != index) current.emplace(plan.cases[index]);
          of_current = index;
          return WriteProven(*current, slice, ElementsIn(options.memory), prove, writer);
        }));
      }
      writer.Finish();
    }
  }
  all.cases = stored.size();
  std::string parts = CountText(own.size(), "part");
  if (kept > 0) parts += ", of which " + std::to_string(kept) + " were there";
  const size_t missing = folder.CountMissing();
  if (missing == 0) folder.Finish();
  if (missing > 0)
    parts += "; " + CountText(missing, "part") + " of other shards are not there yet";
  return Conclude(options, all, 0, parts, kept > 0);
}

constexpr double kLargeFile = 0x1p32;  // 4 GiB: from here on a golden is a folder

bool IsForFolder(const GoldenArguments& options, const std::vector<Selected>& selected) {
  if (options.part_size > 0 || options.output.ends_with('/') ||
      fixtures::IsGoldenFolder(options.output))
    return true;
  const bool is_hdf5 = !IsOnnxFolder(options.output) && !options.output.ends_with(".npz") &&
                       !options.output.ends_with(".safetensors");
  if (!is_hdf5 || options.part_size == 0 || SizeToStore(selected, Content::kGolden) < kLargeFile)
    return false;
  std::cerr << "sextant: " << Marked(options.output)
            << " will be a folder of parts, because they have more than 4 GiB (--part-size 0: one "
               "file)\n";
  return true;
}

int Golden(const GoldenArguments& options) {
  std::vector<Selected> selected = CasesToStore(options);
  std::erase_if(selected,
                [&](const Selected& s) { return ElementsOf(s.c) > options.most_elements; });
  if (selected.empty()) return NothingToDo("every case has more elements than --most-elements");
  NoteShard(options.shard);
  if (IsForFolder(options, selected)) return GoldenFolder(options, selected);
  if (!options.shard.empty())
    throw Error("--shard: the parts of one file cannot be written by several processes; ",
                "--output FOLDER/ writes a folder of parts");
  return GoldenFile(options, selected);
}

}  // namespace

Action BindGolden(CLI::App& app) {
  const auto options = std::make_shared<GoldenArguments>();
  AddStoreOptions(app, *options, Content::kGolden);
  AddOption(app, "--most-elements", options->most_elements,
            "leave out cases whose tensors have more elements in all", {});
  AddOption(app, "--part-size", options->part_size,
            "MiB of a part of a folder, which --output FOLDER/ writes, too; from 4 GiB on the "
            "output is such a folder, with 0 one file",
            {.least = 0});
  AddMemory(app, options->memory);
  AddShard(app, options->shard);
  AddProof(app, options->prove);
  return [options] { return Golden(*options); };
}

}  // namespace sextant::tools
