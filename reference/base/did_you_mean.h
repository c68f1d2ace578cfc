// The name that a mistyped one is nearest to, for messages.
#pragma once

#include <ranges>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

// The fewest insertions, deletions, replacements and exchanges of neighbours that turn one text
// into the other. Source: the optimal string alignment distance; Boytsov 2011, "Indexing methods
// for approximate dictionary searching", section 2.1.
size_t EditDistance(std::string_view a, std::string_view b);

// " (did you mean 'rope'?)" for "roep": the nearest of the names if it is near enough to be meant:
// one edit in up to 5 characters, two in more, or at least 3 with which no other name begins. Empty
// if none is.
std::string DidYouMean(std::string_view text, const std::vector<std::string>& names);

// The nearest file name in the same folder.
std::string DidYouMeanFile(const std::string& path);

}  // namespace sextant
