#include "oracle/subject/safetensors_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "reference/base/error.h"
#include "reference/base/error_test.h"

namespace sextant::oracle {
namespace {

using testing::HasSubstr;

std::string HeaderError(const std::string& json) {
  return MessageOf([&] { ParseHeader(json); });
}

std::string Bytes(std::initializer_list<int> values) {
  std::string bytes;
  for (const int value : values) bytes += static_cast<char>(value);
  return bytes;
}

// The example of PROTOCOL.md: 61 characters and three spaces.
TEST(EncodeMessage, WritesTheExampleOfTheProtocol) {
  EXPECT_EQ(EncodeMessage({{"sextant", "1"}, {"id", "1"}, {"operation", "hello"}}, {}),
            Bytes({64, 0, 0, 0, 0, 0, 0, 0}) +
                R"({"__metadata__":{"id":"1","operation":"hello","sextant":"1"}}   )");
}

// 1 is 0x3F80 in bf16, -2 is 0xC000. The i64 tensor comes first because its elements are wider. The
// body begins at a multiple of 8 bytes.
TEST(EncodeMessage, AlignsTensors) {
  const Tensors tensors = {{"x", DType::kBF16, Tensor<double>({2}, {1, -2})},
                           {"position", DType::kI64, Tensor<double>({1}, {-1})}};
  const std::string header = R"({"__metadata__":{"id":"2","operation":"rope"},)"
                             R"("position":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
                             R"("x":{"dtype":"BF16","shape":[2],"data_offsets":[8,12]}})";
  ASSERT_EQ(header.size(), 161u);
  EXPECT_EQ(EncodeMessage({{"id", "2"}, {"operation", "rope"}}, tensors),
            Bytes({168, 0, 0, 0, 0, 0, 0, 0}) + header + "       " +
                Bytes({255, 255, 255, 255, 255, 255, 255, 255, 0x80, 0x3F, 0x00, 0xC0}));
}

TEST(EncodeMessage, WritesEveryDType) {
  const auto body = [](DType dtype, double value) {
    const std::string message = EncodeMessage({}, {{"x", dtype, Tensor<double>({}, {value})}});
    return message.substr(message.size() - SizeOf(dtype));
  };
  EXPECT_EQ(body(DType::kF64, 1), Bytes({0, 0, 0, 0, 0, 0, 0xF0, 0x3F}));
  EXPECT_EQ(body(DType::kF32, -1), Bytes({0, 0, 0x80, 0xBF}));
  EXPECT_EQ(body(DType::kF16, 1), Bytes({0, 0x3C}));
  EXPECT_EQ(body(DType::kBF16, 1), Bytes({0x80, 0x3F}));
  EXPECT_EQ(body(DType::kI64, 258), Bytes({2, 1, 0, 0, 0, 0, 0, 0}));
}

TEST(EncodeMessage, RefusesTextThatIsNotUtf8) {
  EXPECT_THAT(MessageOf([] { EncodeMessage({{"case", "rope @x=\xff"}}, {}); }), HasSubstr("UTF-8"));
}

TEST(DescribeOutputs, ListsDTypesAndShapes) {
  EXPECT_EQ(
      DescribeOutputs({{"y", DType::kBF16, {1, 2}}, {"lse", DType::kF32, {}, true}}),
      R"({"y":{"dtype":"BF16","shape":[1,2]},"lse":{"dtype":"F32","shape":[],"optional":true}})");
}

TEST(ParsePrefix, ReadsLittleEndian) {
  EXPECT_EQ(ParsePrefix(Bytes({2, 1, 0, 0, 0, 0, 0, 0}), 1000), 258u);
  EXPECT_EQ(ParsePrefix(Bytes({2, 1, 0, 0, 0, 0, 0, 0}), 258), 258u);
}

TEST(ParsePrefix, RefusesHugeHeadersAndText) {
  EXPECT_EQ(MessageOf([] {
              ParsePrefix(Bytes({0, 0, 0, 0, 0, 0, 0, 0x10}), 65536);
            }),
            "the header claims 1152921504606846976 bytes, expected at most 65536");
  EXPECT_THAT(MessageOf([] {
                ParsePrefix(Bytes({3, 1, 0, 0, 0, 0, 0, 0}), 258);
              }),
              HasSubstr("259 bytes"));
  EXPECT_THAT(MessageOf([] { ParsePrefix("Loading ", 65536); }), HasSubstr("the text 'Loading '"));
}

TEST(HeaderLimit, IsEnoughForTheLargestTensors) {
  const std::vector<ExpectedTensor> expected(
      1000, {"attention_out", DType::kF32, Shape(4, std::numeric_limits<size_t>::max())});
  EXPECT_GE(HeaderLimit(expected), DescribeOutputs(expected).size() + 1000 * 64);
  EXPECT_EQ(HeaderLimit({}), 65536u);
}

TEST(ParseHeader, ReadsMetadataAndTensorsInTheOrderOfTheirBytes) {
  const Header header = ParseHeader(
      R"({"b":{"dtype":"F16","shape":[3],"data_offsets":[16,22]}, "__metadata__":{"id":"7"},
          "empty":{"dtype":"F64","shape":[0,5],"data_offsets":[16,16]},
          "a":{"data_offsets":[0,16],"shape":[2,1],"dtype":"I64"}}   )");
  EXPECT_EQ(header.metadata, (Metadata{{"id", "7"}}));
  ASSERT_EQ(header.entries.size(), 3u);
  EXPECT_EQ(header.entries[0].name, "a");
  EXPECT_EQ(header.entries[0].dtype, DType::kI64);
  EXPECT_EQ(header.entries[0].shape, (Shape{2, 1}));
  EXPECT_EQ(header.entries[1].name, "empty");
  EXPECT_EQ(header.entries[2].begin, 16u);
  EXPECT_EQ(header.body_size, 22u);
}

TEST(ParseHeader, RefusesTextThatIsNotAHeader) {
  EXPECT_THAT(HeaderError(""), HasSubstr("not JSON"));
  EXPECT_THAT(HeaderError("{"), HasSubstr("not JSON"));
  EXPECT_THAT(HeaderError("{} x"), HasSubstr("not JSON"));
  EXPECT_THAT(HeaderError("{\"\xff\":1}"), HasSubstr("not JSON"));
  EXPECT_THAT(HeaderError("[]"), HasSubstr("not a JSON object: '[]'"));
  EXPECT_THAT(HeaderError(R"({"y":1})"), HasSubstr("tensor 'y' is not a JSON object"));
  EXPECT_THAT(HeaderError(R"({"__metadata__":[]})"), HasSubstr("not a JSON object"));
  EXPECT_THAT(HeaderError(R"({"__metadata__":{"id":7}})"), HasSubstr("'id' = '7', expected text"));
}

TEST(ParseHeader, RefusesDuplicateKeysAndDeepNesting) {
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

TEST(ParseHeader, RefusesBadTensors) {
  EXPECT_EQ(EntryError(R"("F8_E5M2")", "[2]", "[0,2]"),
            "tensor 'y' has dtype 'F8_E5M2', expected one of: F64 F32 F16 BF16 I64");
  EXPECT_THAT(EntryError("32", "[2]", "[0,8]"), HasSubstr("dtype of tensor 'y' is not text"));
  EXPECT_THAT(EntryError(R"("F32")", "2", "[0,8]"), HasSubstr("shape of tensor 'y' is not a list"));
  EXPECT_THAT(EntryError(R"("F32")", "[-2]", "[0,8]"), HasSubstr("the element '-2'"));
  EXPECT_THAT(EntryError(R"("F32")", "[2.0]", "[0,8]"), HasSubstr("the element '2.0'"));
  EXPECT_THAT(EntryError(R"("F32")", "[2]", "[0,8,9]"), HasSubstr("3 elements, expected 2"));
  EXPECT_THAT(EntryError(R"("F32")", "[2]", "[0,8],\"z\":1"), HasSubstr("4 keys"));
  EXPECT_EQ(EntryError(R"("F32")", "[2]", "[0,9]"),
            "data_offsets of tensor 'y' are [0,9], expected 8 bytes for y:f32[2]");
  EXPECT_THAT(EntryError(R"("F32")", "[2]", "[8,0]"), HasSubstr("are [8,0], expected 8 bytes"));
  // 2^62 F32 elements are 2^64 bytes. The size must not wrap around to 0.
  EXPECT_THAT(EntryError(R"("F32")", "[4611686018427387904]", "[0,0]"),
              HasSubstr("does not fit into memory"));
  EXPECT_THAT(HeaderError(R"({"y":{"dtype":"F32","shape":[2]}})"),
              HasSubstr("tensor 'y' has no 'data_offsets'"));
}

TEST(ParseHeader, RefusesGapsAndOverlaps) {
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

// ParseHeader returns a header or throws Error, for any input.
RC_GTEST_PROP(ParseHeader, SurvivesMutations, ()) {
  std::string json =
      R"({"__metadata__":{"id":"1"},"y":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  const std::string alphabet = "{}[]\",:0123456789eE.-\\u\xff yF";
  const int count = *rc::gen::inRange(1, 6);
  for (int i = 0; i < count; ++i) {
    json[*rc::gen::inRange<size_t>(0, json.size())] =
        alphabet[*rc::gen::inRange<size_t>(0, alphabet.size())];
  }
  try {
    const Header header = ParseHeader(json);
    RC_ASSERT(header.body_size <= 1u << 30);
  } catch (const Error&) {
  }
}

TEST(CheckOutputs, ErrorsNameTheExpectedOutputs) {
  const std::vector<ExpectedTensor> expected = {{"y", DType::kBF16, {2}},
                                                {"lse", DType::kF32, {}, true}};
  const auto check = [&](const std::string& json) {
    return MessageOf([&] { CheckOutputs(ParseHeader("{" + json + "}"), expected); });
  };
  const std::string y = R"("y":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]})";
  EXPECT_EQ(check(y), "");
  EXPECT_EQ(check(y + R"(,"lse":{"dtype":"F32","shape":[],"data_offsets":[4,8]})"), "");
  EXPECT_EQ(check(y + R"(,"lse":{"dtype":"F32","shape":[1],"data_offsets":[4,8]})"),
            "output lse:f32[1], expected lse:f32[]");
  EXPECT_EQ(check(R"("y":{"dtype":"F16","shape":[2],"data_offsets":[0,4]})"),
            "output y:f16[2], expected y:bf16[2]");
  EXPECT_EQ(check(R"("y":{"dtype":"BF16","shape":[2,1],"data_offsets":[0,4]})"),
            "output y:bf16[2,1], expected y:bf16[2]");
  EXPECT_EQ(check(""), "output 'y' is missing, expected: y:bf16[2] lse:f32[] (optional)");
  EXPECT_EQ(check(y + R"(,"z":{"dtype":"F32","shape":[],"data_offsets":[4,8]})"),
            "unknown output 'z', expected: y:bf16[2] lse:f32[] (optional)");
}

TEST(DecodeBody, ReadsEveryDType) {
  const Header header = ParseHeader(
      R"({"d":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},
          "i":{"dtype":"I64","shape":[2],"data_offsets":[8,24]},
          "f":{"dtype":"F32","shape":[2],"data_offsets":[24,32]},
          "h":{"dtype":"F16","shape":[1],"data_offsets":[32,34]},
          "b":{"dtype":"BF16","shape":[3],"data_offsets":[34,40]}})");
  const Tensors tensors =
      DecodeBody(header, Bytes({0, 0, 0, 0, 0, 0, 0, 0xC0}) +               // -2
                             Bytes({2, 1, 0, 0, 0, 0, 0, 0}) +              // 258
                             Bytes({0, 0, 0, 0, 0, 0, 0xE0, 0xFF}) +        // -2^53
                             Bytes({0, 0, 0xC0, 0x7F, 0, 0, 0x80, 0x7F}) +  // NaN, inf
                             Bytes({1, 0x80}) +                             // -2^-24
                             Bytes({0x80, 0x3F, 0x00, 0x80, 0x01, 0x00}));  // 1, -0, 2^-133
  EXPECT_EQ(Find(tensors, "d").values.data, std::vector<double>{-2});
  EXPECT_EQ(Find(tensors, "i").values.data, (std::vector<double>{258, -0x1p53}));
  EXPECT_TRUE(std::isnan(Find(tensors, "f").values.data[0]));
  EXPECT_EQ(Find(tensors, "f").values.data[1], std::numeric_limits<double>::infinity());
  EXPECT_EQ(Find(tensors, "h").values.data, std::vector<double>{-0x1p-24});
  EXPECT_EQ(Find(tensors, "b").values.data, (std::vector<double>{1, 0, 0x1p-133}));
  EXPECT_TRUE(std::signbit(Find(tensors, "b").values.data[1]));
  EXPECT_EQ(Find(tensors, "b").dtype, DType::kBF16);
}

// 2^53 + 1 is not a double.
TEST(DecodeBody, RefusesIntegersThatAreNotDoubles) {
  const Header header = ParseHeader(R"({"i":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}})");
  EXPECT_EQ(MessageOf([&] {
              DecodeBody(header, Bytes({1, 0, 0, 0, 0, 0, 0x20, 0}));
            }),
            "output i has the integer 9007199254740993 at element 0, expected at most 2^53 in "
            "magnitude");
}

}  // namespace
}  // namespace sextant::oracle
