// The attributes of a case as JSON, for programs that must not parse the text of a case.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "reference/base/json.h"
#include "reference/case/case.h"
#include "reference/number/tensor/safetensors.h"

namespace sextant::oracle {

using ToldAttributes = std::optional<std::set<std::string>>;

// Every attribute and every dimension by its name; not `with`, which the inputs say. Numbers,
// booleans and lists have their JSON types, and a choice is a text. A call with parameters is an
// object of its name and all its parameters: {"type":"linear","factor":4}, {"type":"none"}. Unset
// values are null. `told`: the attributes that are said; all others are null, as if they were not
// set. Empty: all.
Json AttributesJson(const Case& c, const ToldAttributes& told = {});

// The words `said` and `absent` of a question (PROTOCOL.md): none if the question says everything
// and has all inputs.
Metadata GapWords(const Case& c, const ToldAttributes& told);

}  // namespace sextant::oracle
