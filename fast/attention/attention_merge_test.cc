#include "fast/attention/attention_merge.h"

#include <limits>

#include "fast/kernel/proven_test.h"
#include "fast/kernel/typed.h"

namespace sextant::fast {
namespace {

template <class T>
class MergePartsTest : public testing::Test {
 public:
  using C = Computed<T>;

  // Runs a case of `attention_merge` with all arrays in guarded memory.
  static Tensors RunGuarded(const Case& c, const Tensors& inputs) {
    const size_t N = ExtentOf(c, "N"), E = ExtentOf(c, "E");
    const auto y1 = ToGuarded<T>(inputs[0].values), y2 = ToGuarded<T>(inputs[2].values);
    const auto lse1 = ToGuarded<C>(inputs[1].values), lse2 = ToGuarded<C>(inputs[3].values);
    Guarded<T> y(N * E);
    Guarded<C> lse(N);
    MergeParts<T>({N, E, y1.data(), y2.data(), lse1.data(), lse2.data()}, y.data(), lse.data());
    return {FromGuarded("y", {N, E}, y), FromGuarded("lse", {N}, lse)};
  }
  static void Check(const std::string& words) {
    std::string line = "attention_merge " + words + " dtype=";
    ExpectProven(line += NameOf(kDType<T>), RunGuarded);
  }
};
TYPED_TEST_SUITE(MergePartsTest, AllTypes);

TYPED_TEST(MergePartsTest, ErrorIsPermittedAtEveryWidth) {
  for (size_t E = 0; E <= 33; ++E) TestFixture::Check("N=3 E=" + std::to_string(E));
}

// Similar lse, and lse of very different size; e^lse overflows for some.
TYPED_TEST(MergePartsTest, ErrorIsPermittedForEveryDifference) {
  TestFixture::Check("N=6 E=5 @lse1=normal(4) @lse2=normal(4)");
  TestFixture::Check("N=4 E=5 @lse1=500,-500,100,2 @lse2=-500,500,101,2");
}

TYPED_TEST(MergePartsTest, GivesZeroForPartsWithoutKeys) {
  TestFixture::Check("N=40 E=5 empty_rows=zero @lse1=masked @lse2=masked");
}

// The result has the bits of the other part.
TYPED_TEST(MergePartsTest, PartsWithoutKeysMayBeNaN) {
  using T = TypeParam;
  using C = Computed<T>;
  OnAllTargets([] {
    Random random;
    const Guarded<T> full = random.Fill<T>(37);
    Guarded<T> empty(37);
    for (size_t e = 0; e < 37; ++e) empty[e] = FromDouble<T>(NAN);
    const C some = C{1.5}, none = -std::numeric_limits<C>::infinity();
    for (const bool first : {true, false}) {
      Guarded<T> y(37);
      C lse = 0;
      MergeParts<T>({1, 37, (first ? empty : full).data(), (first ? full : empty).data(),
                     first ? &none : &some, first ? &some : &none},
                    y.data(), &lse);
      EXPECT_EQ(lse, some);
      EXPECT_TRUE(y.SameBits(full));
    }
  });
}

}  // namespace
}  // namespace sextant::fast
