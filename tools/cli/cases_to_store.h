// The cases and options of commands that write a file of records: golden, inputs and answer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fixtures/store/record_file.h"
#include "tools/api/completed_line.h"
#include "tools/api/selection.h"

namespace CLI {
class App;
}

namespace sextant::tools {

struct StoreOptions {
  std::vector<std::string> cases;
  std::string output;
  ConfigChoice config;
};
// The part of the cases that a command stores.
enum class Content { kInputs, kGolden, kAnswers };

void AddStoreOptions(CLI::App& app, StoreOptions& options, Content content);

// The selected cases. Throws Error if a case occurs twice (the canonical line of a case is the key
// of its record), or if the output is one of the files of cases.
std::vector<Selected> CasesToStore(const StoreOptions& options);

// The bytes of the elements that a command stores of all cases.
double SizeToStore(const std::vector<Selected>& selected, Content content);

// Creates the output file. If it will be large, prints its approximate size to standard error.
std::unique_ptr<fixtures::RecordFile> CreateStore(const StoreOptions& options, Content content,
                                                  const std::vector<Selected>& selected);

}  // namespace sextant::tools
