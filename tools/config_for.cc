#include "tools/config_for.h"

#include <algorithm>

#include "reference/case.h"
#include "reference/error.h"

namespace sextant::tools {
namespace {

using fixtures::Model;
using fixtures::ModelLayers;

// The facts that are a model's: where an operation has such an attribute, its own default says
// nothing of the model.
constexpr const char* kModelFacts[] = {"pairing",     "base",        "scaling", "R",        "eps",
                                       "unit_offset", "max_bias",    "form",    "sections", "order",
                                       "beta",        "floor_scale", "start"};

bool Contains(const ModelLayers& kind, const std::string& layer) {
  return layer == kind.name ||
         std::ranges::any_of(kind.layers, [&](int64_t i) { return layer == std::to_string(i); });
}

}  // namespace

std::string DescribeKinds(const Model& model) {
  std::string text;
  for (const ModelLayers& kind : model.kinds) {
    text += (text.empty() ? "" : ", ") + kind.name;
    constexpr size_t kShown = 3;
    for (size_t i = 0; i < std::min(kShown, kind.layers.size()); ++i) {
      text += (i == 0 ? " (" : ", ") + std::to_string(kind.layers[i]);
    }
    if (!kind.layers.empty()) text += kind.layers.size() > kShown ? ", ...)" : ")";
  }
  return text;
}

bool ConfigFor::Has(const std::string& key) const {
  // `beta` is the temperature's only beside `floor_scale`: other operations use the same letter.
  if (key == "beta") return Case::Has(operation, key) && Case::Has(operation, "floor_scale");
  return Case::Has(operation, key);
}

bool ConfigFor::IsGiven(const std::string& key) const {
  return std::ranges::any_of(words,
                             [&](const std::string& word) { return SplitWord(word).first == key; });
}

Facts ConfigFor::FactsOf(const ModelLayers& layers) const {
  Facts facts;
  for (const auto& [key, text] : layers.facts) {
    if (Has(key) && !IsGiven(key)) facts[key] = text;
  }
  return facts;
}

// What a configuration says of rotation must not be lost or misread on the way into a case.
void ConfigFor::RequireExpressible(const Model& model, const ModelLayers& layers) const {
  const std::string_view name = operation.info().name;
  for (const TensorSpec& input : operation.info().signature.inputs) {
    const bool of_the_model = input.name == "inv_freq" || input.name == "slope";
    if (!of_the_model || IsGiven("@" + input.name)) continue;
    throw Error("--config: ", name, " takes ", input.name, " as an input; give @", input.name, "=");
  }
  if (Has("base") && !Has("scaling")) {
    throw Error("--config: the base of a rotary embedding is not the base of ", name);
  }
  if (!model.rotates && Rotates()) {
    throw Error("--config: ", model.model_type,
                " has linear biases (ALiBi) and no rotary embedding");
  }
  const auto R = layers.facts.find("R"), D = layers.facts.find("D");
  const bool partial = R != layers.facts.end() && D != layers.facts.end() && R->second != D->second;
  if (partial && Rotates() && Has("D") && !Has("R")) {
    throw Error("--config: the model rotates R=", R->second, " of D=", D->second, " channels, and ",
                name, " has no R; expected D=", R->second, " and no --config");
  }
  if (layers.facts.contains("sections") && Has("pairing") && !Has("sections")) {
    throw Error("--config: positions of ", model.model_type,
                " have several axes, sections=", layers.facts.at("sections"), ", and ", name,
                " has one");
  }
  for (const char* key : kModelFacts) {
    if (!Has(key) || IsGiven(key) || layers.facts.contains(key)) continue;
    const bool rests = R != layers.facts.end() && R->second == "0";
    if (rests && std::string_view(key) == "base") continue;  // nothing rotates
    const auto why = layers.unknown.find(key);
    throw Error("--config: ", why == layers.unknown.end() ? "the model has no " : "", key,
                why == layers.unknown.end() ? std::string() : " is not known: " + why->second,
                "; give ", key, "=");
  }
}

Facts ConfigFor::Of(const Model& model, const std::string& layer) const {
  std::vector<const ModelLayers*> chosen;
  for (const ModelLayers& kind : model.kinds) {
    if (layer.empty() || Contains(kind, layer)) chosen.push_back(&kind);
  }
  if (chosen.empty()) {
    const bool alike = model.kinds.front().name.empty();
    throw Error("--layer ", layer, " is none of the model's layers: ",
                alike ? "they are all alike" : DescribeKinds(model));
  }
  const Facts facts = FactsOf(*chosen.front());
  for (const ModelLayers* kind : chosen) {
    const bool differs = FactsOf(*kind) != facts || (Rotates() && !kind->certain);
    if (!layer.empty() || !differs) continue;
    throw Error("--config: layers of ", model.model_type, kind->certain ? " differ" : " may differ",
                "; give --layer= one of: ", DescribeKinds(model));
  }
  RequireExpressible(model, *chosen.front());
  return facts;
}

}  // namespace sextant::tools
