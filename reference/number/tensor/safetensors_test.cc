#include "reference/number/tensor/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "reference/base/error.h"
#include "reference/base/error_test.h"

namespace sextant {
namespace {

using testing::HasSubstr;

std::string HeaderError(const std::string& json) {
  return MessageOf([&] { ParseSafetensorsHeader(json); });
}

std::string Bytes(std::initializer_list<int> values) {
  std::string bytes;
  for (const int value : values) bytes += static_cast<char>(value);
  return bytes;
}

TEST(EncodeSafetensors, WritesTheExampleOfTheProtocol) {
  EXPECT_EQ(EncodeSafetensors({{"sextant", "1"}, {"id", "1"}, {"operation", "hello"}}, {}),
            Bytes({64, 0, 0, 0, 0, 0, 0, 0}) +
                R"({"__metadata__":{"id":"1","operation":"hello","sextant":"1"}}   )");
}

TEST(EncodeSafetensors, AlignsTensors) {
  const Tensors tensors = {{"x", DType::kBF16, Tensor<double>({2}, {1, -2})},
                           {"position", DType::kI64, Tensor<double>({1}, {-1})}};
  const std::string header = R"({"__metadata__":{"id":"2","operation":"rope"},)"
                             R"("position":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
                             R"("x":{"dtype":"BF16","shape":[2],"data_offsets":[8,12]}})";
  ASSERT_EQ(header.size(), 161u);
  EXPECT_EQ(EncodeSafetensors({{"id", "2"}, {"operation", "rope"}}, tensors),
            Bytes({168, 0, 0, 0, 0, 0, 0, 0}) + header + "       " +
                Bytes({255, 255, 255, 255, 255, 255, 255, 255, 0x80, 0x3F, 0x00, 0xC0}));
}

TEST(EncodeSafetensors, WritesEveryDType) {
  const auto body = [](DType dtype, double value) {
    const std::string message = EncodeSafetensors({}, {{"x", dtype, Tensor<double>({}, {value})}});
    return message.substr(message.size() - SizeOf(dtype));
  };
  EXPECT_EQ(body(DType::kF64, 1), Bytes({0, 0, 0, 0, 0, 0, 0xF0, 0x3F}));
  EXPECT_EQ(body(DType::kF32, -1), Bytes({0, 0, 0x80, 0xBF}));
  EXPECT_EQ(body(DType::kF16, 1), Bytes({0, 0x3C}));
  EXPECT_EQ(body(DType::kBF16, 1), Bytes({0x80, 0x3F}));
  EXPECT_EQ(body(DType::kF8E4M3FN, -448), Bytes({0xFE}));
  EXPECT_EQ(body(DType::kF8E5M2, 1), Bytes({0x3C}));
  EXPECT_EQ(body(DType::kF8E4M3FNUZ, 1), Bytes({0x40}));
  EXPECT_EQ(body(DType::kF8E5M2FNUZ, kNaN), Bytes({0x80}));
  EXPECT_EQ(body(DType::kI64, 258), Bytes({2, 1, 0, 0, 0, 0, 0, 0}));
}

TEST(EncodeSafetensors, RefusesTextThatIsNotUtf8) {
  EXPECT_THAT(MessageOf([] {
                EncodeSafetensors({{"case", "rope @x=\xff"}}, {});
              }),
              HasSubstr("UTF-8"));
}

TEST(ParseSafetensorsHeader, ReadsMetadataAndTensorsInTheOrderOfTheirBytes) {
  const SafetensorsHeader header = ParseSafetensorsHeader(
      R"({"b":{"dtype":"F16","shape":[3],"data_offsets":[16,22]}, "__metadata__":{"id":"7"},
          "empty":{"dtype":"F64","shape":[0,5],"data_offsets":[16,16]},
          "a":{"data_offsets":[0,16],"shape":[2,1],"dtype":"I64"}}   )");
  EXPECT_EQ(header.metadata, (Metadata{{"id", "7"}}));
  ASSERT_EQ(header.entries.size(), 3u);
  EXPECT_EQ(header.entries[0].name, "a");
  EXPECT_EQ(header.entries[0].type, ElementType::kI64);
  EXPECT_EQ(header.entries[0].shape, (Shape{2, 1}));
  EXPECT_EQ(header.entries[1].name, "empty");
  EXPECT_EQ(header.entries[2].begin, 16u);
  EXPECT_EQ(header.body_size, 22u);
}

TEST(ParseSafetensorsHeader, RefusesTextThatIsNotAHeader) {
  EXPECT_THAT(HeaderError(""), HasSubstr("not JSON"));
  EXPECT_THAT(HeaderError("{"), HasSubstr("not JSON"));
  EXPECT_THAT(HeaderError("{} x"), HasSubstr("not JSON"));
  EXPECT_THAT(HeaderError("{\"\xff\":1}"), HasSubstr("not JSON"));
  EXPECT_THAT(HeaderError("[]"), HasSubstr("not a JSON object: '[]'"));
  EXPECT_THAT(HeaderError(R"({"y":1})"), HasSubstr("tensor 'y' is not a JSON object"));
  EXPECT_THAT(HeaderError(R"({"__metadata__":[]})"), HasSubstr("not a JSON object"));
  EXPECT_THAT(HeaderError(R"({"__metadata__":{"id":7}})"), HasSubstr("'id' = '7', expected text"));
}

TEST(ParseSafetensorsHeader, RefusesDuplicateKeysAndDeepNesting) {
  EXPECT_EQ(HeaderError(R"({"__metadata__":{"id":"1","id":"2"}})"),
            "the header has the key 'id' twice in one object");
  EXPECT_EQ(HeaderError(R"({"__metadata__":{"id":"1"},"__metadata__":{"id":"2"}})"),
            "the header has the key '__metadata__' twice in one object");
  EXPECT_THAT(HeaderError(R"({"y":{"dtype":"F32","shape":[1],"shape":[0],"data_offsets":[0,0]}})"),
              HasSubstr("'shape' twice"));
  EXPECT_THAT(HeaderError(R"({"y":{"shape":[[1]]}})"), HasSubstr("nested deeper than 3"));
  EXPECT_THAT(HeaderError("{\"y\":" + std::string(60000, '[')), HasSubstr("nested deeper than 3"));
  // The same key in two tensors is not a duplicate.
  EXPECT_EQ(HeaderError(R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},
                            "b":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})"),
            "");
}

std::string EntryError(const std::string& dtype, const std::string& shape,
                       const std::string& offsets) {
  return HeaderError(R"({"y":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" +
                     offsets + "}}");
}

TEST(ParseSafetensorsHeader, RefusesBadTensors) {
  EXPECT_THAT(EntryError(R"("F6_E3M2")", "[2]", "[2,0]"), HasSubstr("expected a rising range"));
  EXPECT_THAT(EntryError("32", "[2]", "[0,8]"), HasSubstr("dtype of tensor 'y' is not text"));
  EXPECT_THAT(EntryError(R"("F32")", "2", "[0,8]"), HasSubstr("shape of tensor 'y' is not a list"));
  EXPECT_THAT(EntryError(R"("F32")", "[-2]", "[0,8]"), HasSubstr("the element '-2'"));
  EXPECT_THAT(EntryError(R"("F32")", "[2.0]", "[0,8]"), HasSubstr("the element '2.0'"));
  EXPECT_THAT(EntryError(R"("F32")", "[2]", "[0,8,9]"), HasSubstr("3 elements, expected 2"));
  EXPECT_THAT(EntryError(R"("F32")", "[2]", "[0,8],\"z\":1"), HasSubstr("4 keys"));
  EXPECT_EQ(EntryError(R"("F32")", "[2]", "[0,9]"),
            "data_offsets of tensor 'y' are [0,9], expected 8 bytes for y:f32[2]");
  EXPECT_THAT(EntryError(R"("F32")", "[2]", "[8,0]"),
              HasSubstr("are [8,0], expected a rising range"));
  // 2^62 F32 elements are 2^64 bytes. The size must not wrap around to 0.
  EXPECT_THAT(EntryError(R"("F32")", "[4611686018427387904]", "[0,0]"),
              HasSubstr("does not fit into memory"));
  EXPECT_THAT(HeaderError(R"({"y":{"dtype":"F32","shape":[2]}})"),
              HasSubstr("tensor 'y' has no 'data_offsets'"));
}

// A checkpoint may hold other types; only their tensors cannot be read.
TEST(ParseSafetensorsHeader, AcceptsTensorsOfOtherTypes) {
  const SafetensorsHeader header =
      ParseSafetensorsHeader(R"({"y":{"dtype":"F6_E3M2","shape":[2],"data_offsets":[0,2]}})");
  EXPECT_EQ(header.entries[0].type, std::nullopt);
  EXPECT_EQ(MessageOf([&] { header.entries[0].In("xx"); }),
            "tensor 'y' has dtype 'F6_E3M2', expected one of: F64 F32 F16 BF16 F8_E4M3 F8_E5M2 "
            "F8_E4M3FNUZ F8_E5M2FNUZ F4_E2M1 I8 I4 F8_E8M0 I64 I32 I16 U64 U32 U16 U8");
}

// The name of f8_e4m3fn has no "FN" in this format.
TEST(ParseSafetensorsHeader, KnowsTheTypesThatItWrites) {
  std::string names;
  for (const DType dtype : kDTypes) {
    const std::string bytes = EncodeSafetensors({}, {{"x", dtype, Tensor<double>({2}, {1, 2})}});
    const size_t size = HeaderSize(std::string_view(bytes).substr(0, kPrefixSize));
    const auto entry = ParseSafetensorsHeader(bytes.substr(kPrefixSize, size)).entries.at(0);
    EXPECT_EQ(entry.type, ElementTypeOf(dtype));
    EXPECT_EQ(entry.TypeName(), NameOf(dtype));
    EXPECT_EQ(ValuesOf(entry.In(std::string_view(bytes).substr(kPrefixSize + size))).data,
              (std::vector<double>{1, 2}));
    names += entry.dtype + " ";
  }
  EXPECT_EQ(names,
            "F64 F32 F16 BF16 F8_E4M3 F8_E5M2 F8_E4M3FNUZ F8_E5M2FNUZ "
            "F4_E2M1 I8 I4 F8_E8M0 I64 ");
}

TEST(ParseSafetensorsHeader, RefusesGapsAndOverlaps) {
  const auto two = [](const std::string& a, const std::string& b) {
    return HeaderError(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":)" + a +
                       R"(},"b":{"dtype":"F32","shape":[1],"data_offsets":)" + b + "}}");
  };
  EXPECT_EQ(two("[4,8]", "[0,4]"), "");
  EXPECT_EQ(two("[0,4]", "[8,12]"),
            "data_offsets of tensor 'b' begin at 8, expected 4: no gap, no overlap");
  EXPECT_THAT(two("[0,4]", "[0,4]"), HasSubstr("begin at 0, expected 4"));
  EXPECT_THAT(two("[0,4]", "[2,6]"), HasSubstr("begin at 2, expected 4"));
  EXPECT_THAT(two("[4,8]", "[8,12]"), HasSubstr("begin at 4, expected 0"));
}

RC_GTEST_PROP(ParseSafetensorsHeader, SurvivesMutations, ()) {
  std::string json =
      R"({"__metadata__":{"id":"1"},"y":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  const std::string alphabet = "{}[]\",:0123456789eE.-\\u\xff yF";
  const int count = *rc::gen::inRange(1, 6);
  for (int i = 0; i < count; ++i) {
    json[*rc::gen::inRange<size_t>(0, json.size())] =
        alphabet[*rc::gen::inRange<size_t>(0, alphabet.size())];
  }
  try {
    const SafetensorsHeader header = ParseSafetensorsHeader(json);
    RC_ASSERT(header.body_size <= 1u << 30);
  } catch (const Error&) {
  }
}

}  // namespace
}  // namespace sextant
