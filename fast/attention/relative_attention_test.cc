#include "fast/attention/relative_attention.h"

#include <algorithm>
#include <cmath>

#include "fast/kernel/proven_test.h"
#include "fast/kernel/typed.h"
#include "reference/attention/relative_attention.h"

namespace sextant::fast {
namespace {

template <class T>
class RelativeAttendTest : public testing::Test {
 public:
  // Runs a case of `relative_attention` that sets `scale`, with all arrays in guarded memory.
  static Tensors RunGuarded(const Case& c, const Tensors& inputs) {
    const size_t H = ExtentOf(c, "H"), S = ExtentOf(c, "S"), keys = ExtentOf(c, "T");
    const size_t D = ExtentOf(c, "D");
    const auto op = StructOf<RelativeAttention>(c);
    const auto of = [&](size_t i) { return ToGuarded<T>(inputs[i].values); };
    const Guarded<T> q = of(0), k = of(1), v = of(2), key_table = of(3), value_table = of(4);
    const auto query_position = ToIntegers(StoredTensor(inputs[5]));
    const auto key_position = ToIntegers(StoredTensor(inputs[6]));
    const RelativeInputs<T> in{H,
                               D,
                               q.data(),
                               k.data(),
                               v.data(),
                               key_table.data(),
                               value_table.data(),
                               query_position,
                               key_position,
                               op.clip,
                               op.scale.value()};
    Guarded<T> y(H * S * D), scores(H * S * keys);
    Guarded<Computed<T>> scratch(ScratchOf(in));
    RelativeAttend(in, y.data(), scores.data(), scratch.data());
    return {FromGuarded("y", {1, H, S, D}, y), FromGuarded("scores", {1, H, S, keys}, scores)};
  }
  static void Check(const std::string& words) {
    std::string line = "relative_attention scale=0.5 B=1 " + words + " dtype=";
    ExpectProven(line += NameOf(kDType<T>), RunGuarded);
  }
};
TYPED_TEST_SUITE(RelativeAttendTest, AllTypes);

TYPED_TEST(RelativeAttendTest, ErrorIsPermittedAtEveryWidth) {
  for (size_t D = 1; D <= 33; ++D) {
    TestFixture::Check("clip=1 H=2 S=2 T=3 @query_position=3,4 D=" + std::to_string(D));
  }
  TestFixture::Check("clip=2 H=1 S=1 T=2 @query_position=3 D=129");
}

TYPED_TEST(RelativeAttendTest, ErrorIsPermittedForEveryNumberOfKeys) {
  for (size_t T = 1; T <= 33; ++T) {
    TestFixture::Check("clip=2 H=2 S=3 D=4 @query_position=3..5 T=" + std::to_string(T));
  }
}

TYPED_TEST(RelativeAttendTest, ErrorIsPermittedForClipsZeroAndLarge) {
  for (const char* clip : {"clip=0", "clip=100"}) {
    TestFixture::Check(std::string(clip) + " H=1 S=3 T=9 D=4 @query_position=3..5");
  }
}

// The bits of the results do not depend on table rows that no key uses.
TEST(RelativeAttend, UnusedRowsHaveNoEffect) {
  Random random;
  const Guarded<float> q = random.Fill<float>(2), k = random.Fill<float>(4);
  const Guarded<float> v = random.Fill<float>(4);
  Guarded<float> key_table = random.Fill<float>(6), value_table = random.Fill<float>(6);
  const std::vector<int64_t> query_position = {0}, key_position = {-9, 9};  // rows 0 and 2
  const RelativeInputs<float> in{.heads = 1,
                                 .D = 2,
                                 .q = q.data(),
                                 .k = k.data(),
                                 .v = v.data(),
                                 .key_table = key_table.data(),
                                 .value_table = value_table.data(),
                                 .query_position = query_position,
                                 .key_position = key_position,
                                 .clip = 1,
                                 .scale = 0.5};
  OnAllTargets([&] {
    Guarded<float> y(2), scores(2), scratch(ScratchOf(in)), y_of_nan(2), scores_of_nan(2);
    for (const size_t d : {2, 3}) key_table[d] = value_table[d] = 1;
    RelativeAttend(in, y.data(), scores.data(), scratch.data());
    for (const size_t d : {2, 3}) key_table[d] = value_table[d] = NAN;
    RelativeAttend(in, y_of_nan.data(), scores_of_nan.data(), scratch.data());
    for (const size_t i : {0, 1}) EXPECT_TRUE(std::isfinite(y[i])) << i;
    EXPECT_TRUE(y_of_nan.SameBits(y));
    EXPECT_TRUE(scores_of_nan.SameBits(scores));
  });
}

// Scores of -infinity, from infinite keys or by overflow: all weights are 0, as in all forms of
// attention.
TYPED_TEST(RelativeAttendTest, GivesZeroIfAllScoresAreMinusInfinity) {
  using T = TypeParam;
  constexpr size_t kKeys = 3, kWidth = 5;
  const double most = MaxFinite(kDType<T>);
  for (const double key : {-static_cast<double>(INFINITY), -most}) {
    if (key == -most && most < 1e30) continue;  // squares of f16 do not overflow in f32
    const auto filled = [](size_t count, double value) {
      Guarded<T> all(count);
      std::fill_n(all.data(), count, FromDouble<T>(value));
      return all;
    };
    const Guarded<T> q = filled(kWidth, most), k = filled(kKeys * kWidth, key);
    const Guarded<T> v = filled(kKeys * kWidth, 1), key_table = filled(3 * kWidth, 0);
    const Guarded<T> value_table = filled(3 * kWidth, 1);
    const std::vector<int64_t> query_position = {1}, key_position = {0, 1, 2};
    const RelativeInputs<T> in{.heads = 1,
                               .D = kWidth,
                               .q = q.data(),
                               .k = k.data(),
                               .v = v.data(),
                               .key_table = key_table.data(),
                               .value_table = value_table.data(),
                               .query_position = query_position,
                               .key_position = key_position,
                               .clip = 1,
                               .scale = 0.5};
    OnAllTargets([&] {
      Guarded<T> y(kWidth), scores(kKeys);
      Guarded<Computed<T>> scratch(ScratchOf(in));
      RelativeAttend(in, y.data(), scores.data(), scratch.data());
      for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(ToDouble(y[i]), 0);
      for (size_t t = 0; t < kKeys; ++t) EXPECT_EQ(ToDouble(scores[t]), -INFINITY);
    });
  }
}

TEST(RelativeAttend, GivesZeroWithoutKeys) {
  const float q[] = {1, 2}, table[6] = {};
  const std::vector<int64_t> query_position = {0};
  const RelativeInputs<float> in{.heads = 1,
                                 .D = 2,
                                 .q = q,
                                 .key_table = table,
                                 .value_table = table,
                                 .query_position = query_position,
                                 .key_position = {},
                                 .clip = 1};
  OnAllTargets([&] {
    Guarded<float> y(2), scores(0), scratch(ScratchOf(in));
    y[0] = y[1] = 7;
    RelativeAttend(in, y.data(), scores.data(), scratch.data());
    EXPECT_EQ(y[0], 0);
    EXPECT_EQ(y[1], 0);
  });
}

}  // namespace
}  // namespace sextant::fast
