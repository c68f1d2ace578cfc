// Runs `sextant check`, for its tests.
#pragma once

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>

#include "fixtures/store/temporary_folder_test.h"
#include "tools/api/exit_status.h"
#include "tools/api/selection.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"
#include "tools/report/json.h"

namespace sextant::tools {

class CheckTest : public testing::Test {
 protected:
  // Runs `sextant check` with these arguments; stores its JSON report in `report_`.
  int Run(std::vector<std::string> words) {
    words.insert(words.end(), {"--json", folder_ / "a.json", "--junit", folder_ / "a.xml"});
    std::ranges::reverse(words);  // CLI11 expects them in reverse order
    CLI::App app;
    const Action action = BindCheck(app);
    app.parse(words);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const auto release = [this] {
      stdout_ = testing::internal::GetCapturedStdout();
      stderr_ = testing::internal::GetCapturedStderr();
    };
    int status = 0;
    try {
      status = action();
    } catch (const NoCase& e) {
      status = NothingToDo(e.what());
    } catch (...) {
      release();
      throw;
    }
    release();
    if (std::ifstream file(folder_ / "a.json"); file) report_ = Json::parse(file);
    if (std::ifstream(folder_ / "a.xml")) junit_ = fixtures::BytesOf(folder_ / "a.xml");
    return status;
  }
  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  std::vector<std::string> Statuses() const {
    std::vector<std::string> statuses;
    for (const Json& one : report_["cases"]) statuses.push_back(one["status"].get<std::string>());
    return statuses;
  }

  fixtures::TemporaryFolder folder_;
  std::string stdout_, stderr_, junit_;
  Json report_;
};

// True if JUnit counts a failure or an error.
inline bool IsRed(const std::string& junit) {
  return junit.find("failures=\"0\" errors=\"0\"") == junit.npos;
}

}  // namespace sextant::tools
