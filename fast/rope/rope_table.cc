#include "fast/rope/rope_table.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <vector>

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/rope/precise_cos_sin.h"
#include "fast/rope/rope_table_row.h"
#include "reference/rope/rope_table.h"

namespace sextant::fast {
namespace {

// Computes rows of a table as products of two rows: position = coarse * fine_count + fine.
class TableFiller {
 public:
  // For consecutive positions there are about as many coarse rows as fine rows.
  TableFiller(DType dtype, std::span<const DoubleDouble> frequency, const DoubleDouble& amplitude,
              std::span<const double> position)
      : fill_row_(RowFillerOf(dtype)),
        n_(frequency.size()),
        frequency_(frequency),
        amplitude_(amplitude),
        fine_bits_(std::bit_width(position.size()) / 2),
        rows_(4 * n_ * ((size_t{1} << fine_bits_) + 2)),
        undecided_(n_) {
    const size_t fine_count = size_t{1} << fine_bits_;
    SetErrors(position, static_cast<double>(fine_count));
    SetExactly(Row(0), 0, 1.0);
    for (size_t half = 1; half < fine_count; half *= 2) {
      SetExactly(Row(half), static_cast<double>(half), 1.0);
      for (size_t i = 1; i < half; ++i) {
        MultiplyCosSins(Row(i), Row(half), Row(half + i));
      }
    }
    SetExactly(Step(), static_cast<double>(fine_count), 1.0);
  }

  template <Element T>
  void FillRow(int64_t position, T* cosine, T* sine) {
    MoveTo(position >> fine_bits_);
    const auto fine = static_cast<size_t>(position - (coarse_ << fine_bits_));
    const size_t count = FillFast(Row(fine), cosine, sine);
    for (size_t i = 0; i < count; ++i) {
      const auto [first, columns] = undecided_[i];
      for (size_t k = first; k < first + columns; ++k) {
        const SineCosine cos_sin =
            CosSinFor<T>(frequency_[k], static_cast<double>(position), amplitude_);
        cosine[k] = FromDoubleDouble<T>(cos_sin.cosine);
        sine[k] = FromDoubleDouble<T>(cos_sin.sine);
      }
    }
  }

 private:
  CosSinRow Row(size_t i) { return {rows_.data() + 4 * n_ * i, n_}; }
  CosSinRow Step() { return Row(size_t{1} << fine_bits_); }
  CosSinRow Coarse() { return Row((size_t{1} << fine_bits_) + 1); }

  void SetExactly(const CosSinRow& row, double position, const DoubleDouble& amplitude) const {
    for (size_t k = 0; k < n_; ++k) {
      const SineCosine cos_sin = CosSinOf(frequency_[k], position, amplitude);
      row.cosine[k] = cos_sin.cosine.high;
      row.sine()[k] = cos_sin.sine.high;
      row.cosine_low()[k] = cos_sin.cosine.low;
      row.sine_low()[k] = cos_sin.sine.low;
    }
  }

  // Sets the coarse row: the next one by a multiplication, any other one by SetExactly.
  void MoveTo(int64_t coarse) {
    if (steps_ >= 0 && coarse == coarse_) return;
    if (steps_ >= 0 && steps_ < kMostSteps && coarse == coarse_ + 1) {
      MultiplyCosSins(Coarse(), Step(), Coarse());
      ++steps_;
    } else {
      SetExactly(Coarse(), std::ldexp(static_cast<double>(coarse), fine_bits_), amplitude_);
      steps_ = 0;
    }
    coarse_ = coarse;
  }

  // f64 is computed in double-double. Errors in units of u^2 = 2^-106 times the amplitude A: SinCos
  // 18.4 (as a complex number), a product 15.6; so a fine row of up to 10 products 340, the coarse
  // row 1024 (18.4 + 15.6) + 24, their product less than 2^-90 A in total.
  // Other types are computed in double, u = 2^-53: high parts instead of sums 2 u; two products and
  // a sum u each, together 4 u A because |ca cb| + |sa sb| <= A; adding and subtracting the error
  // 2 u. The sum is at most 8 u A.
  // A frequency with a low part adds 2 units per radian of the multiplied angles.
  void SetErrors(std::span<const double> position, double fine_count) {
    double furthest = fine_count, highest = 0;
    for (const double p : position) furthest = std::max(furthest, std::abs(p));
    for (const DoubleDouble& f : frequency_) {
      if (f.low != 0) highest = std::max(highest, std::abs(f.high));
    }
    const double A = std::abs(amplitude_.high), angles = A * highest * (furthest + fine_count);
    wide_error_ = A * 0x1p-90 + angles * 0x1p-104;
    error_ = A * 0x1p-50 + angles * 0x1p-104;
  }

  template <Element T>
  size_t FillFast(const CosSinRow& fine, T* cosine, T* sine) {
    if (!IsOrdinary(amplitude_)) {
      undecided_[0] = {0, n_};
      return n_ > 0;
    }
    const double error = std::same_as<T, double> ? wide_error_ : error_;
    return fill_row_(Coarse(), fine, error, cosine, sine, undecided_.data());
  }

  static constexpr int kMostSteps = 1024;

  RowFiller fill_row_;
  size_t n_;
  std::span<const DoubleDouble> frequency_;
  DoubleDouble amplitude_;
  int fine_bits_;
  double wide_error_ = 0, error_ = 0;  // of a product of rows: in double-double, in double
  std::vector<double> rows_;           // fine rows, the step between coarse rows, the coarse row
  std::vector<UndecidedColumns> undecided_;
  int64_t coarse_ = 0;
  int steps_ = -1;  // multiplications since SetExactly computed the coarse row
};

}  // namespace

template <Element T>
void FillTable(std::span<const double> position, std::span<const DoubleDouble> frequency,
               const DoubleDouble& amplitude, T* cosine, T* sine) {
  // Pairs with frequency 0 (proportional scaling) have a sine of exactly 0; no error bound could
  // decide its rounding, so they are filled separately.
  size_t rotating = frequency.size();
  while (rotating > 0 && frequency[rotating - 1].high == 0) --rotating;
  const size_t still = frequency.size() - rotating;
  const T still_cosine = FromDoubleDouble<T>(amplitude), zero = FromDouble<T>(0);
  InRowParts(position.size(), 2 * frequency.size(), [&](size_t first, size_t count) {
    const std::span<const double> part = position.subspan(first, count);
    TableFiller filler(kDType<T>, frequency.first(rotating), amplitude, part);
    T *c = cosine + first * frequency.size(), *s = sine + first * frequency.size();
    for (const double p : part) {
      filler.FillRow(static_cast<int64_t>(p), c, s);
      std::fill_n(c + rotating, still, still_cosine);
      std::fill_n(s + rotating, still, zero);
      c += frequency.size();
      s += frequency.size();
    }
  });
}

template void FillTable(std::span<const double>, std::span<const DoubleDouble>, const DoubleDouble&,
                        double*, double*);
template void FillTable(std::span<const double>, std::span<const DoubleDouble>, const DoubleDouble&,
                        float*, float*);
template void FillTable(std::span<const double>, std::span<const DoubleDouble>, const DoubleDouble&,
                        F16*, F16*);
template void FillTable(std::span<const double>, std::span<const DoubleDouble>, const DoubleDouble&,
                        BF16*, BF16*);

std::string DeclinesTwoTypes(const Case& c) {
  const auto& outputs = c.info().signature.outputs;
  const DType dtype = c.DTypeOf(outputs[0]);
  if (c.DTypeOf(outputs[1]) != dtype) return "no kernel for cos and sin of two dtypes";
  return IsFloatType(dtype) ? "" : "no kernel for cos and sin of this dtype";
}

namespace {

StoredTensors RunRopeTable(const Case& c, const StoredTensors& inputs) {
  const auto op = StructOf<RopeTable>(c);
  const std::vector<double> numbers = ValuesOf(inputs[1]).data;
  const std::vector<DoubleDouble> frequency(numbers.begin(), numbers.end());
  StoredTensors table = OutputsOf(c);
  WithElement(table[0].dtype(), [&]<class T>() {
    FillTable<T>(ValuesOf(inputs[0]).data, frequency, op.attention_factor, table[0].As<T>(),
                 table[1].As<T>());
  });
  return table;
}

}  // namespace

template <>
CaseKernel MakeKernel<RopeTable>() {
  return {DeclinesTwoTypes, RunRopeTable};
}

}  // namespace sextant::fast
