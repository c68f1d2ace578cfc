// Aliases: words of other frameworks for operations, attributes, dimensions and types. They are
// accepted wherever a case line or a question is read. Lines that are printed have our words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sextant {

struct LineInOurWords {
  std::string line;
  std::vector<std::string> notes;  // "theta=5 is called base=5 here", one per alias
};

// An alias counts only for operations that have what it stands for. Words that are neither ours nor
// aliases stay as they are.
LineInOurWords InOurWords(std::string_view line);

}  // namespace sextant
