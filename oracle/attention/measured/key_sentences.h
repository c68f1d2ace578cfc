// Sentences about the keys that queries see.
#pragma once

#include <string>
#include <vector>

namespace sextant::oracle {

struct KeySentence {
  std::string name, text;
};

// How often keys 0 .. T-1 count, as measured and as expected; 0: not seen. Empty texts: no
// difference.
KeySentence SentenceOfKeys(const std::vector<double>& counts, const std::vector<double>& expected);

// The same for distances: element j is that of the key at first + j, relative to the query's own.
KeySentence SentenceOfDistances(const std::vector<double>& counts,
                                const std::vector<double>& expected, int64_t first);

}  // namespace sextant::oracle
