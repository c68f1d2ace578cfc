#include "tools/api/selection.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "fixtures/config/named_list.h"
#include "fixtures/store/integrity.h"
#include "fixtures/store/npy.h"
#include "fixtures/store/reader.h"
#include "tools/api/case_file.h"
#include "tools/api/difference.h"
#include "tools/api/pattern.h"

namespace sextant::tools {
namespace {

// Regular files only: reading the start of a pipe would consume it.
bool Matches(const std::string& line, const std::string& filter) {
  if (filter.find_first_of("*?") == filter.npos) return line.find(filter) != line.npos;
  return MatchesPattern(line, filter);
}

bool IsKept(const std::string& line, const Selection& selection) {
  const auto selects = [&line](const std::string& filter) { return Matches(line, filter); };
  return (selection.filters.empty() || std::ranges::any_of(selection.filters, selects)) &&
         std::ranges::none_of(selection.excluded, selects);
}

// Whether an argument that does not exist as a file was meant as a file name, not as a case line.
// In a case line every word after the first, which is the operation, contains a '='.
bool IsMeantAsFile(const std::string& argument) {
  if (argument.empty()) return false;
  for (const char* ending : {".cases", ".h5", ".hdf5"}) {
    if (argument.ends_with(ending)) return true;
  }
  std::istringstream words(argument);
  size_t count = 0;
  for (std::string word; words >> word; ++count) {
    if (word.find('/') != word.npos && word.find('=') == word.npos) return true;
  }
  return count == 1 && argument.find(' ') == argument.npos;
}

// A radius below 0 or NaN is a state of the judge (golden.h, prove.h): no proof stores it.
void CheckRadii(const GoldenTensor& golden) {
  const std::vector<double>& radii = golden.radius.data;
  const auto wrong = std::ranges::find_if_not(radii, [](double radius) { return radius >= 0; });
  if (wrong == radii.end()) return;
  const auto at = static_cast<size_t>(wrong - radii.begin());
  throw Error(IndexText("golden/" + golden.name + "/radius", golden.radius.shape, at), " is ",
              *wrong, ", expected 0 or more");
}

// Checks that a golden record belongs to its case: it holds the inputs that the case draws, and a
// golden of the right dtype and shape for every output. Puts both into the order of the signature.
// Throws Error.
void CheckAndArrange(const Case& c, Record& record) {
  const Tensors inputs = DrawInputs(c, NpyReader());
  for (const NamedTensor& drawn : inputs) {
    const NamedTensor& stored = Find(record.inputs, drawn.name);
    const bool same =
        stored.dtype == drawn.dtype && Difference(drawn.name, stored.values, drawn.values).empty();
    if (!same) throw Error("inputs/", drawn.name, " differs from the input that the case draws");
  }
  record.inputs = inputs;
  std::vector<GoldenTensor> golden;
  for (const TensorSpec& spec : c.info().signature.outputs) {
    const auto at = std::ranges::find(record.golden, spec.name, &GoldenTensor::name);
    if (at == record.golden.end()) throw Error("the record has no golden/", spec.name);
    if (at->dtype != c.DTypeOf(spec) || at->value.shape != c.ShapeOf(spec)) {
      throw Error("golden/", spec.name, " is ", NameOf(at->dtype), ToString(at->value.shape),
                  ", expected ", NameOf(c.DTypeOf(spec)), ToString(c.ShapeOf(spec)));
    }
    CheckRadii(*at);
    golden.push_back(std::move(*at));
  }
  record.golden = std::move(golden);
}

void AddGoldens(const std::string& path, std::vector<Selected>& selected) {
  for (const fixtures::Damage& damage : fixtures::CheckDigests(path)) {
    throw Error(path, ": ", damage.path, ": ", damage.what, " (sextant verify lists all damage)");
  }
  for (Record& record : fixtures::ReadRecords(path)) {
    try {
      Case c = Case::Parse(record.case_line);
      if (!record.golden.empty()) CheckAndArrange(c, record);
      selected.push_back({std::move(c), "", std::move(record)});
    } catch (const Error& e) {
      throw Error(path, ": ", record.case_line, ": ", e.what());
    }
  }
}

}  // namespace

bool IsHdf5(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return false;
  constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";  // HDF5 file format, II.A
  std::ifstream in(path, std::ios::binary);
  std::string start(kSignature.size(), '\0');
  in.read(start.data(), static_cast<std::streamsize>(start.size()));
  return in && start == kSignature;
}

Tensors InputsOf(const Selected& selected) {
  if (selected.record && !selected.record->golden.empty()) return selected.record->inputs;
  return DrawInputs(selected.c, NpyReader());
}

FileReader NpyReader() { return fixtures::ReadNpy; }

std::vector<Selected> Select(const Selection& selection) {
  std::vector<Selected> all;
  for (const std::string& argument : selection.arguments) {
    std::error_code ignored;  // a name that is too long is a case line
    const bool exists = std::filesystem::exists(argument, ignored);
    if (std::filesystem::is_directory(argument, ignored))
      throw Error(argument, " is a folder, expected a file of cases");
    if (IsHdf5(argument)) {
      if (!selection.config.path.empty()) {
        throw Error("--config applies to case lines; the cases of ", argument, " are complete");
      }
      AddGoldens(argument, all);
    } else if (!exists && !IsMeantAsFile(argument)) {
      all.push_back(
          {ParseLine(argument, selection.config, fixtures::FoldersOfLists()), "", std::nullopt});
    } else if (argument.ends_with(".h5")) {
      throw Error(argument, exists ? " is not an HDF5 file" : " does not exist");
    } else {
      for (CaseInFile& read : ReadCases(argument, selection.config))
        all.push_back({std::move(read.c), std::move(read.line.why), std::nullopt});
    }
  }
  std::set<std::string> seen;
  std::erase_if(all, [&](const Selected& s) {
    const std::string line = s.c.ToString();
    const bool kept = IsKept(line, selection);
    if (!kept && selection.left_out) selection.left_out->push_back(line);
    return !kept || (!seen.insert(line).second && !s.record);
  });
  return all;
}

}  // namespace sextant::tools
