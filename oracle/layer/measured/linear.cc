#include "oracle/layer/measured/linear.h"

#include <cmath>
#include <functional>
#include <optional>

#include "oracle/diagnosis/vocabulary/axis_orders.h"
#include "oracle/layer/measured/columns.h"
#include "oracle/layer/measured/linear_tables.h"
#include "oracle/layer/measured/model.h"
#include "oracle/layer/tensor_places.h"
#include "reference/base/value_text.h"
#include "reference/layer/linear.h"
#include "reference/number/matrix_product.h"

namespace sextant::oracle {
namespace {

constexpr size_t kLinearElements = 128;  // that are looked at
constexpr size_t kFewElements = 8;  // that are looked at first: what fits all of them, fits these
constexpr size_t kMostLinearDeviations = 2;  // of one answer
constexpr size_t kLargestShift = 64;         // of a bias that is tried

// The bias is added to some rows, or read from other columns.
struct MeasuredLinear : Linear {
  std::function<std::optional<size_t>(size_t n, size_t f)> bias_column;
  template <class Real>
  void operator()(const Tensor<Real>& x, const Weights<Real>& weight, const Tensor<Real>* bias,
                  Tensor<Real>& y) const {
    MultiplyByWeights(x, weight, y);
    const ScopedStep at(Step::kBias);
    for (size_t n = 0; n < y.shape[0]; ++n) {
      for (size_t f = 0; f < y.shape[1]; ++f) {
        if (const auto column = bias_column(n, f)) y(n, f) = y(n, f) + (*bias)(*column);
      }
    }
  }
};

class LinearFitter {
 public:
  LinearFitter(const Observation& seen, ErrorBar bar)
      : seen_(seen),
        bar_(bar),
        x_(seen.inputs[kX].values),
        N_(x_.shape[0]),
        M_(x_.shape[1]),
        F_(seen.inputs[kWeight].values.shape[0]),
        samples_(Samples(seen, 0, bar).Chosen(kLinearElements)) {
    for (const Sample& sample : samples_)
      distances_.push_back(std::abs(sample.y - sample.right) / sample.error);
    right_.weight = [&w = seen.inputs[kWeight].values.data, M = M_](size_t f, size_t m) {
      return w[f * M + m];
    };
    right_.bias = [](size_t) { return 0; };
    const Tensor<double>* const bias = FindValues(seen.inputs, "bias");
    has_bias_ = bias != nullptr;
    if (bias) right_.bias = [bias](size_t f) { return bias->data[f]; };
  }

  std::vector<Layer> All() {
    if (samples_.empty()) return {};
    const size_t few = std::min(kFewElements, samples_.size());
    for (const Layer& weighed : Weights()) {
      std::vector<Products> first = ProductsOf(weighed, few), all;
      for (const Layer& layer : Biases(weighed)) {
        if (!MayFit(layer, first)) continue;
        if (all.empty()) all = ProductsOf(weighed, samples_.size());
        std::ranges::move(FitsOf(layer, all), std::back_inserter(fits_));
      }
    }
    if (fits_.empty()) fits_ = FitLinearTables(seen_, bar_, Weights(), has_bias_);
    KeepSimplest(fits_);
    EraseAccidents(fits_, distances_);
    return fits_;
  }

 private:
  std::vector<Layer> Weights() const {
    std::vector<Layer> all{right_};
    const auto add = [&](const std::string& name, const std::string& sentence, auto weight) {
      all.push_back(right_);
      all.back().weight = weight;
      all.back().deviations.Add(name, sentence);
    };
    const auto w = right_.weight;
    const size_t M = M_, F = F_;
    add("weight_transposed", "the weight is read as [M,F]",
        [=](size_t f, size_t m) { return w((m * F + f) / M, (m * F + f) % M); });
    add("absolute_weight", "the weight has lost its signs",
        [=](size_t f, size_t m) { return std::abs(w(f, m)); });
    for (const AxisOrder& order : OrdersOf(M_))
      add("columns_" + order.name, "the columns of the weight are in another order: " + order.text,
          [=](size_t f, size_t m) { return w(f, order.from(m)); });
    for (const AxisOrder& order : OrdersOf(F_))
      add("outputs_" + order.name, "the rows of the weight are in another order: " + order.text,
          [=](size_t f, size_t m) { return w(order.from(f), m); });
    return all;
  }
  std::vector<Layer> Biases(const Layer& layer) const {
    std::vector<Layer> all{layer};
    if (!has_bias_) return all;
    const auto add = [&](const std::string& name, const std::string& sentence, auto bias) {
      all.push_back(layer);
      all.back().bias = bias;
      all.back().deviations.Add(name, sentence);
    };
    const auto b = layer.bias;
    add("bias_missing", "the bias is not added", [](size_t) { return 0.0; });
    add("bias_added_twice", "the bias is added twice", [=](size_t f) { return 2 * b(f); });
    add("bias_subtracted", "the bias is subtracted", [=](size_t f) { return -b(f); });
    add("bias_multiplied", "the bias is multiplied by 3", [=](size_t f) { return 3 * b(f); });
    add("bias_multiplied", "the bias is multiplied by 1/2", [=](size_t f) { return b(f) / 2; });
    for (const AxisOrder& order : OrdersOf(F_))
      add("bias_" + order.name, "the numbers of the bias are in another order: " + order.text,
          [=](size_t f) { return b(order.from(f)); });
    for (size_t shift = 2; shift + 1 < F_ && shift <= kLargestShift; ++shift)
      add("bias_shifted",
          "column f has the bias of column f + " + PrintValue(static_cast<int64_t>(shift)) +
              ", modulo the number of columns",
          [=, F = F_](size_t f) { return b((f + shift) % F); });
    const auto add_rows = [&](const std::string& sentence, auto has_bias) {
      add("bias_of_some_rows", sentence, b);
      all.back().bias_column = [=](size_t n, size_t f) {
        return has_bias(n) ? std::optional(f) : std::nullopt;
      };
    };
    const size_t last = N_ - 1;
    if (N_ == 1) return all;
    add_rows("only the first row has the bias", [](size_t n) { return n == 0; });
    add_rows("only the last row has the bias", [=](size_t n) { return n == last; });
    add_rows("the first row lacks the bias", [](size_t n) { return n > 0; });
    add_rows("the last row lacks the bias", [=](size_t n) { return n < last; });
    add("bias_by_row", "row n has bias[n] in every column, modulo the number of columns", b);
    all.back().bias_column = [F = F_](size_t n, size_t) { return std::optional(n % F); };
    return all;
  }

  void SetBases(const Layer& layer, std::vector<Products>& products) const {
    for (Products& one : products) one.base = layer.BiasAt(one.sample.at / F_, one.sample.at % F_);
  }

  // False if the first samples show that FitsOf is empty.
  bool MayFit(const Layer& layer, std::vector<Products>& first) const {
    SetBases(layer, first);
    const auto [of_sum, of_bias] = FactorsOf(first);
    return Agree(first, {}) || !of_sum.IsEmpty() || !of_bias.IsEmpty() ||
           !FitColumns(first).empty();
  }

  // The layer alone, or with one more deviation. `all`: the products of its weight.
  std::vector<Layer> FitsOf(const Layer& layer, std::vector<Products>& all) const {
    SetBases(layer, all);
    if (Agree(all, {})) return {layer};
    std::vector<Layer> fits = WithFactors(layer, all);
    Deviations with_columns = layer.deviations;
    with_columns.Add("", "");
    with_columns.bits += BitsOfColumns(M_);
    if (with_columns.count > kMostLinearDeviations || !IsEvident(distances_, with_columns))
      return fits;
    for (const Columns& columns : FitColumns(all)) {
      Layer fit = layer;
      fit.weight = [=, w = layer.weight](size_t f, size_t m) {
        return columns.TimesOf(m) * w(f, m);
      };
      Describe(columns, M_, "columns", fit.deviations);
      fits.push_back(std::move(fit));
    }
    return fits;
  }

  // Of the first `count` samples.
  std::vector<Products> ProductsOf(const Layer& layer, size_t count) const {
    std::vector<Products> products;
    for (size_t i = 0; i < count; ++i) products.push_back(layer.ProductsOf(samples_[i], x_, F_));
    return products;
  }

  // Of the sum of all products, and of the bias.
  static std::pair<Range, Range> FactorsOf(const std::vector<Products>& all) {
    Range of_sum, of_bias;
    for (const Products& one : all) {
      const double sum = one.first.back(), error = one.sample.error;
      of_sum.Intersect(Quotient(one.sample.y - one.base, error, sum));
      of_bias.Intersect(Quotient(one.sample.y - sum, error, one.base));
    }
    return {of_sum, of_bias};
  }

  // With the sum of all products, or the bias, times a constant.
  std::vector<Layer> WithFactors(const Layer& layer, const std::vector<Products>& all) const {
    std::vector<Layer> fits;
    const auto [of_sum, of_bias] = FactorsOf(all);
    if (!of_sum.IsEmpty() && of_sum.IsBounded()) {
      const Constant factor = ConstantsIn(of_sum, NamedFactors()).front();
      Layer scaled = layer;
      scaled.weight = [=, w = layer.weight](size_t f, size_t m) { return factor.value * w(f, m); };
      scaled.deviations.Count(factor);
      scaled.deviations.Add("product_multiplied",
                            "x weight^T is multiplied by " + factor.text + ", expected 1");
      fits.push_back(scaled);
    }
    const bool is_listed =
        std::ranges::any_of(std::vector{0.0, 2.0, -1.0, 3.0, 0.5},
                            [&](double factor) { return of_bias.Contains(factor); });
    if (!of_bias.IsEmpty() && of_bias.IsBounded() && !is_listed) {
      const Constant factor = ConstantsIn(of_bias, {}).front();
      Layer scaled = layer;
      scaled.bias = [=, b = layer.bias](size_t f) { return factor.value * b(f); };
      scaled.deviations.Count(factor);
      scaled.deviations.Add("bias_multiplied",
                            "the bias is multiplied by " + factor.text + ", expected 1");
      fits.push_back(scaled);
    }
    return fits;
  }
  std::vector<Constant> NamedFactors() const {
    const auto width = static_cast<double>(M_);
    const std::string text = PrintValue(width);
    return {{1 / std::sqrt(width), "1 / sqrt(" + text + ")"},
            {std::sqrt(width), "sqrt(" + text + ")"},
            {1 / width, "1 / " + text},
            {width, text}};
  }

  const Observation& seen_;
  ErrorBar bar_;
  const Tensor<double>& x_;
  size_t N_, M_, F_;
  bool has_bias_ = false;
  std::vector<Sample> samples_;
  std::vector<double> distances_;  // of the samples
  Layer right_;
  std::vector<Layer> fits_;
};

std::vector<Explanation> MeasureLinear(const Observation& seen) {
  if (!Samples(seen, 0, ErrorBar::kLikely).IsAnswered()) return {};
  std::vector<Explanation> explanations;
  for (const auto& [weight, bias, bias_column, found] :
       SimplestFits([&](ErrorBar bar) { return LinearFitter(seen, bar).All(); })) {
    Tensors inputs = seen.inputs;
    Tensor<double>& w = inputs[kWeight].values;
    for (size_t f = 0; f < w.shape[0]; ++f)
      for (size_t m = 0; m < w.shape[1]; ++m) w(f, m) = weight(f, m);
    const bool has_bias = FindValues(inputs, "bias") != nullptr;
    for (size_t f = 0; f < w.shape[0] && has_bias; ++f) inputs[kBias].values.data[f] = bias(f);
    explanations.push_back(
        {found.name, found.sentence, {seen.c.operation().Clone(), std::move(inputs), seen.recipe}});
    if (!bias_column) continue;
    MeasuredLinear measured;
    measured.bias_column = bias_column;
    explanations.back().model.operation = MeasuredOperation(seen.c, measured);
    explanations.back().model.is_across_slices = true;  // rows are counted
  }
  return explanations;
}

}  // namespace

std::vector<Measurement> LinearMeasurements() { return {MeasureLinear}; }

}  // namespace sextant::oracle
