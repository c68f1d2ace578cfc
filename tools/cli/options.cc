#include "tools/cli/options.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iostream>
#include <string_view>

#include "oracle/subject/exec_client.h"
#include "tools/api/config_for.h"
#include "tools/api/exit_status.h"
#include "tools/api/subjects.h"

namespace sextant::tools {

namespace {

std::string RequireName(const std::string& text) {
  return text.empty() ? "expected the name of a file" : "";
}

// Formats in which others store tensors. A name without any of these endings is as good as ".h5".
std::string RequireHdf5(const std::string& path) {
  constexpr std::string_view kOthers[] = {".npy", ".npz", ".safetensors", ".json", ".pt",
                                          ".pth", ".bin", ".gguf",        ".csv",  ".txt"};
  std::string ending = std::filesystem::path(path).extension();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
  if (std::ranges::count(kOthers, ending) == 0) return "";
  return path +
         " would be an HDF5 file, the only format that is written: expected a name that "
         "ends with .h5";
}

}  // namespace

CLI::Option* AddOutput(CLI::App& app, const std::string& option, std::string& path,
                       const char* what) {
  return app.add_option(option, path, what)->check(RequireName);
}

CLI::Option* AddStore(CLI::App& app, std::string& path, const char* what) {
  return AddOutput(app, "-o,--output", path, what)->check(RequireHdf5);
}

int NothingToDo(const char* why) {
  std::cerr << "sextant: nothing to do: " << why << "\n";
  return kNothing;
}

void AddConfig(CLI::App& app, ConfigChoice& config) {
  const auto file =
      app.add_option(
             "--config", config.path,
             "a Hugging Face config.json that completes case lines; their words override it, and "
             "seq_len= (dynamic, longrope) is theirs alone")
          ->check(RequireName);
  app.add_option("--part", config.part,
                 "which object of the configuration, instead of its text decoder: vision_config")
      ->needs(file);
  app.add_option("--layer", config.layer,
                 "which layers of the configuration, where they differ: a name or a number")
      ->needs(file);
}

void AddThreads(CLI::App& app, int& threads) {
  app.add_option("-j,--threads", threads, "threads to prove with; all cores unless given")
      ->check(CLI::Range(1, 1024));
}

void AddSubject(CLI::App& app, std::string& subject, std::string& recipe, double& timeout) {
  app.add_option("--subject", subject, kSubjectHelp)->required();
  app.add_option("--recipe", recipe, "judge by this recipe instead of the subject's own");
  app.add_option("--timeout", timeout,
                 "seconds that exec: has for one case; for its hello at least " +
                     std::to_string(oracle::kSecondsForHello))
      ->check(CLI::Range(0.01, 86400.0))
      ->capture_default_str();
}

}  // namespace sextant::tools
