// The attributes and dimensions of a model, read from its config.json, that an operation has.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/config/config.h"
#include "reference/case/operation.h"

namespace sextant::tools {

// The values of attributes and dimensions by name, as written in a case line.
using Facts = std::map<std::string, std::string>;

// What if neither the configuration nor the words say what an attribute of the model is.
enum class Silence {
  kIsRefused,  // throws Error: the default of the operation may be wrong
  kIsAllowed,  // unless the configuration says nothing about any attribute
};

struct ConfigFor {
  const Operation& operation;
  const std::vector<std::string>& words;  // "key=value": they override the configuration
  Silence silence = Silence::kIsRefused;

  // The facts for one kind of layers. `layer` is the name of a kind or the number of a layer; empty
  // means all layers. Throws Error if the operation cannot express the model, if a fact that it
  // needs is not known, or if the layers differ and `layer` is empty.
  Facts FactsFor(const fixtures::Model& model, const std::string& layer) const;

  // The attributes that depend on the model and are neither among its facts nor among the words, in
  // the order of the operation.
  std::vector<std::string> SilentAttributes(const Facts& facts) const;

 private:
  bool Has(const std::string& key) const;
  bool IsUnread(const std::string& key) const;
  bool Rotates() const;
  bool TakesAngles() const;  // rotates, or computes tables for the rotation, by positions
  const std::string* Given(const std::string& key) const;  // the word "key=...", or null
  bool BelongsTo(std::string_view family) const;
  Facts FactsOf(const fixtures::ModelLayers& layers) const;
  void RequireExpressible(const fixtures::Model& model, const fixtures::ModelLayers& layers) const;
  void RequireKnown(const fixtures::ModelLayers& layers) const;
  void RequireAnyFact(const Facts& facts) const;
};

// The kinds of layers and their numbers: "full_attention (5, 11, ...), sliding_attention (0, ...)".
std::string DescribeKinds(const fixtures::Model& model);

}  // namespace sextant::tools
