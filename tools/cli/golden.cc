// sextant golden
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <thread>

#include "fixtures/store/golden_folder.h"
#include "reference/base/count_text.h"
#include "reference/base/parallel.h"
#include "reference/base/printable.h"
#include "reference/case/out_of_memory.h"
#include "reference/prove/case_slices.h"
#include "reference/prove/prove.h"
#include "tools/api/exit_status.h"
#include "tools/api/memory_of_case.h"
#include "tools/api/proof_count.h"
#include "tools/api/prove_parts.h"
#include "tools/api/shard.h"
#include "tools/api/team.h"
#include "tools/cli/cases_to_store.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"
#include "tools/onnx/onnx_folder.h"
#include "tools/report/progress.h"
#include "tools/report/short_number.h"

namespace sextant::tools {
namespace {

struct GoldenArguments : StoreOptions {
  ProveOptions prove;
  size_t most_elements = std::numeric_limits<size_t>::max();
  double memory = 0;      // MiB; 0: the usual
  double part_size = -1;  // MiB; 0: one file; -1: not given
  std::string shard;      // empty: all
  bool plan = false;
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
            << (others ? " proven now" : " proven");
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
class FolderWriting {
 public:
  FolderWriting(const GoldenArguments& options, const std::vector<Selected>& selected, Team& team)
      : options_(options),
        team_(team),
        plan_(CasesOf(selected), PartElements(options)),
        shard_(ShardOf(options.shard)) {
    using Use = fixtures::GoldenFolder::Use;
    if (team.size() > 1 && !options.shard.empty())
      throw Error("--shard: the processes are the shards");
    if (team.rank() > 0) team.Wait();  // for the first process, which locks the folder
    folder_.emplace(options.output, plan_,
                    team.rank() > 0  ? Use::kOfOther
                    : shard_.IsAll() ? Use::kAlone
                                     : Use::kShared);
    if (team.rank() == 0) team.Wait();
    std::vector<double> costs;
    for (const fixtures::PlannedPart& part : plan_.parts) costs.push_back(part.cost);
    const std::vector<size_t> dealt = DealtTo(costs, shard_.count);
    for (size_t p = 0; p < plan_.parts.size(); ++p)
      if (dealt[p] == shard_.index) own_.push_back(p);
    // Several processes take the largest parts first.
    if (team.size() > 1)
      std::ranges::stable_sort(own_, std::greater(), [&](size_t p) { return costs[p]; });
  }

  int Write() {
    ReadStates();
    {
      Progress progress("proving");
      size_t done = 0;
      while (const auto next = team_.Next(own_.size())) {
        const auto report = [&](double of_part) {
          progress((static_cast<double>(done) + of_part) / static_cast<double>(own_.size()));
        };
        WritePart(*next, report);
        done = *next + 1;
      }
    }
    const ProofCount& own = all_.count;
    const std::vector<size_t> sums =
        team_.Sum({own.proven, own.enclosed, own.unspecified, kept_, size_t{!all_.complete}});
    all_.count = {sums[0], sums[1], sums[2]};
    kept_ = sums[3];
    all_.complete = sums[4] == 0;
    team_.Wait();
    return team_.rank() == 0 ? Finish() : kVerified;
  }

 private:
  using State = fixtures::GoldenFolder::State;

  static std::vector<Case> CasesOf(const std::vector<Selected>& selected) {
    std::vector<Case> cases;
    for (const Selected& s : selected) cases.push_back(s.c);
    return cases;
  }

  // Child processes read the files: this one must not write HDF5 at the same time.
  void ReadStates() {
    states_.resize(own_.size());
    InParallel(own_.size(), options_.prove.threads, [&](size_t i) {
      if (i % team_.size() == team_.rank()) states_[i] = folder_->StateOf(own_[i]);
    });
    for (const auto& state : states_) {
      if (!state || *state == State::kMissing) continue;
      ++kept_;
      all_.complete = all_.complete && *state == State::kProven;
    }
  }

  void WritePart(size_t i, const std::function<void(double)>& report) {
    const State state = states_[i] ? *states_[i] : folder_->StateOf(own_[i]);
    if (state != State::kMissing) return;
    const fixtures::PlannedPart& part = plan_.parts[own_[i]];
    ProveOptions prove = options_.prove;
    prove.progress = report;
    fixtures::Writer writer(folder_->PathOf(own_[i]));
    for (const auto& [index, slice] : part.cases) {
      all_.Add(WithinMemory(plan_.cases[index], [&, index = index, &slice = slice] {
        if (!current_ || current_index_ != index) current_.emplace(plan_.cases[index]);
        current_index_ = index;
        return WriteProven(*current_, slice, ElementsIn(options_.memory), prove, writer);
      }));
    }
    writer.Finish();
  }

  int Finish() {
    std::set<size_t> cases;
    for (const size_t p : own_)
      for (const auto& [index, slice] : plan_.parts[p].cases) cases.insert(index);
    all_.cases = cases.size();
    std::string parts = CountText(own_.size(), "part");
    if (kept_ > 0) parts += " (" + std::to_string(kept_) + " there before)";
    const size_t missing = folder_->CountMissing();
    if (missing == 0) folder_->Finish();
    if (missing > 0) parts += "; not there yet: " + CountText(missing, "part") + " of other shards";
    return Conclude(options_, all_, 0, parts, kept_ > 0);
  }

  const GoldenArguments& options_;
  Team& team_;
  const fixtures::GoldenPlan plan_;
  const Shard shard_;
  std::optional<fixtures::GoldenFolder> folder_;
  std::vector<size_t> own_;  // parts of this shard
  std::vector<std::optional<State>> states_;
  std::optional<PartByPart> current_;
  size_t current_index_ = 0, kept_ = 0;
  Stored all_;
};

// The seconds that all slices of a case take, by a sample of it: a part in the middle, larger and
// larger until it takes long enough to be measured and has slices for all cores. Empty if the case
// cannot be cut.
std::optional<double> PredictedSeconds(const Case& c, const GoldenArguments& options) {
  using Clock = std::chrono::steady_clock;
  constexpr double kEnough = 0.5, kLong = 20;  // seconds
  const size_t of_cores = 4 * std::max(1U, std::thread::hardware_concurrency()) * SliceElements(c);
  if (!Halve(c, {})) return std::nullopt;
  const PartByPart of_case(c);
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("sextant-plan-" + std::to_string(getpid()) + ".h5"))
                               .string();
  for (size_t elements = size_t{1} << 13;; elements *= 4) {
    const CaseCut parts = PartsOf(c, elements);
    const Slice sample = parts[parts.size() / 2];
    const auto begin = Clock::now();
    {
      fixtures::Writer writer(path);  // without Finish nothing remains
      WriteProven(of_case, sample, ElementsIn(options.memory), options.prove, writer);
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if ((seconds >= kEnough && elements >= of_cores) || seconds >= kLong || parts.size() == 1 ||
        elements >= PartElements(options))
      return seconds * PredictedCost(c) / PredictedCost(c, sample);
  }
}

int Plan(const GoldenArguments& options, const std::vector<Selected>& selected) {
  std::vector<Case> cases;
  double seconds = 0;
  for (const Selected& s : selected) {
    cases.push_back(s.c);
    const std::optional<double> own = PredictedSeconds(s.c, options);
    if (own)
      seconds += *own;
    else
      std::cout << "no time is known of a case that cannot be cut: " << s.c.ToString() << "\n";
  }
  const fixtures::GoldenPlan plan(std::move(cases), PartElements(options));
  const double bytes = SizeToStore(selected, Content::kGolden);
  std::cout << CountText(selected.size(), "case") << " in " << CountText(plan.parts.size(), "part")
            << ", about " << ShortNumber(bytes / 0x1p30) << " GiB; about "
            << ShortNumber(seconds / 3600) << " hours on this machine\n";
  return kVerified;
}

constexpr double kLargeFile = 0x1p32;  // 4 GiB: from here on a golden is a folder

bool IsHdf5Output(const GoldenArguments& options) {
  return !IsOnnxFolder(options.output) && !options.output.ends_with(".npz") &&
         !options.output.ends_with(".safetensors");
}

bool IsForFolder(const GoldenArguments& options, const std::vector<Selected>& selected) {
  const bool is_hdf5 = IsHdf5Output(options);
  if (!is_hdf5 && options.part_size > 0)
    throw Error("--part-size: ", options.output, " cannot have parts, expected HDF5");
  if (!is_hdf5) return false;
  if (options.part_size > 0 || options.output.ends_with('/') ||
      fixtures::IsGoldenFolder(options.output))
    return true;
  if (options.part_size == 0 || SizeToStore(selected, Content::kGolden) < kLargeFile) return false;
  std::cerr << "sextant: " << Marked(options.output)
            << " will be a folder of parts, because they have more than 4 GiB (--part-size 0: one "
               "file)\n";
  return true;
}

int Golden(const GoldenArguments& options, Team& team) {
  std::vector<Selected> selected = CasesToStore(options);
  std::erase_if(selected,
                [&](const Selected& s) { return ElementsOf(s.c) > options.most_elements; });
  if (selected.empty()) return NothingToDo("every case has more elements than --most-elements");
  for (const Selected& s : selected)
    NoteMemory(s.c, "proving", BytesToProve(s.c, options.prove, !IsHdf5Output(options)),
               options.memory);
  if (options.plan) return Plan(options, selected);
  NoteShard(options.shard);
  if (IsForFolder(options, selected)) return FolderWriting(options, selected, team).Write();
  if (team.size() > 1)
    throw Error(
        "several processes cannot write one file; --output FOLDER/ writes a folder of parts");
  if (!options.shard.empty())
    throw Error("--shard: the parts of one file cannot be written by several processes; ",
                "--output FOLDER/ writes a folder of parts");
  return GoldenFile(options, selected);
}

}  // namespace

Action BindGolden(CLI::App& app) { return BindGolden(app, std::make_shared<Team>()); }

Action BindGolden(CLI::App& app, const std::shared_ptr<Team>& team) {
  const auto options = std::make_shared<GoldenArguments>();
  AddStoreOptions(app, *options, Content::kGolden);
  AddOption(app, "--most-elements", options->most_elements,
            "leave out cases whose tensors have more elements in all", {});
  AddOption(app, "--part-size", options->part_size,
            "MiB of a part of a folder, which --output FOLDER/ writes, too; from 4 GiB on the "
            "output is such a folder, with 0 one file",
            {.least = 0, .most = 1e6});
  AddFlag(app, "--plan", options->plan,
          "prove only a sample, and print how many parts, bytes and hours the whole has");
  AddMemory(app, options->memory);
  AddShard(app, options->shard);
  AddProof(app, options->prove);
  return [options, team] { return Golden(*options, *team); };
}

}  // namespace sextant::tools
