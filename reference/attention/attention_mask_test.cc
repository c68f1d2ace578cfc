#include "reference/attention/attention_mask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reference/case/case.h"

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A mask without attributes for S queries and T keys.
AttentionMask MaskOf(int64_t S, int64_t T) {
  AttentionMask mask;
  mask.B.value = 2;
  mask.S.value = S;
  mask.T.value = T;
  return mask;
}
AttentionMask Causal(int64_t S, int64_t T) {
  AttentionMask mask = MaskOf(S, T);
  mask.mask = Mask::kCausal;
  return mask;
}

// For each query, the indices of its visible keys as digits, for example "012".
std::vector<std::string> VisibleKeys(const AttentionMask& mask, size_t b = 0) {
  std::vector<std::string> visible;
  for (size_t s = 0; s < static_cast<size_t>(mask.S.value); ++s) {
    const KeyRange keys = mask.KeysOf(b, s);
    EXPECT_TRUE(keys.IsEmpty() ? keys == KeyRange{} : keys.first < keys.last);
    visible.emplace_back();
    for (size_t t = keys.first; t < keys.last; ++t) visible.back() += std::to_string(t);
  }
  return visible;
}

TEST(AttentionMask, WithoutAttributesAllKeysAreVisible) {
  EXPECT_THAT(VisibleKeys(MaskOf(2, 3)), ElementsAre("012", "012"));
  EXPECT_THAT(VisibleKeys(MaskOf(3, 2)), ElementsAre("01", "01", "01"));
  EXPECT_THAT(VisibleKeys(MaskOf(1, 0)), ElementsAre(""));
}

TEST(AttentionMask, CausalIsAlignedBottomRightByDefault) {
  EXPECT_THAT(VisibleKeys(Causal(2, 4)), ElementsAre("012", "0123"));
  EXPECT_THAT(VisibleKeys(Causal(4, 2)), ElementsAre("", "", "0", "01"));
  AttentionMask top_left = Causal(2, 4);
  top_left.align = Align::kTopLeft;
  EXPECT_THAT(VisibleKeys(top_left), ElementsAre("0", "01"));
}

// As flash-attn's window_size: neither side counts the query's own key.
TEST(AttentionMask, WindowLimitsBothSides) {
  AttentionMask mask = MaskOf(4, 4);
  mask.window = {1, 0};
  EXPECT_THAT(VisibleKeys(mask), ElementsAre("0", "01", "12", "23"));
  mask.window = {0, 2};
  EXPECT_THAT(VisibleKeys(mask), ElementsAre("012", "123", "23", "3"));
  mask.window = {-1, 1};
  EXPECT_THAT(VisibleKeys(mask), ElementsAre("01", "012", "0123", "0123"));
  mask.window = {0, -1};
  EXPECT_THAT(VisibleKeys(mask), ElementsAre("0123", "123", "23", "3"));
  mask.mask = Mask::kCausal;
  EXPECT_THAT(VisibleKeys(mask), ElementsAre("0", "1", "2", "3"));
}

TEST(AttentionMask, WindowMayContainNoKeys) {
  AttentionMask mask = MaskOf(6, 2);
  mask.align = Align::kTopLeft;
  mask.window = {1, 0};
  EXPECT_THAT(VisibleKeys(mask), ElementsAre("0", "01", "1", "", "", ""));
}

TEST(AttentionMask, ChunkIsTheFloorOfIndexOverSize) {
  AttentionMask mask = Causal(5, 5);
  mask.chunk = 2;
  EXPECT_THAT(VisibleKeys(mask), ElementsAre("0", "01", "2", "23", "4"));
  mask.mask = Mask::kNone;
  EXPECT_THAT(VisibleKeys(mask), ElementsAre("01", "01", "23", "23", "4"));
  AttentionMask before = MaskOf(4, 2);  // indices -2 to 1
  before.chunk = 3;
  EXPECT_THAT(VisibleKeys(before), ElementsAre("", "", "01", "01"));
}

TEST(AttentionMask, SegmentsSeeOnlyTheirOwnKeys) {
  AttentionMask mask = MaskOf(5, 5);
  mask.segments = {2, 0, 1};
  EXPECT_THAT(VisibleKeys(mask), ElementsAre("01", "01", "2", "34", "34"));
  mask.mask = Mask::kCausal;
  EXPECT_THAT(VisibleKeys(mask), ElementsAre("0", "01", "2", "3", "34"));
  mask = MaskOf(2, 5);  // indices 3 and 4
  mask.segments = {4};
  EXPECT_THAT(VisibleKeys(mask), ElementsAre("0123", "4"));
  mask = MaskOf(6, 4);  // indices -2 to 3
  mask.segments = {3};
  EXPECT_THAT(VisibleKeys(mask), ElementsAre("", "", "012", "012", "012", "3"));
}

// bottom_right: the last query belongs to the last key before the padding, as in a KV cache with
// free slots. top_left: the first query belongs to the first key.
TEST(AttentionMask, KeyLengthIsPerBatchOrForAll) {
  AttentionMask mask = Causal(2, 5);
  mask.key_length = {3, 5};
  EXPECT_THAT(VisibleKeys(mask, 0), ElementsAre("01", "012"));
  EXPECT_THAT(VisibleKeys(mask, 1), ElementsAre("0123", "01234"));
  mask.key_length = {1};
  EXPECT_THAT(VisibleKeys(mask, 1), ElementsAre("", "0"));
  mask.align = Align::kTopLeft;
  EXPECT_THAT(VisibleKeys(mask, 1), ElementsAre("0", "0"));
  mask.mask = Mask::kNone;
  mask.key_length = {0, 4};
  EXPECT_THAT(VisibleKeys(mask, 0), ElementsAre("", ""));
  EXPECT_THAT(VisibleKeys(mask, 1), ElementsAre("0123", "0123"));
}

// The second chunk of a prompt, and a cache with free slots: i = s + offset, whatever T is.
TEST(AttentionMask, QueryOffsetIsThePositionOfTheFirstQuery) {
  AttentionMask mask = Causal(2, 6);
  mask.query_offset = {3};
  EXPECT_THAT(VisibleKeys(mask, 0), ElementsAre("0123", "01234"));
  EXPECT_THAT(VisibleKeys(mask, 1), ElementsAre("0123", "01234"));
  mask.query_offset = {1, 4};
  EXPECT_THAT(VisibleKeys(mask, 0), ElementsAre("01", "012"));
  EXPECT_THAT(VisibleKeys(mask, 1), ElementsAre("01234", "012345"));
  mask.query_offset = {0};
  EXPECT_THAT(VisibleKeys(mask), ElementsAre("0", "01"));
  mask.query_offset = {9};  // all keys are older
  EXPECT_THAT(VisibleKeys(mask), ElementsAre("012345", "012345"));
}

TEST(AttentionMask, WindowsChunksAndSegmentsCountFromTheQueryOffset) {
  AttentionMask mask = MaskOf(2, 6);
  mask.query_offset = {3};
  EXPECT_THAT(VisibleKeys(mask), ElementsAre("012345", "012345"));
  mask.window = {1, 0};
  EXPECT_THAT(VisibleKeys(mask), ElementsAre("23", "34"));
  mask.window.reset();
  mask.chunk = 4;
  EXPECT_THAT(VisibleKeys(mask), ElementsAre("0123", "45"));
  mask.chunk.reset();
  mask.segments = {1, 3};
  EXPECT_THAT(VisibleKeys(mask), ElementsAre("123", "45"));
  mask.query_offset = {6};  // beyond the keys
  EXPECT_THAT(VisibleKeys(mask), ElementsAre("", ""));
  mask.segments.reset();
  mask.chunk = 2;
  EXPECT_THAT(VisibleKeys(mask), ElementsAre("", ""));
  mask.chunk.reset();
  mask.window = {2, 0};
  EXPECT_THAT(VisibleKeys(mask), ElementsAre("45", "5"));
}

// The length of the keys only limits them: flash_attn_with_kvcache appends S keys to cache_seqlens.
TEST(AttentionMask, QueryOffsetDoesNotDependOnKeyLength) {
  AttentionMask mask = Causal(2, 6);
  mask.query_offset = {1, 2};
  mask.key_length = {3, 4};
  EXPECT_THAT(VisibleKeys(mask, 0), ElementsAre("01", "012"));
  EXPECT_THAT(VisibleKeys(mask, 1), ElementsAre("012", "0123"));
  mask.key_length = {2};
  EXPECT_THAT(VisibleKeys(mask, 1), ElementsAre("01", "01"));
}

TEST(AttentionMask, ALineStatesAlignOrQueryOffset) {
  const std::string line = "attention H=1 S=2 T=5 D=1 E=1 mask=causal ";
  const auto canonical = [&](const std::string& words) {
    return Case::Parse(line + words).ToString();
  };
  EXPECT_THAT(canonical(""), HasSubstr(" align=bottom_right "));
  EXPECT_THAT(canonical("align=top_left"), HasSubstr(" align=top_left "));
  const std::string offset = canonical("query_offset=[3]");
  EXPECT_THAT(offset, HasSubstr(" query_offset=[3] "));
  EXPECT_THAT(offset, testing::Not(HasSubstr("align=")));
  EXPECT_EQ(Case::Parse(offset).ToString(), offset);
  EXPECT_EQ(canonical("align= query_offset=[3]"), offset);
  EXPECT_EQ(canonical("align= query_offset="), canonical(""));
  EXPECT_EQ(Case::Parse(offset)
                .With(std::vector<std::string>{"query_offset=", "align=top_left"})
                .ToString(),
            canonical("align=top_left"));
  for (const char* words :
       {"align=bottom_right query_offset=[3]", "query_offset=[3] align=top_left"}) {
    EXPECT_THAT([&] { canonical(words); },
                testing::ThrowsMessage<Error>(
                    HasSubstr("and query_offset are both given, expected one of them")))
        << words;
  }
}

std::string ErrorOf(const AttentionMask& mask) {
  try {
    mask.Check();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(AttentionMask, RefusesInvalidAttributes) {
  const auto with = [](auto set) {
    AttentionMask mask = MaskOf(3, 5);
    set(mask);
    return ErrorOf(mask);
  };
  using M = AttentionMask;
  EXPECT_EQ(ErrorOf(MaskOf(3, 5)), "");
  EXPECT_THAT(with([](M& m) { m.window = {1}; }), HasSubstr("expected 2: [left,right]"));
  EXPECT_THAT(with([](M& m) { m.window = {1, -2}; }), HasSubstr("window has -2"));
  EXPECT_THAT(with([](M& m) { m.chunk = 0; }), HasSubstr("chunk is 0"));
  EXPECT_THAT(with([](M& m) {
                m.key_length = {1, 2, 3};
              }),
              HasSubstr("expected 1, or one for each of 2 batches"));
  EXPECT_THAT(with([](M& m) { m.key_length = {6}; }),
              HasSubstr("key_length has 6, expected 0 to 5"));
  EXPECT_THAT(with([](M& m) { m.query_offset = {-1}; }),
              HasSubstr("query_offset has -1, expected 0 to 2^53"));
  EXPECT_THAT(with([](M& m) { m.query_offset = {1LL << 54}; }),
              HasSubstr("query_offset has 18014398509481984"));
  EXPECT_THAT(with([](M& m) {
                m.query_offset = {1, 2, 3};
              }),
              HasSubstr("query_offset has 3 numbers, expected 1, or one for each of 2 batches"));
  EXPECT_THAT(with([](M& m) {
                m.query_offset = {1};
                m.align = Align::kTopLeft;
              }),
              HasSubstr("align=top_left and query_offset are both given"));
  EXPECT_THAT(with([](M& m) { m.segments = {3, 3}; }), HasSubstr("more than 5 tokens"));
  EXPECT_THAT(with([](M& m) { m.segments = {-1}; }), HasSubstr("segments has -1"));
}

}  // namespace
}  // namespace sextant
