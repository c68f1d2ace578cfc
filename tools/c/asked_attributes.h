// The attributes of one question, by name and type.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reference/base/json.h"

namespace sextant::tools {

struct AskedAttribute {
  Json value;                // null if it is not set
  std::vector<double> list;  // the numbers, if the value is a list
  bool read = false;
};

// The attributes and dimensions in the JSON of a question (oracle/subject/PROTOCOL.md). A scaling
// becomes the text "scaling", its type, and its parameters, "scaling.factor".
class AskedAttributes {
 public:
  explicit AskedAttributes(const std::string& json);  // throws Error

  // SEXTANT_NO_ATTRIBUTE and so on (tools/c/sextant_subject.h).
  int TypeOf(std::string_view name) const;

  // The values as the getters of sextant_subject.h give them; nullptr if the attribute is not set.
  // Throws Error if there is no attribute of that name and type.
  const AskedAttribute* Number(std::string_view name) { return Read(name, &IsNumber, "a number"); }
  const AskedAttribute* Integer(std::string_view name) {
    return Read(name, &IsInteger, "an integer");
  }
  const AskedAttribute* Boolean(std::string_view name) {
    return Read(name, &IsBoolean, "a boolean");
  }
  const AskedAttribute* Text(std::string_view name) { return Read(name, &IsText, "a text"); }
  const AskedAttribute* List(std::string_view name) { return Read(name, &IsList, "a list"); }

  void ReadAll();

  // The names of the attributes that are set and have not been read, without dimensions.
  std::vector<std::string> Unread() const;

 private:
  using Test = bool (*)(const Json& value);
  static bool IsNumber(const Json& value);
  static bool IsInteger(const Json& value);
  static bool IsBoolean(const Json& value);
  static bool IsText(const Json& value);
  static bool IsList(const Json& value);
  void Add(const std::string& name, const Json& value);
  const AskedAttribute* Read(std::string_view name, Test is_type, const char* type);

  std::map<std::string, AskedAttribute, std::less<>> all_;
};

}  // namespace sextant::tools
