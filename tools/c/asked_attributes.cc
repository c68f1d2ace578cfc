#include "tools/c/asked_attributes.h"

#include <cctype>
#include <cmath>

#include "reference/base/error.h"
#include "reference/base/printable.h"
#include "reference/base/value_text.h"
#include "reference/number/tensor/dtype.h"
#include "tools/c/sextant_subject.h"

namespace sextant::tools {
namespace {

constexpr char kCallName[] = "type";  // the key of a call's name
constexpr int kMostLevels = 3;        // attributes, a call, its lists

}  // namespace

AskedAttributes::AskedAttributes(const std::string& json) {
  const Json attributes = ParseJson(json, kMostLevels);
  for (const auto& [name, value] : attributes.items()) {
    if (!value.is_object()) {
      Add(name, value);
      continue;
    }
    Add(name, value.at(kCallName));
    for (const auto& [parameter, argument] : value.items()) {
      if (parameter != kCallName) Add(name + "." + parameter, argument);
    }
  }
}

void AskedAttributes::Add(const std::string& name, const Json& value) {
  AskedAttribute& added = all_[name];
  added.value = value;
  if (value.is_array()) added.list = value.get<std::vector<double>>();
}

int AskedAttributes::TypeOf(std::string_view name) const {
  const auto at = all_.find(name);
  if (at == all_.end()) return SEXTANT_NO_ATTRIBUTE;
  const Json& value = at->second.value;
  if (value.is_null()) return SEXTANT_NOT_SET;
  if (value.is_boolean()) return SEXTANT_BOOLEAN;
  if (value.is_number()) return SEXTANT_NUMBER;
  return value.is_array() ? SEXTANT_LIST : SEXTANT_TEXT;
}

void AskedAttributes::ReadAll() {
  for (auto& [name, attribute] : all_) attribute.read = true;
}

std::vector<std::string> AskedAttributes::Unread() const {
  std::vector<std::string> names;
  for (const auto& [name, attribute] : all_) {
    const bool dimension = std::isupper(static_cast<unsigned char>(name[0])) != 0;
    if (!dimension && !attribute.read && !attribute.value.is_null()) names.push_back(name);
  }
  return names;
}

bool AskedAttributes::IsNumber(const Json& value) { return value.is_number(); }
bool AskedAttributes::IsInteger(const Json& value) {
  if (value.is_number_integer()) return true;
  const double number = value.is_number() ? value.get<double>() : kNaN;
  return std::trunc(number) == number && std::abs(number) <= static_cast<double>(kLargestInteger);
}
bool AskedAttributes::IsBoolean(const Json& value) { return value.is_boolean(); }
bool AskedAttributes::IsText(const Json& value) { return value.is_string(); }
bool AskedAttributes::IsList(const Json& value) { return value.is_array(); }

const AskedAttribute* AskedAttributes::Read(std::string_view name, Test is_type, const char* type) {
  const auto at = all_.find(name);
  if (at == all_.end()) {
    if (name == "dtype" || name == "operation" || name == "case_line") {
      throw Error(Quoted(name), " is a member of the question, not an attribute: question->", name,
                  ", in C++ question.", name, "()");
    }
    throw Error("there is no attribute ", Quoted(name), "; there are:",
                NamesText(all_, [](const auto& attribute) { return attribute.first; }));
  }
  AskedAttribute& found = at->second;
  found.read = true;
  if (found.value.is_null()) return nullptr;
  if (!is_type(found.value)) {
    throw Error("attribute ", name, " is ", Excerpt(found.value), ", asked for as ", type);
  }
  return &found;
}

}  // namespace sextant::tools
