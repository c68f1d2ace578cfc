// Adds options to commands. Only options.cc, completion.cc and main.cc include CLI11, because it
// costs seconds of compile time in each file.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "oracle/subject/limits.h"
#include "reference/prove/prove.h"

namespace CLI {
class App;
}

namespace sextant::tools {

// Prints to standard error that there was nothing to do and why; returns kNothing.
int NothingToDo(const std::string& why);
inline constexpr char kNoElement[] = "no output has an element";

// Constraints of an option.
struct Rule {
  bool required = false;
  bool shows_default = false;      // in the help
  bool one_each = false;           // a list: every value needs the name of the option before it
  int count = 0;                   // a list: so many values follow the name; 0: any number
  const char* needs = nullptr;     // another option that must be given with this one
  const char* excludes = nullptr;  // another option that must not be given with this one
  bool takes_onnx = false;         // AddStore: "onnx:FOLDER" is a path, too
  // The range of a number; ignored for seeds.
  double least = std::numeric_limits<double>::lowest(), most = std::numeric_limits<double>::max();
};
// `names` has the syntax of CLI11: "-j,--threads" for an option, "cases" for a positional argument.
// The overload for uint64_t is for seeds: 0 to 2^64 - 1.
void AddOption(CLI::App& app, const std::string& names, std::string& value, const std::string& what,
               const Rule& rule = {});
void AddOption(CLI::App& app, const std::string& names, std::vector<std::string>& values,
               const std::string& what, const Rule& rule = {});
void AddOption(CLI::App& app, const std::string& names, int& value, const std::string& what,
               const Rule& rule);
void AddOption(CLI::App& app, const std::string& names, double& value, const std::string& what,
               const Rule& rule);
void AddOption(CLI::App& app, const std::string& names, uint64_t& seed, const std::string& what,
               const Rule& rule);
void AddFlag(CLI::App& app, const std::string& names, bool& value, const std::string& what,
             const Rule& rule = {});

// A flag that may have a seed (--fresh=7). Without one, or with "random", the seed is random.
void AddSeedFlag(CLI::App& app, const std::string& name, std::optional<uint64_t>& seed,
                 const std::string& what, const Rule& rule = {});

// A flag that may have a list of names (--bitwise=run,batch). `bare`: without one.
void AddListFlag(CLI::App& app, const std::string& name, std::vector<std::string>& list, bool& bare,
                 const std::string& what);

// The path of a file. An empty path is an error: it may come from an unset shell variable.
void AddPath(CLI::App& app, const std::string& names, std::string& path, const std::string& what,
             const Rule& rule = {});
// The path of a report. An old file of that name is removed at the start of a run (OutputFile), and
// by RemoveOldReports.
void AddReport(CLI::App& app, const std::string& names, std::string& path, const std::string& what);
// After an error in the command line, so that no report of an earlier run remains: removes the
// reports that it names. A file that another argument names, too, remains.
void RemoveOldReports(CLI::App& app);
// --output: the path of a file of records (fixtures/store/record_file.h). An unknown ending is an
// error.
void AddStore(CLI::App& app, std::string& path, const std::string& what, const Rule& rule = {});

// --filter and --exclude, which select cases; --with, which changes them. `needs`: as in Rule.
void AddFilters(CLI::App& app, std::vector<std::string>& filters,
                std::vector<std::string>& excluded, const char* needs = nullptr);
void AddWith(CLI::App& app, std::string& with, const char* needs = nullptr);
struct ConfigChoice;
void AddConfig(CLI::App& app, ConfigChoice& config);
// How values are proven: --threads and --engine.
void AddProof(CLI::App& app, ProveOptions& prove);
// --memory: MiB, for what is in work at a time. --shard: I/N.
void AddMemory(CLI::App& app, double& memory);
void AddShard(CLI::App& app, std::string& shard);
// Without --shard, prints to standard error which one the surroundings of the process offer.
void NoteShard(const std::string& shard);
void AddSubject(CLI::App& app, std::string& subject, oracle::SubjectLimits& limits);
// With --recipe.
void AddSubject(CLI::App& app, std::string& subject, std::string& recipe,
                oracle::SubjectLimits& limits);

}  // namespace sextant::tools
