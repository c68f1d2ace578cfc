// Completes a case line with the attributes and dimensions of a model, read from its config.json.
#pragma once

#include <string>
#include <vector>

#include "tools/api/config_for.h"

namespace sextant::tools {

// Which configuration completes case lines: the file, the JSON object in it (--part) and the layers
// (--layer). An empty path means no configuration.
struct ConfigChoice {
  std::string path{}, part{}, layer{};
};

// The words of a case line, which are separated by spaces.
std::vector<std::string> WordsIn(const std::string& line);

// The case line, completed with those facts of the configuration that the operation has and that
// the line does not give, except `left_out`.
std::string CompleteLine(const std::string& line, const ConfigChoice& choice,
                         const std::string& left_out = "");

// A line for a comparison with the model.
struct ComparableLine {
  std::string line;                       // completed with the facts
  Facts facts;                            // empty without a configuration
  std::vector<std::string> not_compared;  // attributes about which the configuration says nothing
};
// Throws Error if the configuration says nothing about any attribute of the operation.
ComparableLine CompleteToCompare(const std::string& line, const ConfigChoice& choice);

}  // namespace sextant::tools
