#include "tools/api/config_for.h"

#include <algorithm>
#include <ranges>
#include <string>

#include "fixtures/config/computed_rules.h"
#include "fixtures/config/model_types.h"
#include "reference/base/error.h"
#include "reference/case/case.h"
#include "reference/case/extents.h"
#include "reference/case/operations.h"

namespace sextant::tools {
namespace {

using fixtures::Model;
using fixtures::ModelLayers;

// The attributes whose values depend on the model, so that an operation's default must not be used.
// If `together_with` is not empty, the fact belongs to an operation only if the operation also has
// one of those attributes: other operations use the same name with another meaning.
struct ModelFact {
  std::string_view key;
  fixtures::Keys together_with{};
};
constexpr ModelFact kModelFacts[] = {{"pairing"},
                                     {"base", "scaling arrangement"},
                                     {"scaling"},
                                     {"R"},
                                     {"sections"},
                                     {"order", "sections"},
                                     {"arrangement"},
                                     {"frequencies", "arrangement"},
                                     {"A", "arrangement"},
                                     {"eps", "unit_offset"},
                                     {"unit_offset"},
                                     {"max_bias"},
                                     {"form"},
                                     {"beta", "floor_scale"},
                                     {"floor_scale"},
                                     {"start", "floor_scale"},
                                     {"original_max_position_embeddings"},
                                     {"bidirectional"},
                                     {"max_distance"},
                                     {"P", "max_distance"}};

// Attributes that also depend on the model but are read from the configurations of some model types
// only, or of none, because every model type uses other keys for them. Without a configuration that
// states them the user must give those that the operation has.
constexpr fixtures::Keys kUnread =
    "kind placement qk_norm beta limit alpha plus_one mask scale soft_cap window chunk logit_cap "
    "embedding_scale";

// An operation with one of these attributes uses rotary embedding.
constexpr const char* kRotaryFacts[] = {"pairing", "base", "scaling", "R"};

// `layer`: the name of the kind, or the number of one of its layers. If all layers are alike, these
// are the numbers below L.
bool Contains(const ModelLayers& kind, const std::string& layer) {
  const auto is_number = [&](int64_t i) { return layer == std::to_string(i); };
  const auto count = kind.facts.find("L");
  if (kind.name.empty() && count != kind.facts.end())
    return std::ranges::any_of(std::views::iota(int64_t{0}, std::stoll(count->second)), is_number);
  return layer == kind.name || std::ranges::any_of(kind.layers, is_number);
}

// The operation without inputs that has an output of this name, so that the input depends on the
// model alone; empty if there is none.
std::string_view SourceOfInput(const std::string& input) {
  for (const auto& operation : AllOperations()) {
    const OperationInfo& info = operation->info();
    if (!info.signature.inputs.empty()) continue;
    if (std::ranges::count(info.signature.outputs, input, &TensorSpec::name)) return info.name;
  }
  return "";
}

// For a model without rotary embedding: the operations that its position scheme needs, as the end
// of a message.
std::string ApplicableOperations(const ModelLayers& layers) {
  std::string names;
  for (const char* key : {"max_bias", "max_distance"}) {
    if (!layers.facts.contains(key)) continue;
    for (const auto& operation : AllOperations()) {
      if (Case::Has(*operation, key)) names += " " + std::string(operation->info().name);
    }
  }
  return names.empty() ? "" : "; operations that apply:" + names;
}

std::string AxesOf(const ModelLayers& layers) {
  for (const char* key : {"sections", "arrangement"}) {
    if (layers.facts.contains(key)) return std::string(key) + "=" + layers.facts.at(key);
  }
  return "";
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
  if (!Case::Has(operation, key)) return false;
  const auto fact = std::ranges::find(kModelFacts, key, &ModelFact::key);
  if (fact == std::end(kModelFacts) || fact->together_with.empty()) return true;
  return std::ranges::any_of(fixtures::Split(fact->together_with),
                             [&](std::string_view other) { return Case::Has(operation, other); });
}

bool ConfigFor::IsUnread(const std::string& key) const {
  if (!Case::Has(operation, key)) return false;
  if (std::ranges::count(fixtures::Split(kUnread), key) == 0) return false;
  return std::ranges::count(kModelFacts, key, &ModelFact::key) == 0 || !Has(key);
}

bool ConfigFor::Rotates() const {
  return std::ranges::any_of(kRotaryFacts, [this](const char* key) { return Has(key); });
}

bool ConfigFor::TakesAngles() const {
  const bool has_position = FindTensor(operation.info().signature, "position") != nullptr;
  return Has("pairing") || (Has("base") && has_position);
}

const std::string* ConfigFor::Given(const std::string& key) const {
  const auto at = std::ranges::find_if(
      words, [&](const std::string& word) { return word.starts_with(key + "="); });
  return at == words.end() ? nullptr : &*at;
}

// "attention.scale" belongs to every operation with heads, "gated.kind" to every one with the kinds
// of gated units.
bool ConfigFor::BelongsTo(std::string_view family) const {
  if (family == fixtures::kAttentionFacts) return Case::Has(operation, "D");
  if (family != fixtures::kGateFacts) return family == operation.info().name;
  return std::ranges::any_of(operation.Attributes(), [](const Attribute& attribute) {
    return attribute.name == "kind" && std::ranges::count(attribute.values, "swiglu") > 0;
  });
}

Facts ConfigFor::FactsOf(const ModelLayers& layers) const {
  Facts facts;
  for (const auto& [fact, text] : layers.facts) {
    const size_t dot = fact.find('.');
    const std::string key = fact.substr(dot + 1);  // all of it without a dot
    const bool has =
        dot == fact.npos ? Has(key) : BelongsTo(fact.substr(0, dot)) && Case::Has(operation, key);
    if (has && !Given(key)) facts[key] = text;
  }
  const std::string* length = Given("seq_len");
  if (length && facts.contains("scaling")) {
    std::optional<int64_t> seq_len;
    ParseValue(SplitWord(*length).second, seq_len);
    facts["scaling"] = fixtures::ScalingAt(layers, seq_len);
  }
  return facts;
}

// Every fact about rotation must reach the case with its meaning unchanged, else Error.
void ConfigFor::RequireExpressible(const Model& model, const ModelLayers& layers) const {
  const std::string_view name = operation.info().name;
  if (!model.rotates() && Rotates()) {
    throw Error(model.model_type, " has ", model.non_rotary, ", no rotary embedding: ", name,
                " does not apply", ApplicableOperations(layers));
  }
  for (const TensorSpec& input : operation.info().signature.inputs) {
    const std::string_view source = SourceOfInput(input.name);
    if (source.empty() || Given("@" + input.name)) continue;
    throw Error(name, " takes ", input.name, " as an input; give @", input.name, "= (", source,
                " computes it)");
  }
  for (const Attribute& attribute : operation.Attributes()) {
    const std::string& key = attribute.name;
    const bool is_model_fact = std::ranges::count(kModelFacts, key, &ModelFact::key) > 0;
    if (!is_model_fact || attribute.dimension || Has(key) || Given(key) || IsUnread(key)) continue;
    if (silence == Silence::kIsAllowed) continue;
    throw Error("the model's ", key, " is not the ", key, " of ", name, "; give ", key, "=");
  }
  const auto R = layers.facts.find("R"), D = layers.facts.find("D");
  const bool partial = R != layers.facts.end() && D != layers.facts.end() && R->second != D->second;
  if (partial && Has("base") && Has("D") && !Has("R")) {
    throw Error("the model rotates R=", R->second, " of D=", D->second, " channels, and ", name,
                " has no R; expected D=", R->second, " and no configuration");
  }
  const auto sections = layers.unknown.find("sections");
  if (sections != layers.unknown.end() && TakesAngles() && !Has("sections")) {
    throw Error("positions of ", model.model_type, " have several axes: ", sections->second);
  }
  const std::string axes = AxesOf(layers);
  // Sections share one list of frequencies; axes with separate channels have separate lists.
  const bool depends_on_axes = layers.facts.contains("arrangement") ? Has("base") : TakesAngles();
  if (!axes.empty() && depends_on_axes && !Has("sections") && !Has("arrangement")) {
    throw Error("positions of ", model.model_type, " have several axes, ", axes, ", and ", name,
                " has one");
  }
  if (silence == Silence::kIsRefused) RequireKnown(layers);
}

std::vector<std::string> ConfigFor::SilentAttributes(const Facts& facts) const {
  std::vector<std::string> silent;
  for (const Attribute& attribute : operation.Attributes()) {
    const std::string& key = attribute.name;
    const bool is_model_fact = std::ranges::count(kModelFacts, key, &ModelFact::key) > 0;
    // An attribute has no default if there is none that is right for every model.
    const bool depends_on_model =
        is_model_fact || IsUnread(key) || (attribute.required && !attribute.dimension);
    if (depends_on_model && !facts.contains(key) && !Given(key)) silent.push_back(key);
  }
  return silent;
}

// The widths of the tensors alone say nothing about what is computed.
void ConfigFor::RequireAnyFact(const Facts& facts) const {
  const auto says_something = [&](const std::string& key) {
    const bool shares_heads = key == "K" && Has("H");
    return shares_heads || !IsDimension(key) || key == "R";
  };
  if (std::ranges::any_of(facts, [&](const auto& fact) { return says_something(fact.first); }))
    return;
  std::string keys;
  for (const std::string& key : SilentAttributes(facts)) keys += " " + key;
  throw Error("the configuration says nothing about ", operation.info().name,
              keys.empty() ? "" : ", whose attributes depend on the model:" + keys);
}

void ConfigFor::RequireKnown(const ModelLayers& layers) const {
  const Facts facts = FactsOf(layers);
  const auto R = layers.facts.find("R");
  const bool has_no_rotation = R != layers.facts.end() && R->second == "0";
  std::string reasons, keys;
  for (const ModelFact& fact : kModelFacts) {
    const std::string key(fact.key);
    if (!Has(key) || Given(key) || layers.facts.contains(key)) continue;
    if (has_no_rotation && key == "base") continue;
    const auto why = layers.unknown.find(key);
    reasons += why == layers.unknown.end() ? "the model has no " + key
                                           : key + " is not known: " + why->second;
    reasons += "; ";
    keys += " " + key + "=";
  }
  std::string unread;
  for (const Attribute& attribute : operation.Attributes()) {
    const std::string& key = attribute.name;
    if (IsUnread(key) && !Given(key) && !facts.contains(key)) unread += " " + key + "=";
  }
  if (!unread.empty()) reasons += "not all attributes are read from configurations; ";
  keys += unread;
  if (!keys.empty()) {
    throw Error(reasons, "give", keys, unread.empty() ? "" : " (an empty value means unset)");
  }
}

Facts ConfigFor::FactsFor(const Model& model, const std::string& layer) const {
  std::vector<const ModelLayers*> chosen;
  for (const ModelLayers& kind : model.kinds) {
    if (layer.empty() || Contains(kind, layer)) chosen.push_back(&kind);
  }
  if (chosen.empty()) {
    const bool alike = model.kinds.front().name.empty();
    throw Error("the model has no layer ", layer, "; ",
                alike ? "all its layers are alike: leave the layer out"
                      : "it has: " + DescribeKinds(model));
  }
  const Facts facts = FactsOf(*chosen.front());
  for (const ModelLayers* kind : chosen) {
    const bool differs = FactsOf(*kind) != facts || (Has("base") && !kind->certain);
    if (!layer.empty() || !differs) continue;
    throw Error("layers of ", model.model_type, kind->certain ? " differ" : " may differ",
                "; expected the layer, one of: ", DescribeKinds(model));
  }
  RequireExpressible(model, *chosen.front());
  if (silence == Silence::kIsAllowed) RequireAnyFact(facts);
  return facts;
}

}  // namespace sextant::tools
