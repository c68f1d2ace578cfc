// The facts of a model that a question about an operation takes from its configuration.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fixtures/config/config.h"
#include "reference/case/operation.h"

namespace sextant::tools {

// Facts by attribute or dimension, as in a case line.
using Facts = std::map<std::string, std::string>;

struct ConfigFor {
  const Operation& operation;
  const std::vector<std::string>& words;  // "key=value": they override the configuration

  // Those of the layers named (a name or a number; empty: all layers). Throws Error where the
  // operation cannot express what the model does, needs a fact that is not known, or where the
  // layers differ and none was named.
  Facts Of(const fixtures::Model& model, const std::string& layer) const;

 private:
  bool Has(const std::string& key) const;
  bool IsUnread(const std::string& key) const;
  bool Rotates() const;
  const std::string* Given(const std::string& key) const;  // the word; null if it is not given
  Facts FactsOf(const fixtures::ModelLayers& layers) const;
  void RequireExpressible(const fixtures::Model& model, const fixtures::ModelLayers& layers) const;
  void RequireKnown(const fixtures::ModelLayers& layers) const;
};

// Which configuration completes case lines, which object of it, and which of its layers; no path:
// none does.
struct ConfigChoice {
  std::string path{}, part{}, layer{};
};

// The line with the facts of the configuration that its operation has and its words do not give.
std::string Completed(const std::string& line, const ConfigChoice& choice);

// "full_attention (5, 11, ...)" for each kind.
std::string DescribeKinds(const fixtures::Model& model);

}  // namespace sextant::tools
