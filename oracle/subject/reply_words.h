// The words of a reply: what the protocol (oracle/subject/PROTOCOL.md) says of its metadata. All
// throw Error.
#pragma once

#include <string>
#include <vector>

#include "oracle/subject/exec_client.h"

namespace sextant::oracle {

// Refuses metadata that lack a required key or have one that nobody knows.
void CheckKeys(const Metadata& metadata, const std::vector<std::string>& required);

Reply::Status ParseStatus(const std::string& text);
std::vector<std::string> ParseOperations(const std::string& text);
void RequireRecipe(const std::string& text);

}  // namespace sextant::oracle
