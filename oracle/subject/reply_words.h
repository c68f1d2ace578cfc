// Parses the metadata of a reply (oracle/subject/PROTOCOL.md). All functions throw Error.
#pragma once

#include <string>
#include <vector>

#include "oracle/subject/exec_client.h"

namespace sextant::oracle {

inline constexpr char kProtocolVersion[] = "2";

// Throws unless the answer to hello states the version of the protocol.
void RequireVersion(const Metadata& hello);

// Throws if a required key is missing or a key is unknown.
void CheckKeys(const Metadata& metadata, const std::vector<std::string>& required,
               const std::vector<std::string>& optional = {"message"});

Reply::Status ParseStatus(const std::string& text);
// A JSON list of texts; `key` names it in messages.
std::vector<std::string> ParseList(const char* key, const std::string& text);
void RequireRecipe(const std::string& text);

}  // namespace sextant::oracle
