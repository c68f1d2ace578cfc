#include "tools/api/selection.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "fixtures/config/named_list.h"
#include "fixtures/store/golden_folder.h"
#include "fixtures/store/integrity.h"
#include "fixtures/store/npy.h"
#include "fixtures/store/reader.h"
#include "reference/base/count_text.h"
#include "reference/base/did_you_mean.h"
#include "reference/base/printable.h"
#include "reference/case/aliases.h"
#include "reference/case/former_names.h"
#include "reference/case/operations.h"
#include "reference/case/out_of_memory.h"
#include "tools/api/case_file.h"
#include "tools/api/difference.h"
#include "tools/api/named_cases.h"
#include "tools/api/pattern.h"

namespace sextant::tools {
namespace {

bool Selects(const std::string& filter, const std::string& line) {
  return MatchesPattern(line, "*" + filter + "*");
}

bool IsKept(const std::string& line, const Selection& selection) {
  const auto selects = [&line](const std::string& filter) { return Selects(filter, line); };
  return std::ranges::all_of(selection.filters, selects) &&
         std::ranges::none_of(selection.excluded, selects);
}

bool IsFile(const std::string& argument) {
  std::error_code ignored;  // a name that is too long is a case line
  return std::filesystem::exists(argument, ignored);
}

// A word of a case line after its operation.
bool IsWordOfLine(const std::string& argument) {
  return argument.find('=') != argument.npos && argument.find(' ') == argument.npos &&
         !argument.ends_with(".cases") && !IsFile(argument);
}

// Whether an argument that does not exist as a file was meant as a file name, not as a case line.
// In a case line every word after the first, which is the operation, contains a '='.
bool IsMeantAsFile(const std::string& argument) {
  if (argument.empty() || !InOurWords(argument).notes.empty() ||
      std::ranges::count(OperationNames(), argument) > 0)
    return false;
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

// Throws Error unless each word of `with` has a value and a key of its own.
void CheckWords(const std::string& with) {
  std::set<std::string> keys;
  for (const std::string& word : WordsIn(with)) {
    const std::string key = word.substr(0, word.find('=')) + "=";
    if (key.size() == 1 || key.size() > word.size())
      throw Error("--with '", with, "': '", word, "' is not KEY=VALUE");
    if (!keys.insert(key).second) throw Error("--with '", with, "' has ", key, " twice");
  }
}

// The line with the words of `with`, which replace those of the same keys.
std::string WithWords(const std::string& line, const std::string& with,
                      std::set<std::string>& noted) {
  std::vector<std::string> own = WordsIn(InOurWords(line).line);
  const std::string other = own.front() + " " + with;  // an alias depends on the operation
  NoteAliases(other, noted);
  const std::vector<std::string> words = WordsIn(InOurWords(other).line);
  for (const std::string& word : words) {
    const std::string key = word.substr(0, word.find('=')) + "=";
    std::erase_if(own, [&key](const std::string& old) { return old.starts_with(key); });
  }
  own.insert(own.begin() + 1, words.begin() + 1, words.end());  // after the operation
  std::string text;
  for (const std::string& word : own) text += word + " ";
  return text;
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

std::vector<Selected> ReadGoldens(const std::string& path) {
  std::vector<Selected> selected;
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
  return selected;
}

// Throws Error for a single word that is no file: a name whose file of cases is not found.
[[noreturn]] void RefuseName(const std::string& name) {
  const std::string ours = InOurWords(name).line;
  const size_t space = ours.find(' ');
  if (space == ours.npos)
    throw Error(name,
                ".cases is not in fixtures/cases, and not beside the program: name the file, ",
                "or give a case line");
  throw Error(name, " is called ", ours, " here; its cases: ", ours.substr(0, space), " --filter ",
              ours.substr(space + 1));
}

// The cases that a selection keeps, in the order of its arguments.
class Selecting {
 public:
  explicit Selecting(const Selection& selection)
      : selection_(selection), has_words_(!WordsIn(selection.with).empty()) {}

  std::vector<Selected> Take() {
    if (all_.empty()) throw NoCase(WhyNoCase());
    if (selection_.left_out) *selection_.left_out = std::move(left_out_);
    return std::move(all_);
  }

  void AddFrom(const std::string& argument) {
    std::error_code ignored;  // of a name that is too long
    const bool exists = IsFile(argument);
    if (std::filesystem::is_directory(argument, ignored))
      throw Error(argument, " is a folder, expected a file of cases",
                  fixtures::IsGoldenFolder(argument)
                      ? "; sextant merge makes one golden file of its parts"
                      : "");
    if (IsHdf5(argument)) {
      AddGoldens(argument);
    } else if (!exists && !IsMeantAsFile(argument)) {
      const bool is_name = !argument.empty() && argument.find_first_of(" @#") == argument.npos;
      if (is_name) RefuseName(argument);
      const auto folders = fixtures::FoldersOfLists();
      NoteAliases(argument, noted_);
      Add({ParseLine(argument, selection_.config, folders), "", std::nullopt}, argument, folders);
    } else if (argument.ends_with(".h5")) {
      throw Error(argument, exists ? " is not an HDF5 file" : " does not exist",
                  exists ? "" : DidYouMeanFile(argument));
    } else if (!exists) {
      throw Error(argument, ": there is no such file or operation",
                  DidYouMeanFile(argument) + DidYouMean(argument, NamesOfCases()));
    } else {
      const auto folders = fixtures::FoldersOfLists(argument);
      for (CaseInFile& read : ReadCases(argument, selection_.config)) {
        NoteAliases(read.line.text, noted_);
        Add({std::move(read.c), std::move(read.line.why), std::nullopt}, read.line.text, folders);
      }
    }
  }

 private:
  using Folders = std::vector<std::filesystem::path>;

  void AddGoldens(const std::string& path) {
    for (const auto& [option, is_given] : {std::pair("--config", !selection_.config.path.empty()),
                                           std::pair("--with", has_words_)}) {
      if (is_given)
        throw Error(option, " applies to case lines; the cases of ", path, " are complete");
    }
    for (Selected& golden : ReadGoldens(path)) Add(std::move(golden), "", {});
  }

  void Add(Selected s, const std::string& text, const Folders& folders) {
    const std::string line = s.c.ToString();
    const bool is_kept = IsKept(line, selection_);
    if (has_words_ || !is_kept) left_out_.push_back(line);
    if (!is_kept || (has_words_ && !Replace(s, text, folders))) return;
    if (seen_.insert(s.c.ToString()).second || s.record) {
      all_.push_back(std::move(s));
    } else if (has_words_) {
      ++selection_.replaced->equal;
    }
  }

  // Sets the words of `with` in the case of the line `text`; false if it cannot have them.
  bool Replace(Selected& s, const std::string& text, const Folders& folders) {
    try {
      const std::string line = WithWords(text, selection_.with, noted_);
      Case replaced = ParseLine(line, selection_.config, folders);
      // a value may not fit into another dtype
      WithinMemory(replaced, [&] { CheckFit(replaced, NpyReader()); });
      s.c = std::move(replaced);
      return true;
    } catch (const OutOfMemory&) {
      throw;
    } catch (const Error& e) {
      selection_.replaced->not_applicable.push_back({s.c.ToString(), e.what()});
      return false;
    }
  }

  // With the number of cases that each filter selects.
  std::string WhyNoCase() const {
    if (selection_.replaced && !selection_.replaced->not_applicable.empty()) {
      const auto& none = selection_.replaced->not_applicable;
      return "none of " + CountText(none.size(), "case") + " can have " + selection_.with +
             "; the first: " + none.front().line + ": " + none.front().why;
    }
    std::string why = "no case was selected";
    if (left_out_.empty()) return why;
    why += ": of " + CountText(left_out_.size(), "case");
    const auto add = [&](const char* option, const std::string& filter) {
      const auto count = std::ranges::count_if(
          left_out_, [&](const std::string& line) { return Selects(filter, line); });
      why +=
          std::string(", ") + option + " '" + Marked(filter) + "' selects " + std::to_string(count);
    };
    for (const std::string& filter : selection_.filters) add("--filter", filter);
    for (const std::string& filter : selection_.excluded) add("--exclude", filter);
    return why;
  }

  const Selection& selection_;
  const bool has_words_;  // of `with`
  std::vector<Selected> all_;
  std::vector<std::string> left_out_;  // lines of all other cases, and those before `with`
  std::set<std::string> seen_;         // the lines of all_
  std::set<std::string> noted_;        // about aliases
};

}  // namespace

void NoteAliases(const std::string& line, std::set<std::string>& noted) {
  for (const std::string& note : InOurWords(line).notes) {
    if (noted.insert(note).second) std::cerr << "sextant: " << note << "\n";
  }
}

std::vector<std::string> JoinedLines(const std::vector<std::string>& arguments) {
  std::vector<std::string> joined;
  bool is_line = false;  // the argument before is a case line, or the beginning of one
  for (const std::string& argument : arguments) {
    const bool is_word = IsWordOfLine(argument);
    if (is_word && is_line) {
      joined.back() += " " + argument;
      continue;
    }
    if (is_word && !joined.empty() && !IsFile(joined.back()))
      MakeOperationNamed(joined.back());  // throws Error for a mistyped one
    if (is_word) {
      throw Error("'", argument,
                  "' is no file, and no case line: expected an operation before it, ",
                  "'OPERATION ", argument, " ...'");
    }
    is_line = !IsFile(argument) && !IsMeantAsFile(argument);
    joined.push_back(argument);
  }
  return joined;
}

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
  for (const std::string& filter : selection.filters) RequireNamesOfToday("--filter", filter);
  for (const std::string& filter : selection.excluded) RequireNamesOfToday("--exclude", filter);
  CheckWords(selection.with);
  Selecting selecting(selection);
  for (const std::string& argument : JoinedLines(selection.arguments))
    selecting.AddFrom(CasesNamed(argument));
  return selecting.Take();
}

}  // namespace sextant::tools
