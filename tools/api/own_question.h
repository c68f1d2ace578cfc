// A question about a user's own tensors, completed by the configuration of a model.
#pragma once

#include <string>
#include <vector>

#include "reference/case/question.h"
#include "tools/api/completed_line.h"

namespace sextant::tools {

// The question about the tensors (ParseQuestion). If it has no configuration from `choice`, it may
// name one itself: "rope config=config.json part=text_config layer=0" (the path without spaces).
// The number of heads of an operation without key heads is always that of the tensors, which may be
// queries or keys. Throws Error as ParseQuestion and CompleteLine do.
Question OwnQuestion(const std::string& text, const std::vector<OwnTensor>& tensors,
                     ConfigChoice choice = {});

}  // namespace sextant::tools
