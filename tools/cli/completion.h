// Scripts by which a shell completes commands, options, operations, cases, subjects and recipes.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace sextant::tools {

inline constexpr const char* kShells[] = {"bash", "zsh", "fish"};

// The script for one of kShells, made from the commands of `app` and their options.
std::string CompletionFor(const std::string& shell, const CLI::App& app);

}  // namespace sextant::tools
