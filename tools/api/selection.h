// Reads the cases that a command line names.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "reference/base/error.h"
#include "reference/case/case.h"
#include "reference/case/draw.h"
#include "reference/prove/golden_source.h"
#include "tools/api/completed_line.h"

namespace sextant::tools {

// A selected case.
struct Selected {
  Case c;
  std::string why{};                             // the comment of its line in the file of cases
  std::shared_ptr<const GoldenSource> golden{};  // if it comes from a golden file
};

// What `with` made of the cases.
struct Replaced {
  struct Case {
    std::string line, why;
  };
  std::vector<Case> not_applicable{};  // its words are not valid in these, and why
  size_t equal = 0;                    // became equal to a case before them
};

struct Selection {
  const std::vector<std::string>& arguments;
  std::vector<std::string> filters{}, excluded{};
  ConfigChoice config{};                         // completes case lines, but not those of goldens
  std::vector<std::string>* left_out = nullptr;  // gets the lines of cases that the filters drop
  // Words that replace those of every selected case line, or are added: "D=64 dtype=bf16". Golden
  // files are then an Error.
  std::string with{};
  // Set if `with` is not empty; left_out then also gets the lines before.
  Replaced* replaced = nullptr;
};

// The arguments select no case; says how many each filter selects. The exit status is kNothing.
class NoCase : public Error {
  using Error::Error;
};

// Every argument is a .cases file, a golden (an HDF5 file, or a folder of parts), a case line
// ("rope pairing=half ..."), which may be several arguments (JoinedLines), or a name
// (named_cases.h). A case is kept if all filters select it and none of the excluded texts does. A
// text selects the cases whose canonical line contains it; in it, * stands for any characters and ?
// for one; with other words, the line before. A case line is dropped if its case is already
// selected. Notes about aliases are printed (NoteAliases), each once. Throws Error that names file
// and line, and NoCase.
std::vector<Selected> Select(const Selection& selection);

// Prints to standard error the notes about aliases in the line that are not in `noted`; adds them.
void NoteAliases(const std::string& line, std::set<std::string>& noted);

// The arguments, with words KEY=VALUE joined to the case line before them: a line without quotes.
std::vector<std::string> JoinedLines(const std::vector<std::string>& arguments);

// True if the file begins as an HDF5 file does.
bool IsHdf5(const std::string& path);

// True if it is a golden file, or a folder of parts of one.
bool IsGolden(const std::string& path);

// The inputs that the case draws; a golden is only selected if its inputs are these.
Tensors InputsOf(const Selected& selected);

// Reads "FILE.npy#SHA256" inputs.
FileReader NpyReader();

}  // namespace sextant::tools
