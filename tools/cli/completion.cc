#include "tools/cli/completion.h"

#include <CLI/CLI.hpp>

namespace sextant::tools {
namespace {

std::vector<const CLI::App*> CommandsOf(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// "--filter --exclude"
std::string OptionsOf(const CLI::App& command) {
  std::string names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames())
      names += (names.empty() ? "--" : " --") + name;
  }
  return names;
}

// The shell completes file names where no word fits.
std::string ForBash(const CLI::App& app) {
  std::string commands, cases;
  for (const CLI::App* command : CommandsOf(app)) {
    commands += (commands.empty() ? "" : " ") + command->get_name();
    cases += "    " + command->get_name() + ") words='" + OptionsOf(*command) + "' ;;\n";
  }
  return "_sextant() {\n  local words='" + commands +
         "'\n  [ \"$COMP_CWORD\" -gt 1 ] && case \"${COMP_WORDS[1]}\" in\n" + cases +
         "  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\n"
         "complete -o default -F _sextant sextant\n";
}

std::string ForFish(const CLI::App& app) {
  std::string script;
  for (const CLI::App* command : CommandsOf(app)) {
    const std::string& name = command->get_name();
    script += "complete -c sextant -n __fish_use_subcommand -a " + name + "\n";
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& word : option->get_lnames())
        script +=
            "complete -c sextant -n '__fish_seen_subcommand_from " + name + "' -l " + word + "\n";
    }
  }
  return script;
}

}  // namespace

std::string CompletionFor(const std::string& shell, const CLI::App& app) {
  if (shell == "fish") return ForFish(app);
  return (shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : "") + ForBash(app);
}

}  // namespace sextant::tools
