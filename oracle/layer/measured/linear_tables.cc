#include "oracle/layer/measured/linear_tables.h"

#include <optional>
#include <utility>

#include "oracle/layer/measured/column_table.h"
#include "oracle/layer/measured/scaled_columns.h"
#include "oracle/layer/tensor_places.h"

namespace sextant::oracle {
namespace {

constexpr size_t kTableRows = 8, kOutputs = 8;             // of which elements are looked at
constexpr size_t kManyProductsOfWeight = size_t{1} << 20;  // of one weight: a bias is not measured

class LinearTableFitter {
 public:
  LinearTableFitter(const Observation& seen, ErrorBar bar)
      : samples_(seen, 0, bar),
        x_(seen.inputs[kX].values),
        M_(x_.shape[1]),
        F_(seen.inputs[kWeight].values.shape[0]),
        rows_(samples_.ChosenRows(kTableRows, F_)) {}

  std::vector<Layer> All(const std::vector<Layer>& weights, bool has_bias) {
    const std::vector<Products> right = ProductsOf(weights.front(), Outputs());
    AddScaled(weights.front(), right, false);
    if (fits_.empty()) AddScaled(weights.front(), right, true);
    if (!has_bias || rows_.size() < 2 || rows_.size() * M_ * F_ > kManyProductsOfWeight)
      return std::move(fits_);
    for (const Layer& layer : weights) TryBias(layer);
    TryColumnsWithAnyBias(weights.front());
    return std::move(fits_);
  }

 private:
  std::vector<size_t> Outputs() const {
    std::vector<size_t> all;
    for (size_t i = 0; i < std::min(kOutputs, F_); ++i)
      all.push_back(i * F_ / std::min(kOutputs, F_));
    return all;
  }
  // The elements of the chosen rows at these outputs.
  std::vector<Products> ProductsOf(const Layer& layer, const std::vector<size_t>& outputs) const {
    std::vector<Products> all;
    for (const size_t f : outputs) {
      for (const size_t n : rows_) {
        if (!samples_.Has(n * F_ + f)) continue;
        all.push_back(layer.ProductsOf(samples_.At(n * F_ + f), x_, F_));
        all.back().base = layer.bias(f);
      }
    }
    return all;
  }
  // What an output has in the first of these elements is taken off the others: the bias is not
  // seen.
  std::vector<Products> Differences(const std::vector<Products>& all) const {
    std::vector<Products> differences;
    for (size_t i = 1, first = 0; i < all.size(); ++i) {
      if (all[i].sample.at % F_ != all[first].sample.at % F_) {
        first = i;
        continue;
      }
      Products one = all[i];
      one.base = 0;
      one.sample.y -= all[first].sample.y;
      one.sample.error += all[first].sample.error;
      for (size_t m = 0; m < one.first.size(); ++m) one.first[m] -= all[first].first[m];
      differences.push_back(std::move(one));
    }
    return differences;
  }

  static Layer With(const Layer& layer, const ScaledColumns& columns) {
    Layer fit = layer;
    fit.weight = [columns, w = layer.weight](size_t f, size_t m) {
      return columns.TimesOf(m) * w(f, m);
    };
    fit.deviations.Add(columns.deviations);
    return fit;
  }
  void AddScaled(const Layer& layer, const std::vector<Products>& all, bool with_factor) {
    for (const ScaledColumns& columns : FitScaledColumns(all, with_factor))
      fits_.push_back(With(layer, columns));
  }
  void TryColumnsWithAnyBias(const Layer& layer) {
    std::vector<Products> differences = Differences(ProductsOf(layer, Outputs()));
    for (const ScaledColumns& columns : FitScaledColumns(differences, false))
      TryBias(With(layer, columns));
  }

  // The bias of an output, if all rows agree.
  std::optional<MeasuredNumber> BiasOf(const Layer& layer, size_t f) const {
    Range bias;
    for (const size_t n : rows_) {
      if (!samples_.Has(n * F_ + f)) continue;
      const Sample sample = samples_.At(n * F_ + f);
      long double sum = 0;
      for (size_t m = 0; m < M_; ++m)
        sum += static_cast<long double>(x_(n, m)) * layer.weight(f, m);
      const double rest = sample.y - static_cast<double>(sum);
      bias.Intersect({rest - sample.error, rest + sample.error});
      if (bias.IsEmpty()) return std::nullopt;
    }
    if (!bias.IsBounded()) return MeasuredNumber{};
    return MiddleOf(bias);
  }
  void TryBias(const Layer& layer) {
    std::vector<MeasuredNumber> measured;
    std::vector<double> right;
    for (size_t f = 0; f < F_; ++f) {
      const auto bias = BiasOf(layer, f);
      if (!bias) return;
      measured.push_back(*bias);
      right.push_back(layer.bias(f));
    }
    const auto named = NameTable(measured, right, {}, "bias");
    if (!named || named->deviations.count == 0) return;
    Layer fit = layer;
    fit.bias = [numbers = named->numbers](size_t f) { return numbers[f]; };
    fit.deviations.Add(named->deviations);
    fits_.push_back(std::move(fit));
  }

  Samples samples_;
  const Tensor<double>& x_;
  size_t M_, F_;
  std::vector<size_t> rows_;
  std::vector<Layer> fits_;
};

}  // namespace

std::vector<Layer> FitLinearTables(const Observation& seen, ErrorBar bar,
                                   const std::vector<Layer>& weights, bool has_bias) {
  return LinearTableFitter(seen, bar).All(weights, has_bias);
}

}  // namespace sextant::oracle
