#include "tools/cli/completion.h"

#include <CLI/CLI.hpp>
#include <map>

#include "reference/case/operations.h"
#include "reference/number/recipe/recipe.h"
#include "tools/api/computed_subject.h"
#include "tools/api/named_cases.h"

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

// The words that the value of an option or of an argument may be, or begin with. The shell
// completes file names where no word fits.
std::string WordsOf(const CLI::Option& option) {
  const std::string name = option.get_single_name();
  const auto is = [&name](auto... names) { return (... || (name == names)); };
  std::vector<std::string> words;
  if (is("cases")) words = NamesOfCases();
  if (is("case", "question", "operation", "operations")) words = OperationNames();
  if (is("subject")) words = KindsOfSubjects();
  if (is("shell")) words.assign(std::begin(kShells), std::end(kShells));
  for (const StandardRecipe& recipe : StandardRecipes()) {
    if (is("recipe")) words.emplace_back(recipe.name);
  }
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

bool TakesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// bash splits words at ':' and '=', which are words of their own: "--subject=recipe:f32" is five.
std::string ForBash(const CLI::App& app) {
  std::string commands, words_of_commands, recipes;
  std::map<std::string, std::string> options_of;  // "'check --subject'|", by the words after them
  for (const CLI::App* command : CommandsOf(app)) {
    commands += (commands.empty() ? "" : " ") + command->get_name();
    std::string words = OptionsOf(*command);
    for (const CLI::Option* option : command->get_options()) {
      const std::string values = WordsOf(*option);
      if (option->get_positional()) {
        words += " " + values;
      } else if (TakesValue(*option)) {
        std::string& options = options_of[values];
        for (const std::string& name : CLI::detail::split(option->get_name(false, true), ','))
          options += (options.empty() ? "'" : "|'") + command->get_name() + " " + name + "'";
      }
      if (option->get_single_name() == "recipe") recipes = values;
    }
    words_of_commands += "    " + command->get_name() + ") words='" + words + "' ;;\n";
  }
  std::string after;
  for (const auto& [words, options] : options_of)
    after += "    " + options + ") words='" + words + "' ;;\n";
  return "_sextant() {\n  local words='" + commands +
         "' at=$COMP_CWORD word=${COMP_WORDS[COMP_CWORD]}\n"
         "  [ \"$at\" -gt 1 ] && case \"${COMP_WORDS[1]}\" in\n" +
         words_of_commands +
         "  esac\n  [[ $word == [:=] ]] && word= at=$((at + 1))\n"
         "  [[ ${COMP_WORDS[at-1]} == = ]] && words= at=$((at - 1))\n"
         "  case \"${COMP_WORDS[1]} ${COMP_WORDS[at-1]}\" in\n" +
         after + "    *' :') words=; [ \"${COMP_WORDS[at-2]}\" = recipe ] && words='" + recipes +
         "' ;;\n  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "  [[ ${COMPREPLY[0]-} == *: ]] && compopt -o nospace 2>/dev/null\n  return 0\n}\n"
         "complete -o default -F _sextant sextant\n";
}

std::string ForFish(const CLI::App& app) {
  std::string script;
  for (const CLI::App* command : CommandsOf(app)) {
    const std::string& name = command->get_name();
    script += "complete -c sextant -n __fish_use_subcommand -a " + name + "\n";
    for (const CLI::Option* option : command->get_options()) {
      const std::string values = WordsOf(*option),
                        with_values = (TakesValue(*option) ? " -r" : "") +
                                      (values.empty() ? "" : " -a '" + values + "'");
      const std::string of_command =
          "complete -c sextant -n '__fish_seen_subcommand_from " + name + "'";
      for (const std::string& word : option->get_lnames())
        script += of_command + " -l " + word + with_values + "\n";
      if (option->get_positional() && !values.empty())
        script += of_command + " -a '" + values + "'\n";
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
