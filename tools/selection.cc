#include "tools/selection.h"

#include <fnmatch.h>

#include <filesystem>
#include <fstream>

#include "fixtures/integrity.h"
#include "fixtures/npy.h"
#include "fixtures/reader.h"

namespace sextant::tools {
namespace {

bool IsHdf5(const std::string& path) {
  constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";  // HDF5 file format, II.A
  std::ifstream in(path, std::ios::binary);
  std::string start(kSignature.size(), '\0');
  in.read(start.data(), static_cast<std::streamsize>(start.size()));
  return in && start == kSignature;
}

bool Matches(const std::string& line, const std::string& filter) {
  if (filter.find_first_of("*?") == filter.npos) return line.find(filter) != line.npos;
  return fnmatch(filter.c_str(), line.c_str(), 0) == 0;
}

void AddCases(const std::string& path, std::vector<Selected>& selected) {
  for (const CaseLine& line : ReadCaseLines(path)) {
    try {
      selected.push_back({Case::Parse(line.text), line.why, std::nullopt});
    } catch (const Error& e) {
      throw Error(path, ":", line.number, ": ", e.what());
    }
  }
}

void AddGoldens(const std::string& path, std::vector<Selected>& selected) {
  for (const fixtures::Damage& damage : fixtures::CheckDigests(path)) {
    throw Error(path, ": ", damage.path, ": ", damage.what, " (sextant verify tells all)");
  }
  for (Record& record : fixtures::ReadRecords(path)) {
    try {
      Case c = Case::Parse(record.case_line);
      selected.push_back({std::move(c), "", std::move(record)});
    } catch (const Error& e) {
      throw Error(path, ": ", e.what());
    }
  }
}

}  // namespace

FileReader NpyReader() {
  return [](const std::string& path, const std::string& sha256) {
    return fixtures::ReadNpy(path, sha256);
  };
}

std::vector<Selected> Select(const std::vector<std::string>& arguments, const std::string& filter) {
  std::vector<Selected> all;
  for (const std::string& argument : arguments) {
    if (std::filesystem::is_directory(argument))
      throw Error(argument, " is a folder, expected a file of cases");
    if (IsHdf5(argument)) {
      AddGoldens(argument, all);
    } else if (!std::filesystem::exists(argument) && argument.find(' ') != argument.npos) {
      all.push_back({Case::Parse(argument), "", std::nullopt});
    } else if (argument.ends_with(".h5")) {
      throw Error(argument,
                  std::filesystem::exists(argument) ? " is not an HDF5 file" : " does not exist");
    } else {
      AddCases(argument, all);
    }
  }
  std::erase_if(all, [&](const Selected& s) { return !Matches(s.c.ToString(), filter); });
  return all;
}

}  // namespace sextant::tools
