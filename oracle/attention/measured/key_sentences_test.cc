#include "oracle/attention/measured/key_sentences.h"

#include <gtest/gtest.h>

namespace sextant::oracle {
namespace {

std::vector<double> Ones(size_t count) { return std::vector<double>(count, 1); }

std::vector<double> Without(size_t count, auto is_missing) {
  std::vector<double> counts = Ones(count);
  for (size_t t = 0; t < count; ++t)
    if (is_missing(t)) counts[t] = 0;
  return counts;
}

TEST(KeySentences, NameEqualCountsWithoutAText) {
  EXPECT_EQ(SentenceOfKeys(Ones(5), Ones(5)).text, "");
  EXPECT_EQ(SentenceOfDistances(Ones(5), Ones(5), -2).text, "");
}

TEST(KeySentences, FindARepeatedRange) {
  const auto lost = Without(512, [](size_t t) { return t % 128 >= 96; });
  const KeySentence sentence = SentenceOfKeys(lost, Ones(512));
  EXPECT_EQ(sentence.name, "keys_missing");
  EXPECT_EQ(sentence.text, "keys 96 to 127 of each 128 are missing");
}

TEST(KeySentences, FindTheRemainderOfTiles) {
  const auto lost = Without(21, [](size_t t) { return t >= 16; });
  EXPECT_EQ(SentenceOfKeys(lost, Ones(21)).text,
            "the last 5 keys (a remainder of tiles of 8) are missing");
}

TEST(KeySentences, ListKeysWithoutARule) {
  const auto lost = Without(9, [](size_t t) { return t == 1 || t == 4 || t == 5; });
  EXPECT_EQ(SentenceOfKeys(lost, Ones(9)).text, "key 1, keys 4 to 5 are missing");
}

TEST(KeySentences, CountKeysThatRepeat) {
  std::vector<double> counts = Ones(4);
  counts[3] = 2;
  const KeySentence sentence = SentenceOfKeys(counts, Ones(4));
  EXPECT_EQ(sentence.name, "keys_repeated");
  EXPECT_EQ(sentence.text, "key 3 count 2 times");
}

// Distances -4 .. 2. A window of 3 keys is seen as one of 4.
TEST(KeySentences, NameTheEndsOfWindows) {
  const std::vector<double> got = {0, 1, 1, 1, 1, 0, 0}, expected = {0, 0, 1, 1, 1, 0, 0};
  const KeySentence sentence = SentenceOfDistances(got, expected, -4);
  EXPECT_EQ(sentence.name, "first_key_shifted");
  EXPECT_EQ(sentence.text,
            "the first key that query s sees is its own - 3, expected its own - 2 (a window of 4 "
            "keys instead of 3)");
}

TEST(KeySentences, NameAMissingMask) {
  const std::vector<double> got = {1, 1, 1, 1}, expected = {1, 1, 0, 0};
  EXPECT_EQ(SentenceOfDistances(got, expected, -1).text,
            "query s sees keys up to its own + 2, expected its own + 0 (no key is masked)");
}

}  // namespace
}  // namespace sextant::oracle
