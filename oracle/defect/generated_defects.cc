#include "oracle/defect/generated_defects.h"

#include <algorithm>
#include <cmath>

#include "oracle/defect/shapes.h"
#include "oracle/property/changed_inputs.h"
#include "reference/case/call.h"
#include "reference/case/choices.h"
#include "reference/case/operations.h"
#include "reference/case/optional_inputs.h"

namespace sextant::oracle {
namespace {

std::string PrintCall(const Call& call) {
  std::string text = call.name, separator = "(";
  for (const auto& [key, value] : call.arguments) {
    text += separator;
    text += key + "=" + value;
    separator = ",";
  }
  return call.arguments.empty() ? text : text + ")";
}

// A number without its fraction; empty if it is an integer or no number.
std::string CutToInteger(const std::string& text) {
  try {
    double number = 0;
    ParseValue(text, number);
    return number == std::trunc(number) ? "" : PrintValue(std::trunc(number));
  } catch (const Error&) {
    return "";
  }
}

// Computes with another value of one argument. `change` maps the right value to it; an empty text
// means that the bug does not apply.
using Change = std::function<std::string(const std::string& value)>;
Defect ChangedArgument(const std::string& attribute, const std::string& alternative,
                       const std::string& key, const std::string& how, const Change& change) {
  return ChangedWord(
      attribute + "." + alternative + "." + key + how,
      "always computes " + alternative + " with " + key + how, [=](const Case& c) -> std::string {
        Call call = ParseCall(TextOf(c, attribute));
        if (call.name != alternative) return "";
        const auto at = std::ranges::find(call.arguments, key,
                                          [](const auto& argument) { return argument.first; });
        if (at == call.arguments.end()) return "";  // unset
        at->second = change(at->second);
        return at->second.empty() ? "" : attribute + "=" + PrintCall(call);
      });
}

// The values of one argument in the choices of its attribute.
std::vector<std::string> ValuesAmong(const Choices& choices, const std::string& alternative,
                                     const std::string& key) {
  std::vector<std::string> values;
  for (const std::string& text : choices.texts) {
    const Call call = ParseCall(text);
    if (call.name != alternative) continue;
    for (const auto& [name, value] : call.arguments) {
      if (name == key) values.push_back(value);
    }
  }
  return values;
}

// True if any operation has a choice in which the argument is not an integer.
bool MayBeFraction(const std::string& attribute, const std::string& alternative,
                   const std::string& key) {
  for (const auto& operation : AllOperations()) {
    for (const Choices& choices : ChoicesOf(operation->info())) {
      if (choices.key != attribute) continue;
      const auto values = ValuesAmong(choices, alternative, key);
      if (!std::ranges::all_of(values, &std::string::empty, CutToInteger)) return true;
    }
  }
  return false;
}

// Defects of the calls among an attribute's choices: every argument fixed at its default or at its
// first value in the choices; and every argument cut to an integer, if some operation has a choice
// in which it is not an integer.
std::vector<Defect> FixedArguments(const Attribute& attribute, const Choices& choices) {
  std::vector<Defect> defects;
  for (const std::string& form : attribute.values) {
    const Call call = ParseCall(form);
    const auto is_choice = [&](const std::string& text) {
      return ParseCall(text).name == call.name;
    };
    if (std::ranges::none_of(choices.texts, is_choice)) continue;
    for (const auto& [key, usual] : call.arguments) {
      const auto values = ValuesAmong(choices, call.name, key);
      std::vector<std::string> fixed;
      if (!usual.empty()) fixed.push_back(usual);
      if (!values.empty() && values[0] != usual) fixed.push_back(values[0]);
      for (const std::string& value : fixed) {
        defects.push_back(ChangedArgument(attribute.name, call.name, key, "=" + value,
                                          [value](const std::string&) { return value; }));
      }
      if (!values.empty() && MayBeFraction(attribute.name, call.name, key)) {
        defects.push_back(
            ChangedArgument(attribute.name, call.name, key, "_cut_to_an_integer", CutToInteger));
      }
    }
  }
  return defects;
}

// True if with this value the formula reads an optional input that it reads with no other choice:
// then no case has the input but not the value.
bool HasItsOwnInput(const Operation& operation, const Choices& choices, const std::string& text) {
  const auto with = [&](const std::string& value) {
    auto changed = operation.Clone();
    changed->Set(choices.key, value);
    return changed;
  };
  bool has = false;
  for (const std::string& other : choices.texts) {
    if (other == text) continue;
    if (!ReadsMore(*with(text), *with(other))) return false;
    has = true;
  }
  return has;
}

}  // namespace

std::vector<Defect> GeneratedDefects(const Operation& operation) {
  std::vector<Defect> defects;
  const auto attributes = operation.Attributes();
  for (const Choices& choices : ChoicesOf(operation.info())) {
    const auto at = std::ranges::find(attributes, choices.key, &Attribute::name);
    if (at == attributes.end() || at->dimension) continue;
    if (choices.key == kWith || DependOn(operation.info().signature, choices.key)) continue;
    // If a choice leaves the answer unspecified, any answer conforms with it. Such operations list
    // the defects of this attribute themselves.
    if (std::ranges::count(at->values, kUnspecified) > 0) continue;
    for (const std::string& text : choices.texts) {
      if (HasItsOwnInput(operation, choices, text)) continue;
      const std::string word = choices.key + "=" + text;
      defects.push_back(ChangedWord(
          word, "always computes " + (text.empty() ? "without " + choices.key : "with " + word),
          word));
    }
    for (Defect& defect : FixedArguments(*at, choices)) defects.push_back(std::move(defect));
  }
  return defects;
}

}  // namespace sextant::oracle
