#include "reference/case/attribute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "reference/base/error_test.h"
#include "reference/case/call.h"

namespace sextant {

// Not in an unnamed namespace: the functions of a variant are found by argument-dependent lookup,
// in the namespace of its structs.
enum class Color { kRed, kBlue };
constexpr std::array<std::string_view, 2> NamesOf(Color) { return {"red", "blue"}; }

struct Plain {
  static constexpr std::string_view kName = "plain";
  void Visit(auto&&) {}
};
struct Shifted {
  static constexpr std::string_view kName = "shifted";
  double by = 0;
  int64_t times = 2;
  void Visit(auto&& v) {
    v("by", by, kRequired);
    v("times", times);
  }
};
struct Stretched {
  static constexpr std::string_view kName = "stretched";
  double by = 1;
  std::optional<double> at_most;
  void Visit(auto&& v) {
    v("by", by, kRequired);
    v("at_most", at_most);
  }
};
struct Everything {
  double eps = 1e-5;
  bool on = false;
  int64_t offset = -3;
  Color color = Color::kBlue;
  std::optional<double> scale;
  std::optional<int64_t> count;
  std::vector<double> list;
  std::variant<Plain, Shifted> shape;
  Dimension R;
  void Visit(auto&& v) {
    v("eps", eps);
    v("on", on);
    v("offset", offset);
    v("color", color, kRequired);
    v("scale", scale);
    v("count", count);
    v("list", list);
    v("shape", shape);
    v("R", R);
  }
};

namespace {

using testing::ElementsAre;

std::string SetError(std::string_view name, std::string_view text) {
  return MessageOf([&] {
    Everything object;
    SetAttribute(object, "thing", name, text);
  });
}

TEST(Attribute, PrintsTheShortestTextThatReadsBack) {
  EXPECT_EQ(PrintValue(0.1), "0.1");
  EXPECT_EQ(PrintValue(1e-5), "1e-05");
  EXPECT_EQ(PrintValue(500000.0), "500000");
  EXPECT_EQ(PrintValue(int64_t{-7}), "-7");
  EXPECT_EQ(PrintValue(true), "true");
  EXPECT_EQ(PrintValue(Color::kBlue), "blue");
  EXPECT_EQ(PrintValue(std::optional<double>()), "");
  EXPECT_EQ(PrintValue(std::variant<Plain, Shifted>(Shifted{.by = 0.5})),
            "shifted(by=0.5,times=2)");
  EXPECT_EQ(PrintValue(std::variant<Plain, Shifted>()), "plain");
}

RC_GTEST_PROP(Attribute, EveryFiniteDoubleReadsBack, (uint64_t bits)) {
  const double x = std::bit_cast<double>(bits);
  RC_PRE(std::isfinite(x));
  double read = 0;
  ParseValue(PrintValue(x), read);
  RC_ASSERT(std::bit_cast<uint64_t>(read) == bits);
}

RC_GTEST_PROP(Attribute, EveryIntegerReadsBack, (int64_t x)) {
  int64_t read = 0;
  ParseValue(PrintValue(x), read);
  RC_ASSERT(read == x);
}

TEST(Attribute, ReadsDecimalAndHexadecimalNumbers) {
  const auto read = [](std::string_view text) {
    double x = 0;
    ParseValue(text, x);
    return x;
  };
  EXPECT_EQ(read("-0x1p-3"), -0.125);
  EXPECT_EQ(read("0x1.8p1"), 3);
  EXPECT_EQ(read("1e3"), 1000);
  for (const char* bad :
       {"", "-", "--1", "0x", "0x-1", "1.5x", " 1", "+1", "inf", "nan", "1e999", "0x1p9999"}) {
    EXPECT_EQ(MessageOf([&] { read(bad); }), "'" + std::string(bad) + "' is not a finite number");
  }
}

TEST(Attribute, ErrorsStateTheExpectedValue) {
  EXPECT_EQ(SetError("offset", "1.5"), "thing: attribute offset: '1.5' is not an integer");
  EXPECT_EQ(
      SetError("offset", "99999999999999999999"),
      "thing: attribute offset: '99999999999999999999' is too large: expected an integer below "
      "2^63 in magnitude");
  EXPECT_EQ(SetError("on", "yes"), "thing: attribute on: 'yes' is not one of: true false");
  EXPECT_EQ(SetError("color", "green"), "thing: attribute color: 'green' is not one of: red blue");
  EXPECT_EQ(
      SetError("colour", "red"),
      "thing has no attribute 'colour' (did you mean 'color'?); it has: eps on offset color scale "
      "count list shape");
  EXPECT_EQ(SetError("shape", "round"),
            "thing: attribute shape: 'round' is not one of: plain shifted");
  EXPECT_EQ(SetError("shape", "shifted(by=1"),
            "thing: attribute shape: 'shifted(by=1' has no closing ')'");
  EXPECT_EQ(SetError("shape", "shifted"), "thing: attribute shape: shifted needs by=");
  EXPECT_EQ(SetError("shape", "shifted(by)"),
            "thing: attribute shape: 'by' in 'shifted(by)' is not key=value");
  EXPECT_EQ(SetError("shape", "shifted(by=1,by=2)"),
            "thing: attribute shape: 'shifted(by=1,by=2)' gives by twice");
  EXPECT_EQ(SetError("shape", "shifted(to=1)"),
            "thing: attribute shape: shifted has no attribute 'to'; it has: by times");
}

TEST(Attribute, SetsEachMember) {
  Everything object;
  for (const auto& [name, text] :
       {std::pair("eps", "0.25"), std::pair("on", "true"), std::pair("offset", "4"),
        std::pair("color", "red"), std::pair("scale", "2"), std::pair("count", "3"),
        std::pair("list", "[1,-0.5]"), std::pair("shape", "shifted(times=5,by=-1)"),
        std::pair("R", "64")}) {
    SetAttribute(object, "thing", name, text);
  }
  EXPECT_EQ(object.eps, 0.25);
  EXPECT_TRUE(object.on);
  EXPECT_EQ(object.offset, 4);
  EXPECT_EQ(object.color, Color::kRed);
  EXPECT_EQ(object.scale, 2);
  EXPECT_EQ(object.count, 3);
  EXPECT_THAT(object.list, ElementsAre(1, -0.5));
  EXPECT_EQ(std::get<Shifted>(object.shape).by, -1);
  EXPECT_EQ(std::get<Shifted>(object.shape).times, 5);
  EXPECT_EQ(object.R.value, 64);
  SetAttribute(object, "thing", "scale", "");
  EXPECT_FALSE(object.scale);
}

TEST(Attribute, ParsingAVariantResetsItsArguments) {
  Everything object;
  SetAttribute(object, "thing", "shape", "shifted(times=5,by=-1)");
  SetAttribute(object, "thing", "shape", "shifted(by=1)");
  EXPECT_EQ(std::get<Shifted>(object.shape).times, 2);
}

TEST(Attribute, ListsMembersInOrder) {
  const std::vector<Attribute> all = AttributesOf(Everything{});
  std::vector<std::string> names, texts;
  for (const Attribute& a : all) {
    names.push_back(a.name);
    texts.push_back(a.text);
    EXPECT_EQ(a.required, a.name == "color");
    EXPECT_EQ(a.dimension, a.name == "R");
  }
  EXPECT_THAT(names,
              ElementsAre("eps", "on", "offset", "color", "scale", "count", "list", "shape", "R"));
  EXPECT_THAT(texts, ElementsAre("1e-05", "false", "-3", "blue", "", "", "[]", "plain", ""));
  EXPECT_THAT(all[1].values, ElementsAre("false", "true"));
  EXPECT_THAT(all[3].values, ElementsAre("red", "blue"));
}

TEST(Attribute, UnsetArgumentsAreNotPrinted) {
  std::variant<Plain, Stretched> value;
  ParseValue("stretched(by=2)", value);
  EXPECT_FALSE(std::get<Stretched>(value).at_most);
  EXPECT_EQ(PrintValue(value), "stretched(by=2)");
  ParseValue("stretched(at_most=3,by=2)", value);
  EXPECT_EQ(PrintValue(value), "stretched(by=2,at_most=3)");
  ParseValue("stretched(at_most=,by=2)", value);
  EXPECT_EQ(PrintValue(value), "stretched(by=2)");
  EXPECT_THAT(PossibleValues(value), ElementsAre("plain", "stretched(by=,at_most=)"));
}

TEST(Attribute, CommasInsideListsDoNotSeparateArguments) {
  const Call call = ParseCall("explicit(inv_freq=[1,0.5],attention_factor=1)");
  EXPECT_EQ(call.name, "explicit");
  EXPECT_THAT(call.arguments,
              ElementsAre(std::pair("inv_freq", "[1,0.5]"), std::pair("attention_factor", "1")));
}

TEST(Attribute, ReadsListsOfNumbers) {
  std::vector<int64_t> list = {7};
  ParseValue("[16,-24,24]", list);
  EXPECT_THAT(list, ElementsAre(16, -24, 24));
  EXPECT_EQ(PrintValue(list), "[16,-24,24]");
  ParseValue("[]", list);
  EXPECT_THAT(list, ElementsAre());
  EXPECT_EQ(PrintValue(list), "[]");
  ParseValue("-8", list);
  EXPECT_EQ(PrintValue(list), "[-8]");
  for (const char* wrong : {"", "[", "]", "1,2", "[1,2", "[1,,2]", "[1,]", "[,]", "[1.5]", "[a]"}) {
    EXPECT_THROW(ParseValue(wrong, list), Error) << wrong;
  }
}

}  // namespace
}  // namespace sextant
