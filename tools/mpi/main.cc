// sextant-mpi: `golden`, `verify` and `check` by several processes, on one machine or many.
//   mpirun -n 64 sextant-mpi golden CASES -o NAME/
//   mpirun -n 64 sextant-mpi check CASES --subject lib:./kernels.so --junit report.xml
// The processes share nothing but the file system: the first one says which part is next, and every
// one writes its parts itself. If one dies, MPI ends all; another run goes on. README.md
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <thread>

#include "reference/base/error.h"
#include "reference/base/printable.h"
#include "tools/api/exit_status.h"
#include "tools/api/team.h"
#include "tools/cli/check_report.h"
#include "tools/cli/commands.h"
#include "tools/report/merged_report.h"

namespace sextant::tools {
namespace {

enum Tag { kAsk, kDeal, kReport };
constexpr int64_t kNoMore = -1;

// Process 0 deals: a thread of it answers the others.
class MpiTeam : public Team {
 public:
  MpiTeam() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  ~MpiTeam() override {
    if (dealer_.joinable()) dealer_.join();
  }
  size_t rank() const override { return static_cast<size_t>(rank_); }
  size_t size() const override { return static_cast<size_t>(size_); }

  std::optional<size_t> Next(size_t count) override {
    if (rank_ > 0) return Ask();
    if (!dealer_.joinable()) dealer_ = std::thread([this, count] { Deal(count); });
    return Take(count);
  }
  // The dealer ends when all others have got their last answer: then nobody else uses MPI.
  void Wait() override {
    if (dealer_.joinable()) dealer_.join();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  std::vector<size_t> Sum(std::vector<size_t> own) override {
    if (dealer_.joinable()) dealer_.join();
    std::vector<uint64_t> mine(own.begin(), own.end()), all(own.size());
    MPI_Reduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_UINT64_T, MPI_SUM, 0,
               MPI_COMM_WORLD);
    return {all.begin(), all.end()};
  }

 private:
  std::optional<size_t> Take(size_t count) {
    const size_t next = next_++;
    return next < count ? std::optional(next) : std::nullopt;
  }

  static std::optional<size_t> Ask() {
    int64_t answer = 0;
    MPI_Send(nullptr, 0, MPI_BYTE, 0, kAsk, MPI_COMM_WORLD);
    MPI_Recv(&answer, 1, MPI_INT64_T, 0, kDeal, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return answer == kNoMore ? std::nullopt : std::optional(static_cast<size_t>(answer));
  }

  // Asks whether there is a question instead of waiting for it, because waiting takes a whole core.
  void Deal(size_t count) {
    for (int working = size_ - 1; working > 0;) {
      int is_there = 0;
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, kAsk, MPI_COMM_WORLD, &is_there, &status);
      if (!is_there) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        continue;
      }
      MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, kAsk, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      const std::optional<size_t> next = Take(count);
      const int64_t answer = next ? static_cast<int64_t>(*next) : kNoMore;
      MPI_Send(&answer, 1, MPI_INT64_T, status.MPI_SOURCE, kDeal, MPI_COMM_WORLD);
      working -= !next;
    }
  }

  int rank_ = 0, size_ = 1;
  std::atomic<size_t> next_ = 0;
  std::thread dealer_;
};

// Sends a text to process 0, which gets those of all processes in their order.
std::vector<std::string> Gathered(const std::string& own, const Team& team) {
  if (team.rank() > 0) {
    MPI_Send(own.data(), static_cast<int>(own.size()), MPI_BYTE, 0, kReport, MPI_COMM_WORLD);
    return {};
  }
  std::vector<std::string> all = {own};
  for (size_t from = 1; from < team.size(); ++from) {
    MPI_Status status;
    int size = 0;
    MPI_Probe(static_cast<int>(from), kReport, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &size);
    std::string text(static_cast<size_t>(size), '\0');
    MPI_Recv(text.data(), size, MPI_BYTE, static_cast<int>(from), kReport, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    all.push_back(std::move(text));
  }
  return all;
}

// The status that all processes end with: that of process 0.
int Shared(int status) {
  MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return status;
}

std::string ShardOf(const Team& team) {
  return std::to_string(team.rank() + 1) + "/" + std::to_string(team.size());
}

// The cores of this machine, shared by its processes.
size_t ThreadsOfProcess() {
  MPI_Comm machine;
  int processes = 1;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  MPI_Comm_size(machine, &processes);
  MPI_Comm_free(&machine);
  const size_t cores = std::max(1U, std::thread::hardware_concurrency());
  return std::max<size_t>(1, cores / static_cast<size_t>(processes));
}

// Takes what `work` prints.
template <class Work>
std::string PrintedBy(const Work& work) {
  std::ostringstream text;
  std::streambuf* const before = std::cout.rdbuf(text.rdbuf());
  try {
    work();
  } catch (...) {
    std::cout.rdbuf(before);
    throw;
  }
  std::cout.rdbuf(before);
  return text.str();
}

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "sextant-mpi-XXXXXX").string();
    if (!mkdtemp(name.data())) throw Error(name, ": cannot be made");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// Each process judges its share and reports it in JSON Lines, which process 0 merges.
int CheckBy(const CheckArguments& options, const Team& team) {
  std::optional<CheckOutputs> outputs;
  if (team.rank() == 0) {
    RequireDifferentFiles(options);
    outputs.emplace(options);  // first, so that no old report stays
  }
  const Folder folder;
  CheckArguments own = options;
  own.shard = ShardOf(team);
  own.json_lines = folder / "own";
  for (std::string* report : {&own.json, &own.junit, &own.html, &own.expect, &own.write_expect})
    report->clear();
  PrintedBy([&] { Check(own); });
  std::ifstream in(own.json_lines, std::ios::binary);
  const std::string lines(std::istreambuf_iterator<char>(in), {});
  const std::vector<std::string> all = Gathered(lines, team);
  int status = kVerified;
  if (team.rank() == 0) {
    std::vector<std::string> paths;
    for (const std::string& text : all) {
      paths.push_back(folder / ("share " + std::to_string(paths.size() + 1)));
      std::ofstream(paths.back(), std::ios::binary) << text;
    }
    Report report = MergedReport(paths);
    report.shard.reset();
    status = ReportMerged(std::move(report), options, *outputs);
  }
  return Shared(status);
}

std::vector<int> Statuses(int own, const Team& team) {
  std::vector<int> all(team.size());
  MPI_Allgather(&own, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
  return all;
}

int Gravest(const std::vector<int>& statuses) {
  constexpr int kByGravity[] = {kVerified, kNothing, kIncomplete, kNonconforming, kNotRun, kUsage};
  return *std::ranges::max_element(statuses, {}, [&](int status) {
    return std::ranges::find(kByGravity, status) - std::begin(kByGravity);
  });
}

// Parses the words of a command. The status if that is all: help, or an error that was printed.
std::optional<int> Parsed(CLI::App& app, std::vector<std::string> words, const Team& team) {
  try {
    app.parse(words);
    return std::nullopt;
  } catch (const CLI::ParseError& e) {
    if (team.rank() > 0) return e.get_exit_code() == 0 ? kVerified : kUsage;
    return app.exit(e) == 0 ? kVerified : kUsage;
  }
}

int VerifyBy(CLI::App& app, std::vector<std::string> words, const Team& team) {
  const Action verify = BindVerify(app);
  if (std::ranges::any_of(words, [](const auto& word) { return word.starts_with("--shard"); }))
    throw Error("--shard: the processes are the shards");
  words.insert(words.begin(), {ShardOf(team), "--shard"});  // CLI11 reads them from the end
  if (const auto end = Parsed(app, words, team)) return *end;
  int status = kVerified;
  const std::string text = PrintedBy([&] { status = verify(); });
  const std::vector<int> all = Statuses(status, team);
  for (const std::string& one : Gathered(text, team)) std::cout << one;
  return Gravest(all);
}

int Run(const std::vector<std::string>& arguments, const std::shared_ptr<MpiTeam>& team) {
  const std::string command = arguments.empty() ? "" : arguments.front();
  std::vector<std::string> words(arguments.rbegin(), arguments.rend());
  if (!words.empty()) words.pop_back();
  const bool has_threads = std::ranges::any_of(arguments, [](const std::string& word) {
    return word.starts_with("-j") || word.starts_with("--threads");
  });
  if (!has_threads) words.insert(words.begin(), {std::to_string(ThreadsOfProcess()), "-j"});
  CLI::App app("", "sextant-mpi " + command);
  if (command == "golden") {
    const Action golden = BindGolden(app, team);
    if (const auto end = Parsed(app, words, *team)) return *end;
    int status = kVerified;
    const std::string text = PrintedBy([&] { status = golden(); });
    if (team->rank() == 0) std::cout << text;
    return Shared(status);
  }
  if (command == "verify") return VerifyBy(app, words, *team);
  if (command == "check") {
    CheckArguments options;
    AddCheckOptions(app, options);
    if (const auto end = Parsed(app, words, *team)) return *end;
    if (!options.shard.empty()) throw Error("--shard: the processes are the shards");
    if (!options.json_lines.empty() || !options.write_expect.empty())
      throw Error(
          "--json-lines and --write-expect are not for several processes, expected --json, ",
          "--junit or --html");
    return CheckBy(options, *team);
  }
  if (team->rank() == 0)
    std::cerr << "sextant-mpi: '" << Marked(command)
              << "' is no command here, expected one of: golden verify check; `sextant help "
                 "COMMAND` has their options\n";
  return kUsage;
}

}  // namespace
}  // namespace sextant::tools

int main(int argc, char** argv) {
  using namespace sextant;
  setenv("NO_COLOR", "1", 1);  // mpirun gives processes a terminal, whatever its output is
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  const auto team = std::make_shared<tools::MpiTeam>();
  const auto fail = [&](const std::string& why) {
    const std::string who = "sextant-mpi: process " + std::to_string(team->rank()) + ": ";
    std::cerr << who + Marked(why) + "\n";
    MPI_Abort(MPI_COMM_WORLD, tools::kUsage);
  };
  int status = tools::kUsage;
  try {
    if (provided < MPI_THREAD_SERIALIZED) throw Error("this MPI allows no threads");
    status = tools::Run({argv + 1, argv + argc}, team);
  } catch (const std::exception& e) {
    fail(e.what());
  }
  std::cout.flush();
  MPI_Finalize();
  return status;
}
