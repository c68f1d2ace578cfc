// Reads the cases that a command line names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reference/case/case.h"
#include "reference/case/draw.h"
#include "reference/prove/golden.h"
#include "tools/api/completed_line.h"

namespace sextant::tools {

// A selected case; `record` is set if it comes from a golden file.
struct Selected {
  Case c;
  std::string why;  // the comment of its line in the file of cases
  std::optional<Record> record;
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
  ConfigChoice config{};  // completes case lines, but not those of golden files
  std::vector<std::string>* left_out = nullptr;  // gets the lines of cases that the filters drop
  // Words that replace those of every selected case line, or are added: "D=64 dtype=bf16". Golden
  // files are then an Error.
  std::string with{};
  Replaced* replaced =
      nullptr;  // set if `with` is not empty; left_out then also gets the lines before
};

// The file `NAME.cases` of the cases that come with the program, in fixtures/cases of the current
// folder or beside the program: "attention", "real/attention". Whatever is not such a name is
// returned as it is.
std::string CasesNamed(const std::string& name);

// Every argument is a .cases file, a golden file (HDF5), a case line ("rope pairing=half ..."), or
// a name for CasesNamed.
// A case is kept if any of the filters selects it and none of the excluded texts does. A text
// selects the cases whose canonical line contains it, or matches it as a pattern if it has a * or
// ?; with other words, the line before. A case line is dropped if its case is already selected.
// Throws Error that names file and line.
std::vector<Selected> Select(const Selection& selection);

// True if the file begins as an HDF5 file does.
bool IsHdf5(const std::string& path);

// The inputs in its golden file, or else those that the case draws.
Tensors InputsOf(const Selected& selected);

// Reads "FILE.npy#SHA256" inputs.
FileReader NpyReader();

}  // namespace sextant::tools
