// sextant list, sextant describe
#include <algorithm>
#include <cctype>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "reference/case/aliases.h"
#include "reference/case/case.h"
#include "reference/case/dimensions.h"
#include "reference/case/operations.h"
#include "reference/case/optional_inputs.h"
#include "tools/api/exit_status.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"
#include "tools/report/json.h"

namespace sextant::tools {
namespace {

int List(bool json) {
  Json all = Json::array();
  size_t longest = 0;
  for (const auto& operation : AllOperations())
    longest = std::max(longest, operation->info().name.size());
  for (const auto& operation : AllOperations()) {
    const OperationInfo& info = operation->info();
    if (json) {
      all.push_back({{"name", info.name}, {"signature", info.signature_text}});
    } else {
      std::cout << info.name << std::string(longest + 1 - info.name.size(), ' ')
                << info.signature_text << "\n";
    }
  }
  if (json) std::cout << PrintJson(all, 1) << "\n";
  return kVerified;
}

bool Mentions(std::string_view text, std::string_view name) {
  const auto in_word = [&](size_t at) {
    return at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_');
  };
  for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    if (!in_word(at - 1) && !in_word(at + name.size())) return true;
  }
  return false;
}

// The lines of a formula's text that explain `name`, without the name itself: the line that begins
// with the name, and the lines after it that are indented further.
std::vector<std::string> LinesAbout(const std::string& name, std::string_view formula) {
  std::vector<std::string> about;
  std::istringstream lines{std::string(formula)};
  for (std::string line; std::getline(lines, line);) {
    const bool begins = line.starts_with("  " + name + "  ");
    if (about.empty() && !begins) continue;
    if (!begins && !line.starts_with("    ")) break;
    line.erase(0, line.find_first_not_of(' ', begins ? name.size() + 2 : 0));
    about.push_back(line);
  }
  return about;
}

// If the operation's own formula does not explain an attribute, returns the explanation from
// another operation with the same attribute. Operations that the formula mentions come first.
std::vector<std::string> ExplanationOf(const Attribute& attribute, const OperationInfo& info) {
  if (Mentions(info.formula, attribute.name)) return {};
  auto others = AllOperations();
  std::ranges::stable_partition(
      others, [&](const auto& other) { return Mentions(info.formula, other->info().name); });
  for (const auto& other : others) {
    for (const Attribute& same : other->Attributes()) {
      if (same.name != attribute.name || same.text != attribute.text) continue;
      auto lines = LinesAbout(attribute.name, other->info().formula);
      if (!lines.empty()) return lines;
    }
  }
  return {};
}

std::string OptionalInputsText(const Signature& signature) {
  std::string text;
  for (const TensorSpec& input : signature.inputs) {
    if (input.optional) text += " " + input.name;
  }
  return text;
}

void PrintDimensions(const Operation& operation) {
  std::cout << "dimensions:\n";
  for (const std::string& name : DimensionsOf(operation)) {
    const std::string value = DefaultText(operation, name);
    std::cout << "  " << name << (value.empty() ? " (required)" : "=" + value) << "\n";
  }
}

struct FileOfOperation {
  std::string_view operation, path;  // from the root of the sources
};
constexpr FileOfOperation kFiles[] = {
#include <files_of_operations.inc>
};

// What the files of an operation in a folder are.
struct KindOfFile {
  std::string_view name, folder;
};
constexpr KindOfFile kKinds[] = {{"formula", "reference/"},
                                 {"kernel", "fast/"},
                                 {"properties and defects", "oracle/"},
                                 {"cases", "fixtures/cases/"},
                                 {"golden", "fixtures/golden/"},
                                 {"in mpmath", "fixtures/mpmath/"},
                                 {"in numpy", "tools/adapters/native/"}};

constexpr size_t kKindWidth = 22;

bool IsTest(std::string_view path) {
  return path.find("_test.") != path.npos || path.find("_bench.") != path.npos;
}

void PrintFiles(std::string_view operation) {
  const auto print = [](std::string_view kind, const std::string& paths) {
    if (paths.empty()) return;
    std::cout << "  " << kind << std::string(kKindWidth - kind.size(), ' ') << paths << "\n";
  };
  std::string tests;
  std::cout << "files:\n";
  for (const auto& [kind, folder] : kKinds) {
    std::string paths;
    for (const auto& [of, path] : kFiles) {
      if (of != operation || !path.starts_with(folder)) continue;
      (IsTest(path) ? tests : paths) += " " + std::string(path);
    }
    print(kind, paths);
    if (folder == "oracle/")
      print("measurements", paths.substr(0, paths.rfind('/')) + "/measured/");
  }
  print("tests and benchmarks", tests);
}

int Describe(const std::string& name) {
  const std::string ours = InOurWords(name).line;
  const auto operation = MakeOperationNamed(ours.substr(0, ours.find(' ')), ours);
  const OperationInfo& info = operation->info();
  std::cout << info.name << ": " << info.signature_text << "\n\n"
            << info.formula << "\n\nattributes:\n";
  for (const Attribute& a : operation->Attributes()) {
    if (a.dimension) continue;
    std::cout << "  " << a.name;
    std::cout << (a.required ? " (required)" : "=" + (a.text.empty() ? "(unset)" : a.text));
    for (size_t i = 0; i < a.values.size(); ++i)
      std::cout << (i == 0 ? "   one of: " : " ") << a.values[i];
    if (a.name == kWith) std::cout << "   optional inputs:" << OptionalInputsText(info.signature);
    std::cout << "\n";
    for (const std::string& line : ExplanationOf(a, info)) std::cout << "      " << line << "\n";
  }
  const auto types = info.bitwise ? kTensorTypes : std::span(kFloatTypes);
  std::cout << "  dtype=f32   one of:" << NamesText(types, sextant::NameOf) << "\n"
            << "  dtype.NAME=(unset)   of one tensor, one of:"
            << NamesText(kTensorTypes, sextant::NameOf) << "\n";
  for (const auto* side : {&info.signature.inputs, &info.signature.outputs})
    for (const TensorSpec& tensor : *side)
      if (HasTypesOfCodes(tensor.role))
        std::cout << "  dtype." << tensor.name
                  << "=(unset)   one of:" << NamesText(TypesOf(tensor.role), sextant::NameOf)
                  << "\n";
  std::cout << "  seed=1\n";
  PrintDimensions(*operation);
  std::cout << "steps:  " << (info.steps.empty() ? "none, it is exact" : info.steps) << "\n";
  std::cout << "inputs: " << (info.draw.empty() ? "none" : info.draw) << "\n";
  std::cout << "source: " << info.source << "\n";
  PrintFiles(info.name);
  return kVerified;
}

}  // namespace

Action BindList(CLI::App& app) {
  const auto json = std::make_shared<bool>(false);
  AddFlag(app, "--json", *json, "print JSON");
  return [json] { return List(*json); };
}

Action BindDescribe(CLI::App& app) {
  const auto name = std::make_shared<std::string>();
  AddOption(app, "operation", *name, "name of the operation (sextant list)", {.required = true});
  return [name] { return Describe(*name); };
}

}  // namespace sextant::tools
