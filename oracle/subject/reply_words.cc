#include "oracle/subject/reply_words.h"

#include <algorithm>
#include <exception>

#include "reference/base/error.h"
#include "reference/base/json.h"
#include "reference/base/printable.h"
#include "reference/base/value_text.h"
#include "reference/number/recipe/recipe.h"

namespace sextant::oracle {

void RequireVersion(const Metadata& hello) {
  const auto version = hello.find("sextant");
  if (version == hello.end()) {
    throw Error(
        "its answer to hello has no 'sextant', the version of the protocol: it speaks "
        "version 1, expected version ",
        kProtocolVersion);
  }
  if (version->second == kProtocolVersion) return;
  throw Error("it speaks version ", Quoted(version->second), " of the protocol, expected version '",
              kProtocolVersion, "'");
}

void CheckKeys(const Metadata& metadata, const std::vector<std::string>& required,
               const std::vector<std::string>& optional) {
  std::string expected = NamesText(required);
  for (const std::string& key : optional) expected += " (" + key + ")";
  for (const std::string& key : required) {
    if (!metadata.contains(key))
      throw Error("__metadata__ has no '", key, "', expected:", expected);
  }
  for (const auto& [key, value] : metadata) {
    if (std::ranges::count(optional, key) + std::ranges::count(required, key) == 0)
      throw Error("__metadata__ has the unknown key ", Quoted(key), ", expected:", expected);
  }
}

Reply::Status ParseStatus(const std::string& text) {
  if (text == "ok") return Reply::Status::kOk;
  if (text == "unsupported") return Reply::Status::kUnsupported;
  if (text == "error") return Reply::Status::kError;
  throw Error("status is ", Quoted(text), ", expected one of: ok unsupported error");
}

std::vector<std::string> ParseList(const char* key, const std::string& text) {
  try {
    return ParseJson(text, 1).get<std::vector<std::string>>();
  } catch (const std::exception&) {
    throw Error(key, " is ", Quoted(text), ", expected a JSON list of texts");
  }
}

void RequireRecipe(const std::string& text) {
  try {
    if (!text.empty()) ParseRecipe(text, DType::kF32);
  } catch (const Error& e) {
    throw Error("recipe is ", Quoted(text), ": ", e.what());
  }
}

}  // namespace sextant::oracle
