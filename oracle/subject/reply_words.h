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
void CheckKeys(const Metadata& metadata, const std::vector<std::string>& required);

Reply::Status ParseStatus(const std::string& text);
std::vector<std::string> ParseOperations(const std::string& text);
void RequireRecipe(const std::string& text);

}  // namespace sextant::oracle
