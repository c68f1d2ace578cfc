#include "fast/rope/axis_table.h"

#include "fast/kernel/kernel_test.h"

namespace sextant::fast {
namespace {

template <class T>
class FillAxisTest : public testing::Test {
 public:
  // Fills columns 3 and 1 of 5; the others must not change.
  static void Check(const std::vector<double>& coordinate) {
    const std::vector<DoubleDouble> frequency = {1.0, {0.3, 1e-18}};
    const std::vector<size_t> columns = {3, 1};
    Guarded<T> cosine(coordinate.size() * 5), sine(cosine.size());
    const Guarded<T> untouched = cosine;
    FillAxis<T>(coordinate, {frequency, 1.0}, columns, 5, cosine.data(), sine.data());
    for (size_t i = 0; i < cosine.size(); ++i) {
      const size_t column = i % 5;
      if (column != 1 && column != 3) {
        EXPECT_EQ(std::memcmp(&cosine[i], &untouched[i], sizeof(T)), 0) << i;
        EXPECT_EQ(std::memcmp(&sine[i], &untouched[i], sizeof(T)), 0) << i;
        continue;
      }
      const SineCosine cos_sin = SinCos(frequency[column == 1] * coordinate[i / 5]);
      EXPECT_EQ(ToDouble(cosine[i]), ToDouble(FromDoubleDouble<T>(cos_sin.cosine))) << i;
      EXPECT_EQ(ToDouble(sine[i]), ToDouble(FromDoubleDouble<T>(cos_sin.sine))) << i;
    }
  }
};
TYPED_TEST_SUITE(FillAxisTest, AllTypes);

TYPED_TEST(FillAxisTest, FillsItsColumnsForRealCoordinates) {
  OnAllTargets([] { TestFixture::Check({0.5, -1, 0, 0x1.8p-30, 1e6 + 0.25}); });
}

TYPED_TEST(FillAxisTest, FillsItsColumnsForIntegers) {
  OnAllTargets([] { TestFixture::Check({5, -3, 0, 4097}); });
}

TYPED_TEST(FillAxisTest, AcceptsNoCoordinates) { TestFixture::Check({}); }

}  // namespace
}  // namespace sextant::fast
