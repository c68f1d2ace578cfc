#include "tools/commands.h"
#include "tools/subjects.h"

namespace sextant::tools {

void AddThreads(CLI::App& app, int& threads) {
  app.add_option("-j,--threads", threads, "threads to prove with; all cores unless given")
      ->check(CLI::Range(1, 1024));
}

void AddSubject(CLI::App& app, std::string& subject, std::string& recipe, double& timeout) {
  app.add_option("--subject", subject, kSubjectHelp)->required();
  app.add_option("--recipe", recipe, "judge by this recipe instead of the subject's own");
  app.add_option("--timeout", timeout, "seconds that exec: has for one case")
      ->check(CLI::Range(0.01, 86400.0))
      ->capture_default_str();
}

}  // namespace sextant::tools
