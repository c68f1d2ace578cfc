// Options of commands. CLI11, which they are made with, costs seconds in each file that includes
// it: of the program only options.cc and main.cc do.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sextant::tools {

// Says on standard error that there was nothing to do, and why; returns kNothing.
int NothingToDo(const char* why);
inline constexpr char kNoCase[] = "no case was selected";
inline constexpr char kNoElement[] = "no output has an element";

// What may be said of an option.
struct Rule {
  bool required = false;
  bool shows_default = false;      // in the help
  const char* needs = nullptr;     // another option, without which this one means nothing
  const char* excludes = nullptr;  // another option, with which this one contradicts itself
  // Of a number that is no seed.
  double least = std::numeric_limits<double>::lowest(), most = std::numeric_limits<double>::max();
};
// Names are those of CLI11: "-j,--threads", or "cases" for what stands without a dash. An unsigned
// number is a seed: 0 to 2^64 - 1.
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

// The file that a command writes; an empty name, as of a variable that is not set, is an error.
void AddOutput(CLI::App& app, const std::string& names, std::string& path, const std::string& what,
               const Rule& rule = {});
// --output: the same for a file of cases, which is HDF5; a name that promises another format is an
// error.
void AddStore(CLI::App& app, std::string& path, const std::string& what, const Rule& rule = {});

struct ConfigChoice;
void AddConfig(CLI::App& app, ConfigChoice& config);
void AddThreads(CLI::App& app, int& threads);
void AddSubject(CLI::App& app, std::string& subject, std::string& recipe, double& timeout);

}  // namespace sextant::tools
