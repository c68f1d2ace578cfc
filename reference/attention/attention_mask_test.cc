#include "reference/attention/attention_mask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Of S queries and T keys.
AttentionMask Of(int64_t S, int64_t T) {
  AttentionMask mask;
  mask.B.value = 2;
  mask.S.value = S;
  mask.T.value = T;
  return mask;
}
AttentionMask Causal(int64_t S, int64_t T) {
  AttentionMask mask = Of(S, T);
  mask.mask = Mask::kCausal;
  return mask;
}

// "012" for keys 0, 1 and 2, of each query.
std::vector<std::string> SeenBy(const AttentionMask& mask, size_t b = 0) {
  std::vector<std::string> seen;
  for (size_t s = 0; s < static_cast<size_t>(mask.S.value); ++s) {
    const KeyRange keys = mask.KeysOf(b, s);
    EXPECT_TRUE(keys.IsEmpty() ? keys == KeyRange{} : keys.first < keys.last);
    seen.emplace_back();
    for (size_t t = keys.first; t < keys.last; ++t) seen.back() += std::to_string(t);
  }
  return seen;
}

TEST(AttentionMask, WithoutAttributesAllKeysAreSeen) {
  EXPECT_THAT(SeenBy(Of(2, 3)), ElementsAre("012", "012"));
  EXPECT_THAT(SeenBy(Of(3, 2)), ElementsAre("01", "01", "01"));
  EXPECT_THAT(SeenBy(Of(1, 0)), ElementsAre(""));
}

TEST(AttentionMask, CausalIsAlignedAtTheEndUnlessTold) {
  EXPECT_THAT(SeenBy(Causal(2, 4)), ElementsAre("012", "0123"));
  EXPECT_THAT(SeenBy(Causal(4, 2)), ElementsAre("", "", "0", "01"));
  AttentionMask top = Causal(2, 4);
  top.align = Align::kTopLeft;
  EXPECT_THAT(SeenBy(top), ElementsAre("0", "01"));
}

// As flash-attn's window_size: both sides are counted without the key at the query's own place.
TEST(AttentionMask, WindowsReachBothWays) {
  AttentionMask mask = Of(4, 4);
  mask.window = {1, 0};
  EXPECT_THAT(SeenBy(mask), ElementsAre("0", "01", "12", "23"));
  mask.window = {0, 2};
  EXPECT_THAT(SeenBy(mask), ElementsAre("012", "123", "23", "3"));
  mask.window = {-1, 1};
  EXPECT_THAT(SeenBy(mask), ElementsAre("01", "012", "0123", "0123"));
  mask.window = {0, -1};
  EXPECT_THAT(SeenBy(mask), ElementsAre("0123", "123", "23", "3"));
  mask.mask = Mask::kCausal;
  EXPECT_THAT(SeenBy(mask), ElementsAre("0", "1", "2", "3"));
}

TEST(AttentionMask, WindowsMayLieBesideTheKeys) {
  AttentionMask mask = Of(6, 2);
  mask.align = Align::kTopLeft;
  mask.window = {1, 0};
  EXPECT_THAT(SeenBy(mask), ElementsAre("0", "01", "1", "", "", ""));
}

TEST(AttentionMask, ChunksAreFloorsOfPlaces) {
  AttentionMask mask = Causal(5, 5);
  mask.chunk = 2;
  EXPECT_THAT(SeenBy(mask), ElementsAre("0", "01", "2", "23", "4"));
  mask.mask = Mask::kNone;
  EXPECT_THAT(SeenBy(mask), ElementsAre("01", "01", "23", "23", "4"));
  AttentionMask before = Of(4, 2);  // places -2 to 1
  before.chunk = 3;
  EXPECT_THAT(SeenBy(before), ElementsAre("", "", "01", "01"));
}

TEST(AttentionMask, SegmentsSeeThemselves) {
  AttentionMask mask = Of(5, 5);
  mask.segments = {2, 0, 1};
  EXPECT_THAT(SeenBy(mask), ElementsAre("01", "01", "2", "34", "34"));
  mask.mask = Mask::kCausal;
  EXPECT_THAT(SeenBy(mask), ElementsAre("0", "01", "2", "3", "34"));
  mask = Of(2, 5);  // places 3 and 4
  mask.segments = {4};
  EXPECT_THAT(SeenBy(mask), ElementsAre("0123", "4"));
  mask = Of(6, 4);  // places -2 to 3
  mask.segments = {3};
  EXPECT_THAT(SeenBy(mask), ElementsAre("", "", "012", "012", "012", "3"));
}

// The last query stands at the last key that counts: a cache with room. Or the first at the first.
TEST(AttentionMask, KeyLengthIsThatOfTheBatch) {
  AttentionMask mask = Causal(2, 5);
  mask.key_length = {3, 5};
  EXPECT_THAT(SeenBy(mask, 0), ElementsAre("01", "012"));
  EXPECT_THAT(SeenBy(mask, 1), ElementsAre("0123", "01234"));
  mask.key_length = {1};
  EXPECT_THAT(SeenBy(mask, 1), ElementsAre("", "0"));
  mask.align = Align::kTopLeft;
  EXPECT_THAT(SeenBy(mask, 1), ElementsAre("0", "0"));
  mask.mask = Mask::kNone;
  mask.key_length = {0, 4};
  EXPECT_THAT(SeenBy(mask, 0), ElementsAre("", ""));
  EXPECT_THAT(SeenBy(mask, 1), ElementsAre("0123", "0123"));
}

std::string ErrorOf(const AttentionMask& mask) {
  try {
    mask.Check();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(AttentionMask, RefusesWhatMakesNoSense) {
  const auto with = [](auto set) {
    AttentionMask mask = Of(3, 5);
    set(mask);
    return ErrorOf(mask);
  };
  using M = AttentionMask;
  EXPECT_EQ(ErrorOf(Of(3, 5)), "");
  EXPECT_THAT(with([](M& m) { m.window = {1}; }), HasSubstr("expected 2: [left,right]"));
  EXPECT_THAT(with([](M& m) { m.window = {1, -2}; }), HasSubstr("window has -2"));
  EXPECT_THAT(with([](M& m) { m.chunk = 0; }), HasSubstr("chunk is 0"));
  EXPECT_THAT(with([](M& m) {
                m.key_length = {1, 2, 3};
              }),
              HasSubstr("expected 1, or one for each of 2 batches"));
  EXPECT_THAT(with([](M& m) { m.key_length = {6}; }),
              HasSubstr("key_length has 6, expected 0 to 5"));
  EXPECT_THAT(with([](M& m) { m.segments = {3, 3}; }), HasSubstr("more than 5 tokens"));
  EXPECT_THAT(with([](M& m) { m.segments = {-1}; }), HasSubstr("segments has -1"));
}

}  // namespace
}  // namespace sextant
