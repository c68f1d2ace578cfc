// sextant models
#include <iostream>
#include <memory>

#include "fixtures/config/config.h"
#include "fixtures/config/model_types.h"
#include "reference/base/printable.h"
#include "reference/case/attribute.h"
#include "tools/api/config_for.h"
#include "tools/api/exit_status.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"
#include "tools/report/json.h"

namespace sextant::tools {
namespace {

using fixtures::ModelType;

// The default values in a row of the table of model types, in the notation of case lines.
Facts FactsOf(const ModelType& type) {
  Facts facts;
  const auto add = [&facts](const char* key, const auto& value) {
    if (value) facts[key] = PrintValue(*value);
  };
  if (!type.variant.empty()) facts["if"] = std::string(type.variant);
  if (!type.non_rotary.positions.empty())
    facts["positions"] = std::string(type.non_rotary.positions);
  add("eps", type.norm.eps);
  if (!type.norm.eps_keys.empty()) add("unit_offset", type.norm.unit_offset);
  if (NeverRotates(type)) return facts;
  if (!type.non_rotary.positions.empty()) facts["positions_if"] = std::string(type.non_rotary.when);
  facts["pairing"] = std::string(type.pairing);
  if (!type.direction.empty()) facts["direction"] = std::string(type.direction);
  add("base", type.base);
  add("R", type.R);
  if (!type.R) add("part", type.fraction);
  if (!type.axes.empty()) facts["order"] = std::string(type.axes);
  if (!type.arrangement.empty()) facts["arrangement"] = std::string(type.arrangement);
  if (!type.layers.unrotated.empty()) facts["unrotated"] = std::string(type.layers.unrotated);
  if (!type.layers.unscaled.empty()) facts["unscaled"] = std::string(type.layers.unscaled);
  if (type.layers.kind == fixtures::Layers::kNoRopeList) facts["unrotated"] = "nope";
  if (type.layers.kind == fixtures::Layers::kCrossAttention) facts["unrotated"] = "cross_attention";
  return facts;
}

std::string Line(const Facts& facts) {
  std::string line;
  for (const auto& [key, text] : facts) line += (line.empty() ? "" : " ") + key + "=" + text;
  return line;
}

int ListTypes(bool json) {
  Json all = Json::array();
  for (const ModelType& type : fixtures::ModelTypes()) {
    if (json) {
      all.push_back({{"model_type", type.name},
                     {"models", type.models},
                     {"absent", FactsOf(type)},
                     {"source", SourceOf(type)}});
    } else {
      std::cout << type.name << std::string(24 - std::min<size_t>(23, type.name.size()), ' ')
                << Line(FactsOf(type)) << "\n"
                << std::string(24, ' ') << type.models << "\n";
    }
  }
  if (json) std::cout << PrintJson(all, 1) << "\n";
  return kVerified;
}

int ListFiles(const std::vector<std::string>& files, const std::string& part, bool json) {
  Json all = Json::array();
  for (const std::string& file : files) {
    const fixtures::Model model = fixtures::ReadConfig(file, part);
    for (const fixtures::ModelLayers& kind : model.kinds) {
      if (json) {
        all.push_back({{"file", file},
                       {"model_type", model.model_type},
                       {"layer", kind.name},
                       {"layers", kind.layers},
                       {"facts", kind.facts},
                       {"unknown", kind.unknown}});
        continue;
      }
      std::cout << Marked(file) << (kind.name.empty() ? "" : " --layer " + kind.name) << ": "
                << Line(kind.facts) << "\n";
      for (const auto& [key, why] : kind.unknown) {
        std::cout << "  " << Marked(key) << " is not known: " << why << "\n";
      }
    }
  }
  if (json) std::cout << PrintJson(all, 1) << "\n";
  return kVerified;
}

}  // namespace

Action BindModels(CLI::App& app) {
  const auto files = std::make_shared<std::vector<std::string>>();
  const auto part = std::make_shared<std::string>();
  const auto json = std::make_shared<bool>(false);
  AddOption(app, "configurations", *files,
            "config.json files; prints the facts of each, by kind of layer");
  AddOption(app, "--part", *part,
            "JSON object to read instead of the text decoder, for example vision_config",
            {.needs = "configurations"});
  AddFlag(app, "--json", *json, "print JSON; for model types with the source of each row");
  return [files, part, json] {
    return files->empty() ? ListTypes(*json) : ListFiles(*files, *part, *json);
  };
}

}  // namespace sextant::tools
