#include "reference/base/hash.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace sextant {
namespace {

TEST(HashOf, IsFnv1a) {
  EXPECT_EQ(HashOf(""), 0xcbf29ce484222325);
  EXPECT_EQ(HashOf("a"), 0xaf63dc4c8601ec8c);
}

// Also for the signs of numbers in words of one lane, which must not cancel.
TEST(HashOfData, DiffersForEachChangedBitAndPairOfBits) {
  const std::string zeros(8 * 9 + 3, '\0');
  std::set<uint64_t> hashes = {HashOfData(zeros)};
  size_t count = 1;
  for (size_t i = 0; i < 8 * zeros.size(); i += 7) {
    for (size_t k = i; k < 8 * zeros.size(); k += 7) {
      std::string changed = zeros;
      changed[i / 8] = static_cast<char>(changed[i / 8] ^ (1 << i % 8));
      if (k != i) changed[k / 8] = static_cast<char>(changed[k / 8] ^ (1 << k % 8));
      hashes.insert(HashOfData(changed));
      ++count;
    }
  }
  for (const size_t first : {7u, 39u}) {
    std::string signs = zeros;
    signs[first] = signs[first + 32] = static_cast<char>(0x80);
    hashes.insert(HashOfData(signs));
    ++count;
  }
  for (size_t size = 0; size < zeros.size(); ++size, ++count)
    hashes.insert(HashOfData(zeros.substr(0, size)));
  EXPECT_EQ(hashes.size(), count);
  EXPECT_NE(HashOfData(zeros, 1), HashOfData(zeros, 2));
}

}  // namespace
}  // namespace sextant
