#include "reference/case/call.h"

namespace sextant {

Call ParseCall(std::string_view text) {
  const size_t open = text.find('(');
  if (open == text.npos) return {.name = std::string(text), .arguments = {}};
  if (!text.ends_with(')')) throw Error("'", text, "' has no closing ')'");
  Call call{.name = std::string(text.substr(0, open)), .arguments = {}};
  std::string_view rest = text.substr(open + 1, text.size() - open - 2);
  while (!rest.empty()) {
    int depth = 0;  // commas inside a list [1,2] do not separate arguments
    size_t end = 0;
    for (; end < rest.size() && (rest[end] != ',' || depth > 0); ++end) {
      depth += rest[end] == '[' ? 1 : rest[end] == ']' ? -1 : 0;
    }
    const std::string_view item = rest.substr(0, end);
    const size_t equals = item.find('=');
    if (equals == item.npos) throw Error("'", item, "' in '", text, "' is not key=value");
    const std::string key(item.substr(0, equals));
    for (const auto& [given, unused] : call.arguments) {
      if (given == key) throw Error("'", text, "' gives ", key, " twice");
    }
    call.arguments.emplace_back(key, item.substr(equals + 1));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return call;
}

}  // namespace sextant
