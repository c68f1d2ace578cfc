#include "tools/api/case_file.h"

#include "fixtures/config/named_list.h"

namespace sextant::tools {

Case ParseLine(const std::string& line, const ConfigChoice& config,
               const std::vector<std::filesystem::path>& folders) {
  return Case::Parse(fixtures::WithListsForNames(CompleteLine(line, config), folders));
}

std::vector<CaseInFile> ReadCases(const std::string& path, const ConfigChoice& config) {
  std::vector<CaseInFile> cases;
  const auto folders = fixtures::FoldersOfLists(path);
  for (CaseLine& line : ReadCaseLines(path)) {
    try {
      Case c = ParseLine(line.text, config, folders);
      cases.push_back({std::move(c), std::move(line)});
    } catch (const Error& e) {
      throw Error(path, ":", line.number, ": ", e.what());
    }
  }
  return cases;
}

}  // namespace sextant::tools
