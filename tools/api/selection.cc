#include "tools/api/selection.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>

#include "fixtures/config/named_list.h"
#include "fixtures/store/golden_folder.h"
#include "fixtures/store/golden_of_case.h"
#include "fixtures/store/integrity.h"
#include "fixtures/store/npy.h"
#include "fixtures/store/reader.h"
#include "reference/base/count_text.h"
#include "reference/base/did_you_mean.h"
#include "reference/base/parallel.h"
#include "reference/base/printable.h"
#include "reference/case/aliases.h"
#include "reference/case/former_names.h"
#include "reference/case/operations.h"
#include "reference/case/out_of_memory.h"
#include "tools/api/case_file.h"
#include "tools/api/input_faults.h"
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

// The goldens of a file, or of a folder of parts, with the lines of their cases.
class GoldenReader {
 public:
  explicit GoldenReader(const std::string& path)
      : path_(path),
        is_folder_(fixtures::IsGoldenFolder(path)),
        files_(is_folder_ ? fixtures::PartsOfFolder(path) : std::vector{path}) {}

  std::vector<Selected> Read() {
    CheckDigests();
    for (const std::string& file : files_) {
      for (fixtures::LargeRecord& record : fixtures::ReadLargeRecords(file)) {
        const std::string line = record.case_line;
        try {
          Add(std::move(record));
        } catch (const Error& e) {
          throw Error(file, ": ", line, ": ", e.what());
        }
      }
    }
    // The files are open, but may be others than those whose digests were checked.
    if (is_folder_) fixtures::PartsOfFolder(path_);
    return std::move(selected_);
  }

 private:
  // Children read the files, several at a time.
  void CheckDigests() const {
    std::vector<std::string> damages(files_.size());
    InParallel(files_.size(), 0, [&](size_t f) {
      for (const fixtures::Damage& damage : fixtures::CheckDigests(files_[f]))
        damages[f] = files_[f] + ": " + damage.path + ": " + damage.what;
    });
    for (const std::string& damage : damages)
      if (!damage.empty()) throw Error(damage, " (sextant verify lists all damage)");
  }

  // A case without a golden is a question.
  void Add(fixtures::LargeRecord record) {
    const bool goes_on = is_folder_ && of_case_ && of_case_->c().ToString() == record.case_line;
    if (!goes_on) {
      selected_.push_back({Case::Parse(record.case_line)});
      of_case_ = std::make_shared<fixtures::GoldenOfCase>(selected_.back().c);
      drawn_.emplace(of_case_->c(), NpyReader());
      if (!record.golden.empty()) selected_.back().golden = of_case_;
    }
    if (record.golden.empty()) return;
    if (!is_folder_ && !record.slice.empty())
      throw Error("is only the slice ", record.slice, "; name the folder of its parts");
    const Slice slice = ParseSlice(of_case_->c(), record.slice);
    const std::string why = fixtures::WhyIncomplete(record, of_case_->c(), slice);
    if (!why.empty()) throw Error(why);
    const std::vector<std::string> faults = InputFaults(record, of_case_->c(), drawn_->readers());
    if (!faults.empty()) throw Error(faults.front());
    of_case_->Add(std::move(record));
  }

  const std::string path_;
  const bool is_folder_;
  const std::vector<std::string> files_;
  std::vector<Selected> selected_;
  std::shared_ptr<fixtures::GoldenOfCase> of_case_;  // the last one
  std::optional<DrawnInputs> drawn_;                 // of that case
};

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
    if (repeated_ > 0) {
      std::cerr << "sextant: " << CountText(repeated_, "case line")
                << (repeated_ == 1 ? " repeats" : " repeat") << " a case before and "
                << (repeated_ == 1 ? "counts" : "count") << " once\n";
    }
    return std::move(all_);
  }

  void AddFrom(const std::string& argument) {
    std::error_code ignored;  // of a name that is too long
    const bool exists = IsFile(argument);
    if (IsGolden(argument)) {
      AddGoldens(argument);
    } else if (std::filesystem::is_directory(argument, ignored)) {
      throw Error(argument, " is a folder, expected a file of cases");
    } else if (!exists && !IsMeantAsFile(argument)) {
      const bool is_name = !argument.empty() && argument.find_first_of(" @#") == argument.npos;
      if (is_name) RefuseName(argument);
      const auto folders = fixtures::FoldersOfLists();
      NoteAliases(argument, noted_);
      Add({ParseLine(argument, selection_.config, folders)}, argument, folders);
    } else if (argument.ends_with(".h5")) {
      throw Error(argument, exists ? " is not an HDF5 file" : " does not exist",
                  exists ? "" : DidYouMeanFile(argument));
    } else if (exists && (argument.ends_with(".npz") || argument.ends_with(".safetensors"))) {
      throw Error(argument, " is for other programs; expected cases, or a golden of HDF5 (.h5)");
    } else if (!exists) {
      throw Error(argument, ": there is no such file or operation",
                  DidYouMeanFile(argument) + DidYouMean(argument, NamesOfCases()));
    } else {
      const auto folders = fixtures::FoldersOfLists(argument);
      for (CaseInFile& read : ReadCases(argument, selection_.config)) {
        NoteAliases(read.line.text, noted_);
        Add({std::move(read.c), std::move(read.line.why)}, read.line.text, folders);
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
    for (Selected& golden : GoldenReader(path).Read()) Add(std::move(golden), "", {});
  }

  // `text`: of a case line; empty: the case is that of a file, each of which is kept.
  void Add(Selected s, const std::string& text, const Folders& folders) {
    const std::string line = s.c.ToString();
    const bool is_kept = IsKept(line, selection_);
    if (has_words_ || !is_kept) left_out_.push_back(line);
    if (!is_kept || (has_words_ && !Replace(s, text, folders))) return;
    if (seen_.insert(s.c.ToString()).second || text.empty()) {
      all_.push_back(std::move(s));
    } else {
      ++(has_words_ ? selection_.replaced->equal : repeated_);
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
  size_t repeated_ = 0;                // lines of cases that were there before
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

bool IsGolden(const std::string& path) { return IsHdf5(path) || fixtures::IsGoldenFolder(path); }

Tensors InputsOf(const Selected& selected) { return DrawInputs(selected.c, NpyReader()); }

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
