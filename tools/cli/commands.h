// The commands of the program. Each function adds its options to a subcommand and returns the
// function that runs the command.
#pragma once

#include <functional>
#include <memory>

namespace CLI {
class App;
}

namespace sextant::tools {

using Action = std::function<int()>;  // returns an ExitStatus

Action BindList(CLI::App& app);
Action BindDescribe(CLI::App& app);
Action BindModels(CLI::App& app);
Action BindEval(CLI::App& app);
Action BindGolden(CLI::App& app);
class Team;
Action BindGolden(CLI::App& app, const std::shared_ptr<Team>& team);  // one of several processes
Action BindVerify(CLI::App& app);
Action BindInputs(CLI::App& app);
Action BindAnswer(CLI::App& app);
Action BindAsk(CLI::App& app);
Action BindCheck(CLI::App& app);
Action BindIdentify(CLI::App& app);
Action BindRecipe(CLI::App& app);
Action BindProfile(CLI::App& app);
Action BindJudge(CLI::App& app);
Action BindProperties(CLI::App& app);
Action BindTolerance(CLI::App& app);
Action BindAuditSuite(CLI::App& app);
Action BindCompare(CLI::App& app);
Action BindMerge(CLI::App& app);

}  // namespace sextant::tools
