#include "reference/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "reference/base/error.h"
#include "reference/base/error_test.h"

namespace sextant {
namespace {

using testing::HasSubstr;

std::string ErrorOf(const std::string& text, int max_levels = 4) {
  return MessageOf([&] { ParseJson(text, max_levels); });
}

TEST(ParseJson, RefusesTextThatParsersReadDifferently) {
  EXPECT_EQ(ErrorOf(R"({"a":1,"b":{"a":2}})"), "");
  EXPECT_EQ(ErrorOf(R"({"a":1,"b":2,"a":1})"), "has the key 'a' twice in one object");
  EXPECT_EQ(ErrorOf("[1e999]"), "holds a number beyond the range of binary64");
  EXPECT_THAT(ErrorOf("[NaN]"), HasSubstr("is not JSON in UTF-8, see byte 2"));
  EXPECT_THAT(ErrorOf("[\"\xff\"]"), HasSubstr("is not JSON in UTF-8"));
}

TEST(Json, BecomesAnIntegerOnlyIfItIsOneOfItsRange) {
  const auto is_size = [](const char* text) {
    try {
      const size_t number = ParseJson(text, 1);
      return std::to_string(number) == text;
    } catch (const Json::exception&) {
      return false;
    }
  };
  EXPECT_TRUE(is_size("0"));
  EXPECT_TRUE(is_size("18446744073709551615"));
  for (const char* const other : {"-1", "1.5", "2.0", "7.6e39", "18446744073709551616", "true"})
    EXPECT_FALSE(is_size(other)) << other;
  EXPECT_EQ(ParseJson("-9223372036854775808", 1).get<int64_t>(), INT64_MIN);
  EXPECT_THROW(ParseJson("9223372036854775808", 1).get<int64_t>(), Json::exception);
  EXPECT_THROW(ParseJson("2147483648", 1).get<int>(), Json::exception);
  EXPECT_THROW(ParseJson("[1, 2e40]", 1).get<std::vector<size_t>>(), Json::exception);
  EXPECT_EQ(Json(size_t{3}).dump(), "3");
}

TEST(ParseJson, LimitsTheDepth) {
  EXPECT_EQ(ErrorOf("[[{\"a\":[]}]]"), "");
  EXPECT_EQ(ErrorOf("[[{\"a\":[[]]}]]"), "is nested deeper than 4 levels");
}

TEST(ParseJson, LimitsTheKeysOfAnObject) {
  const auto object_of = [](size_t keys) {
    std::string text = "{\"0\":0";
    for (size_t i = 1; i < keys; ++i) text += ",\"" + std::to_string(i) + "\":0";
    return text + "}";
  };
  EXPECT_EQ(ErrorOf(object_of(kMostKeys)), "");
  EXPECT_EQ(ErrorOf(object_of(kMostKeys + 1)), "has an object of more than 4096 keys");
}

TEST(SameMeaning, DoesNotDependOnTheOrderOfKeys) {
  const Json a = ParseJson(R"({"x":1,"y":{"p":[1,2],"q":"t"}})", 4);
  EXPECT_TRUE(SameMeaning(a, ParseJson(R"({"y":{"q":"t","p":[1,2]},"x":1})", 4)));
  EXPECT_FALSE(SameMeaning(a, ParseJson(R"({"y":{"q":"t","p":[2,1]},"x":1})", 4)));
  EXPECT_FALSE(SameMeaning(a, ParseJson(R"({"y":{"q":"t","p":[1,2]}})", 4)));
}

TEST(PrintJson, MakesTextsAndKeysPrintable) {
  const Json value = {
      {"\x1b", {"a\u202e\nb", Json{{"\xff", "::error::"}}}}, {"n", 1.5}, {"empty", {}}};
  EXPECT_EQ(PrintJson(value), R"({"?":["a???\nb",{"?":"| ::error::"}],"n":1.5,"empty":null})");
  EXPECT_EQ(PrintJson(Json::object()) + PrintJson(Json::array()), "{}[]");
}

}  // namespace
}  // namespace sextant
