#include "tools/cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <iostream>

#include "fixtures/store/record_file.h"
#include "oracle/subject/exec_client.h"
#include "reference/base/value_text.h"
#include "tools/api/completed_line.h"
#include "tools/api/computed_subject.h"
#include "tools/api/exit_status.h"
#include "tools/api/fresh_cases.h"
#include "tools/api/replace.h"
#include "tools/api/shard.h"
#include "tools/onnx/onnx_folder.h"

namespace sextant::tools {

namespace {

constexpr char kRandom[] = "random";
constexpr char kReports[] = "Reports";  // a group of options in the help

std::string RequireName(const std::string& text) {
  return text.empty() ? "expected the name of a file" : "";
}

// CLI11 would accept -1 and 2^64 and convert them to other seeds.
std::string RequireSeed(const std::string& text) {
  const char* const end = text.data() + text.size();
  uint64_t seed = 0;
  const auto [at, error] = std::from_chars(text.data(), end, seed);
  return error == std::errc() && at == end ? "" : "expected an integer from 0 to 2^64 - 1";
}

void ApplyRule(CLI::App& app, CLI::Option* option, const Rule& rule) {
  option->required(rule.required);
  if (rule.needs) option->needs(app.get_option(rule.needs));
  if (rule.excludes) option->excludes(app.get_option(rule.excludes));
  if (rule.shows_default) option->capture_default_str();
  if (rule.count > 0) option->expected(rule.count);
  if (rule.one_each) option->allow_extra_args(false);
}

}  // namespace

int NothingToDo(const std::string& why) {
  std::cerr << "sextant: nothing to do: " << why << "\n";
  return kNothing;
}

void AddOption(CLI::App& app, const std::string& names, std::string& value, const std::string& what,
               const Rule& rule) {
  ApplyRule(app, app.add_option(names, value, what), rule);
}
void AddOption(CLI::App& app, const std::string& names, std::vector<std::string>& values,
               const std::string& what, const Rule& rule) {
  ApplyRule(app, app.add_option(names, values, what), rule);
}
void AddOption(CLI::App& app, const std::string& names, int& value, const std::string& what,
               const Rule& rule) {
  constexpr double kLeast = std::numeric_limits<int>::min(),
                   kMost = std::numeric_limits<int>::max();
  const CLI::Range range(static_cast<int>(std::max(rule.least, kLeast)),
                         static_cast<int>(std::min(rule.most, kMost)));
  ApplyRule(app, app.add_option(names, value, what)->check(range), rule);
}
void AddOption(CLI::App& app, const std::string& names, double& value, const std::string& what,
               const Rule& rule) {
  // A NaN compares with no limit.
  const auto refuse = [rule](const std::string& text) -> std::string {
    double number = 0;
    if (text.empty() || text.find_first_of("xX") != text.npos) return "expected a decimal number";
    if (!CLI::detail::lexical_cast(text, number)) return "";
    if (std::isnan(number)) return "expected a number";
    if (number < rule.least) return "is " + text + ", expected at least " + PrintValue(rule.least);
    return number > rule.most ? "is " + text + ", expected at most " + PrintValue(rule.most) : "";
  };
  ApplyRule(app, app.add_option(names, value, what)->check(refuse), rule);
}
void AddOption(CLI::App& app, const std::string& names, uint64_t& seed, const std::string& what,
               const Rule& rule) {
  ApplyRule(app, app.add_option(names, seed, what)->check(RequireSeed), rule);
}
void AddFlag(CLI::App& app, const std::string& names, bool& value, const std::string& what,
             const Rule& rule) {
  ApplyRule(app, app.add_flag(names, value, what), rule);
}

void AddSeedFlag(CLI::App& app, const std::string& name, std::optional<uint64_t>& seed,
                 const std::string& what, const Rule& rule) {
  const auto text = std::make_shared<std::string>();
  const auto require = [](const std::string& given) {
    return given == kRandom ? std::string() : RequireSeed(given);
  };
  const auto set = [&seed, text](const std::string& given) {
    seed = given == kRandom ? RandomSeed() : std::stoull(given);
  };
  CLI::Option* option = app.add_flag(name + "{" + kRandom + "}", *text, what);
  ApplyRule(app, option->check(require)->each(set), rule);
}

void AddListFlag(CLI::App& app, const std::string& name, std::vector<std::string>& list, bool& bare,
                 const std::string& what) {
  static constexpr char kBare[] = "promised";
  const auto text = std::make_shared<std::string>();
  const auto set = [&list, &bare, text](const std::string& given) {
    bare = given == kBare;
    if (!bare) list = CLI::detail::split(given, ',');
  };
  app.add_flag(name + "{" + kBare + "}", *text, what)->each(set);
}

void AddPath(CLI::App& app, const std::string& names, std::string& path, const std::string& what,
             const Rule& rule) {
  ApplyRule(app, app.add_option(names, path, what)->check(RequireName), rule);
}

void AddReport(CLI::App& app, const std::string& names, std::string& path,
               const std::string& what) {
  AddPath(app, names, path, what);
  app.get_option(names.substr(names.rfind(',') + 1))->group(kReports);  // "-o,--output"
}

void RemoveOldReports(CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    std::vector<std::string> reports, others;
    for (const CLI::Option* option : command->get_options()) {
      std::vector<std::string>& to = option->get_group() == kReports ? reports : others;
      to.insert(to.end(), option->results().begin(), option->results().end());
    }
    for (const std::string& report : reports) {
      std::error_code none;
      if (!std::filesystem::is_regular_file(report, none)) continue;
      try {
        RequireNoInput(report, others);
        const OutputFile removes_old_file(report);
      } catch (const Error&) {
      }
    }
  }
}

void AddStore(CLI::App& app, std::string& path, const std::string& what, const Rule& rule) {
  AddPath(app, "-o,--output", path, what, rule);
  app.get_option("--output")->check([takes_onnx = rule.takes_onnx](const std::string& name) {
    if (!IsOnnxFolder(name)) return fixtures::WhyNotRecordFile(name);
    return takes_onnx ? std::string() : name + ": only `sextant golden` writes ONNX node tests";
  });
}

void AddFilters(CLI::App& app, std::vector<std::string>& filters,
                std::vector<std::string>& excluded, const char* needs) {
  AddOption(app, "--filter", filters,
            "only cases whose line contains this text, in which * stands for any characters and ? "
            "for one; several --filter narrow each other",
            {.one_each = true, .needs = needs});
  AddOption(app, "--exclude", excluded,
            "without the cases that --filter with this text would select; may be repeated",
            {.one_each = true, .needs = needs});
}

void AddWith(CLI::App& app, std::string& with, const char* needs) {
  AddOption(app, "--with", with,
            "set these words in every selected case line, for example 'D=64 dtype=bf16'; cases "
            "in which they are not valid are counted as not applicable",
            {.needs = needs});
}

void AddConfig(CLI::App& app, ConfigChoice& config) {
  AddOption(app, "--config", config.path,
            "a Hugging Face config.json that completes case lines; values in a case line take "
            "precedence, and seq_len= (dynamic, longrope) is taken only from the case line");
  app.get_option("--config")->check(RequireName);
  AddOption(app, "--part", config.part,
            "JSON object to read instead of the text decoder, for example vision_config",
            {.needs = "--config"});
  AddOption(app, "--layer", config.layer,
            "layers to use if they differ: the name of their kind or a layer number",
            {.needs = "--config"});
}

void AddProof(CLI::App& app, ProveOptions& prove) {
  AddOption(app, "-j,--threads", prove.threads, "threads for proofs; default: all cores",
            {.least = 1, .most = 1024});
  const auto set = [&prove](const std::string& name) {
    prove.engine = name == "mpfr" ? Engine::kMpfr : Engine::kLadder;
  };
  app.add_option_function<std::string>("--engine", set,
                                       "ladder: the cheapest enclosure that decides an element; "
                                       "mpfr: MPFR for every element, the "
                                       "same values and slower")
      ->check(CLI::IsMember({"ladder", "mpfr"}))
      ->default_str("ladder");
}

void AddMemory(CLI::App& app, double& memory) {
  AddOption(app, "--memory", memory,
            "MiB for the parts in work (512); a case is refused that takes more beside them, for "
            "what every part reads (weights), or because it cannot be cut",
            {.least = 1});
}

void AddShard(CLI::App& app, std::string& shard) {
  // An empty text may come from an unset variable, and would do the whole.
  const auto require = [](const std::string& text) {
    return text.empty() ? "expected I/N" : std::string();
  };
  app.add_option("--shard", shard, "I/N: do the share I of N, from 1 to N, by predicted cost")
      ->check(require);
}

void NoteShard(const std::string& shard) {
  const std::string offered = shard.empty() ? OfferedShard() : "";
  if (!offered.empty()) std::cerr << "sextant: " << offered << "\n";
}

void AddSubject(CLI::App& app, std::string& subject, oracle::SubjectLimits& limits) {
  AddOption(app, "--subject", subject, SubjectHelp(), {.required = true});
  AddOption(app, "--timeout", limits.seconds,
            "time limit of lib: and exec: in seconds per case; its hello message has at least " +
                std::to_string(oracle::kSecondsForHello),
            {.shows_default = true, .least = 0.01, .most = 86400});
  AddOption(app, "--subject-memory", limits.memory,
            "MiB of data that one process of lib: and exec: may have; default: any",
            {.least = 1, .most = 1e9});
}

void AddSubject(CLI::App& app, std::string& subject, std::string& recipe,
                oracle::SubjectLimits& limits) {
  AddSubject(app, subject, limits);
  AddOption(app, "--recipe", recipe, "judge by this recipe instead of the recipe of the subject");
}

}  // namespace sextant::tools
