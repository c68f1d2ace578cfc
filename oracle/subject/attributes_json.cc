#include "oracle/subject/attributes_json.h"

#include <algorithm>
#include <cmath>

#include "reference/case/call.h"
#include "reference/case/optional_inputs.h"

namespace sextant::oracle {
namespace {

// null if the text is not a number.
Json NumberOf(const std::string& text) {
  double number = 0;
  try {
    ParseValue(text, number);
  } catch (const Error&) {
    return nullptr;
  }
  if (std::abs(number) <= kLargestInteger) {
    const auto integer = static_cast<int64_t>(number);
    if (text == std::to_string(integer)) return integer;
  }
  return number;
}

Json ValueOf(const std::string& text) {
  if (text.empty()) return nullptr;
  if (text == "true" || text == "false") return text == "true";
  if (text.starts_with('[')) {
    Json list = Json::array();
    for (const std::string& item : ItemsOf(text)) list.push_back(ValueOf(item));
    return list;
  }
  const Json number = NumberOf(text);
  return number.is_null() ? Json(text) : number;
}

// `form` is the call with all its parameters, as in PossibleValues.
Json CallOf(const std::string& text, const std::string& form) {
  const Call given = ParseCall(text);
  Json object = {{"type", given.name}};
  for (const auto& [name, unused] : ParseCall(form).arguments) object[name] = nullptr;
  for (const auto& [name, value] : given.arguments) object[name] = ValueOf(value);
  return object;
}

Json ValueOf(const Attribute& attribute) {
  const auto is_call = [](const std::string& form) { return form.ends_with(')'); };
  if (std::ranges::none_of(attribute.values, is_call)) return ValueOf(attribute.text);
  const std::string name = ParseCall(attribute.text).name;
  const auto form = std::ranges::find(attribute.values, name,
                                      [](const std::string& text) { return ParseCall(text).name; });
  return CallOf(attribute.text, *form);
}

}  // namespace

Json AttributesJson(const Case& c, const ToldAttributes& told) {
  Json attributes = Json::object();
  for (const Attribute& attribute : c.operation().Attributes()) {
    if (attribute.dimension || attribute.name == kWith) continue;
    const bool is_told = !told || told->contains(attribute.name);
    attributes[attribute.name] = is_told ? ValueOf(attribute) : Json();
  }
  for (const auto& [letter, extent] : c.dimensions()) attributes[letter] = extent;
  return attributes;
}

Metadata GapWords(const Case& c, const ToldAttributes& told) {
  Metadata words;
  if (told) words["said"] = PrintJson(Json(*told));
  Json absent = Json::array();
  for (const TensorSpec& input : c.info().signature.inputs) {
    if (!FindTensor(c.signature(), input.name)) absent.push_back(input.name);
  }
  if (!absent.empty()) words["absent"] = PrintJson(absent);
  return words;
}

}  // namespace sextant::oracle
