// Options that several commands share, and what they say if there is nothing to do.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace sextant::tools {

// Says on standard error that there was nothing to do, and why; returns kNothing.
int NothingToDo(const char* why);
inline constexpr char kNoCase[] = "no case was selected";
inline constexpr char kNoElement[] = "no output has an element";

struct ConfigChoice;
void AddConfig(CLI::App& app, ConfigChoice& config);
// The file that a command writes; an empty name, as of a variable that is not set, is an error.
CLI::Option* AddOutput(CLI::App& app, const std::string& option, std::string& path,
                       const char* what);
// The same for a file of cases, which is HDF5; a name that promises another format is an error.
CLI::Option* AddStore(CLI::App& app, std::string& path, const char* what);
void AddThreads(CLI::App& app, int& threads);
void AddSubject(CLI::App& app, std::string& subject, std::string& recipe, double& timeout);

}  // namespace sextant::tools
