// Completes a case line with the attributes and dimensions of a model, read from its config.json.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fixtures/config/config.h"
#include "reference/case/operation.h"

namespace sextant::tools {

// The values of attributes and dimensions by name, as written in a case line.
using Facts = std::map<std::string, std::string>;

struct ConfigFor {
  const Operation& operation;
  const std::vector<std::string>& words;  // "key=value": they override the configuration

  // The facts for one kind of layers. `layer` is the name of a kind or the number of a layer; empty
  // means all layers. Throws Error if the operation cannot express the model, if a fact that it
  // needs is not known, or if the layers differ and `layer` is empty.
  Facts FactsFor(const fixtures::Model& model, const std::string& layer) const;

 private:
  bool Has(const std::string& key) const;
  bool IsUnread(const std::string& key) const;
  bool Rotates() const;
  bool TakesAngles() const;  // rotates, or computes tables for the rotation, by positions
  const std::string* Given(const std::string& key) const;  // the word "key=...", or null
  Facts FactsOf(const fixtures::ModelLayers& layers) const;
  void RequireExpressible(const fixtures::Model& model, const fixtures::ModelLayers& layers) const;
  void RequireKnown(const fixtures::ModelLayers& layers) const;
};

// Which configuration completes case lines: the file, the JSON object in it (--part) and the layers
// (--layer). An empty path means no configuration.
struct ConfigChoice {
  std::string path{}, part{}, layer{};
};

// The case line, completed with those facts of the configuration that the operation has and that
// the line does not give, except `left_out`.
std::string CompleteLine(const std::string& line, const ConfigChoice& choice,
                         const std::string& left_out = "");

// The kinds of layers and their numbers: "full_attention (5, 11, ...), sliding_attention (0, ...)".
std::string DescribeKinds(const fixtures::Model& model);

}  // namespace sextant::tools
