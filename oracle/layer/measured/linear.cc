#include "oracle/layer/measured/linear.h"

#include <cmath>

#include "oracle/layer/measured/constant.h"
#include "reference/base/value_text.h"
#include "reference/case/operation.h"

namespace sextant::oracle {
namespace {

constexpr size_t kX = 0, kWeight = 1, kBias = 2;
constexpr size_t kElements = 128;  // that are looked at
constexpr size_t kLargestStep = 64;

// The columns first, first + step ... below end, whose products are counted `times` times.
struct Columns {
  size_t first = 0, end = 0, step = 1;
  double times = 1;
};

// A layer with another weight and another bias.
struct Layer {
  std::vector<double> weight, bias;  // [F,M], [F] or empty
  Deviations deviations;
};

// One element, with the sums of its first m products.
struct Products {
  Sample sample;
  double bias;
  std::vector<double> first;  // [M + 1]
  // What the answer has in addition to all products.
  double Rest() const { return sample.y - bias - first.back(); }
};

class Fitter {
 public:
  Fitter(const Observation& seen, ErrorBar bar)
      : x_(seen.inputs[kX].values),
        N_(x_.shape[0]),
        M_(x_.shape[1]),
        F_(seen.inputs[kWeight].values.shape[0]),
        samples_(Samples(seen, 0, bar).Chosen(kElements)) {
    for (const Sample& sample : samples_)
      distances_.push_back(std::abs(sample.y - sample.right) / sample.error);
    right_.weight = seen.inputs[kWeight].values.data;
    if (seen.inputs.size() > kBias) right_.bias = seen.inputs[kBias].values.data;
  }

  std::vector<Layer> All() {
    for (const Layer& weighed : Weights()) {
      for (const Layer& layer : Biases(weighed)) Try(layer);
    }
    KeepSimplest(fits_);
    EraseAccidents(fits_, distances_);
    return fits_;
  }

 private:
  std::vector<Layer> Weights() const {
    std::vector<Layer> all{right_};
    const auto add = [&](const std::string& name, const std::string& sentence, auto value) {
      all.push_back(right_);
      for (size_t f = 0; f < F_; ++f)
        for (size_t m = 0; m < M_; ++m) all.back().weight[f * M_ + m] = value(f, m);
      all.back().deviations.Add(name, sentence);
    };
    const auto& w = right_.weight;
    add("weight_transposed", "the weight is read as [M,F]",
        [&](size_t f, size_t m) { return w[m * F_ + f]; });
    add("columns_reversed", "the columns of the weight are in reverse order",
        [&](size_t f, size_t m) { return w[f * M_ + M_ - 1 - m]; });
    add("outputs_reversed", "the rows of the weight are in reverse order",
        [&](size_t f, size_t m) { return w[(F_ - 1 - f) * M_ + m]; });
    add("absolute_weight", "the weight has lost its signs",
        [&](size_t f, size_t m) { return std::abs(w[f * M_ + m]); });
    for (const size_t shift : {size_t{1}, M_ - 1})
      add("columns_rolled",
          std::string("the columns of the weight are rolled by one to the ") +
              (shift == 1 ? "left" : "right"),
          [&](size_t f, size_t m) { return w[f * M_ + (m + shift) % M_]; });
    return all;
  }
  std::vector<Layer> Biases(const Layer& layer) const {
    std::vector<Layer> all{layer};
    if (layer.bias.empty()) return all;
    const auto add = [&](const std::string& name, const std::string& sentence, auto value) {
      all.push_back(layer);
      for (size_t f = 0; f < F_; ++f) all.back().bias[f] = value(f);
      all.back().deviations.Add(name, sentence);
    };
    add("bias_missing", "the bias is not added", [](size_t) { return 0.0; });
    add("bias_added_twice", "the bias is added twice", [&](size_t f) { return 2 * layer.bias[f]; });
    add("bias_subtracted", "the bias is subtracted", [&](size_t f) { return -layer.bias[f]; });
    for (size_t shift = 1; shift < F_ && shift <= kLargestStep; ++shift)
      add("bias_shifted",
          "column f has the bias of column f + " + PrintValue(static_cast<int64_t>(shift)) +
              ", modulo the number of columns",
          [&](size_t f) { return layer.bias[(f + shift) % F_]; });
    return all;
  }

  void Try(const Layer& layer) {
    const std::vector<Products> all = ProductsOf(layer);
    if (all.empty()) return;
    if (Fit(all, {})) return fits_.push_back(layer);
    TryFactors(layer, all);
    Deviations with_columns = layer.deviations;
    with_columns.Add("", "");
    with_columns.bits += BitsOfColumns();
    if (!IsEvident(distances_, with_columns)) return;
    std::vector<Columns> candidates = Contiguous(all.front());
    for (size_t step = 2; step <= std::min(kLargestStep, M_); ++step)
      for (size_t first = 0; first < step && first + 2 * step < M_; ++first)
        for (const double times : {0.0, 2.0}) candidates.push_back({first, M_, step, times});
    for (const Columns& columns : candidates) {
      if (Fit(all, columns)) fits_.push_back(With(layer, columns));
    }
  }

  // The worst element first.
  std::vector<Products> ProductsOf(const Layer& layer) const {
    std::vector<Products> all;
    for (const Sample& sample : samples_) {
      const size_t n = sample.at / F_, f = sample.at % F_;
      Products one{sample, layer.bias.empty() ? 0 : layer.bias[f], {0}};
      long double sum = 0;
      for (size_t m = 0; m < M_; ++m) {
        sum += static_cast<long double>(x_(n, m)) * layer.weight[f * M_ + m];
        one.first.push_back(static_cast<double>(sum));
      }
      all.push_back(std::move(one));
    }
    const auto worst = std::ranges::max_element(
        all, {}, [](const Products& one) { return std::abs(one.Rest()) / one.sample.error; });
    if (worst != all.end()) std::swap(*worst, all.front());
    return all;
  }

  static double SumOf(const Products& of, const Columns& columns) {
    if (columns.step == 1) return of.first[columns.end] - of.first[columns.first];
    double sum = 0;
    for (size_t m = columns.first; m < columns.end; m += columns.step)
      sum += of.first[m + 1] - of.first[m];
    return sum;
  }
  static bool Fit(const std::vector<Products>& all, const Columns& columns) {
    return std::ranges::all_of(all, [&](const Products& one) {
      const double rest = one.Rest() - (columns.times - 1) * SumOf(one, columns);
      return std::abs(rest) <= one.sample.error;
    });
  }

  // The ranges [a, b) of columns that explain one element, lost or counted twice: the sums of the
  // first columns at b and a differ by the rest.
  std::vector<Columns> Contiguous(const Products& one) const {
    std::vector<std::pair<double, size_t>> sorted;
    for (size_t m = 0; m <= M_; ++m) sorted.emplace_back(one.first[m], m);
    std::ranges::sort(sorted);
    std::vector<Columns> found;
    for (size_t a = 0; a < M_; ++a) {
      for (const double times : {0.0, 2.0}) {
        const double sum = one.first[a] + one.Rest() / (times - 1);
        const auto from =
            std::ranges::lower_bound(sorted, std::pair(sum - one.sample.error, size_t{0}), {});
        for (auto at = from; at != sorted.end() && at->first <= sum + one.sample.error; ++at)
          if (at->second > a) found.push_back({a, at->second, 1, times});
      }
    }
    return found;
  }

  // One of all ranges, or of all steps and remainders.
  double BitsOfColumns() const {
    return std::log2(static_cast<double>(M_ * M_ + kLargestStep * kLargestStep));
  }
  Layer With(Layer layer, const Columns& columns) const {
    for (size_t f = 0; f < F_; ++f)
      for (size_t m = columns.first; m < columns.end; m += columns.step)
        layer.weight[f * M_ + m] *= columns.times;
    layer.deviations.bits += BitsOfColumns();
    const auto text = [](size_t number) { return std::to_string(number); };
    const bool lost = columns.times == 0;
    const std::string which =
        columns.step == 1 ? text(columns.first) + " to " + text(columns.end - 1)
                          : "m with m mod " + text(columns.step) + " = " + text(columns.first);
    layer.deviations.Add(
        lost ? "columns_lost" : "columns_counted_twice",
        "columns " + which + " of " + text(M_) + " are " + (lost ? "lost" : "counted twice"));
    return layer;
  }

  // The sum of all products, or the bias, times a constant.
  void TryFactors(const Layer& layer, const std::vector<Products>& all) {
    Span of_sum, of_bias;
    for (const Products& one : all) {
      const double sum = one.first.back(), error = one.sample.error;
      of_sum.Intersect(Quotient(one.sample.y - one.bias, error, sum));
      of_bias.Intersect(Quotient(one.sample.y - sum, error, one.bias));
    }
    if (!of_sum.IsEmpty() && of_sum.IsBounded()) {
      const Constant factor = ConstantsIn(of_sum, NamedFactors()).front();
      Layer scaled = layer;
      for (double& w : scaled.weight) w *= factor.value;
      scaled.deviations.Count(factor);
      scaled.deviations.Add("product_multiplied",
                            "x weight^T is multiplied by " + factor.text + ", expected 1");
      fits_.push_back(scaled);
    }
    const bool is_listed = of_bias.Contains(0) || of_bias.Contains(2) || of_bias.Contains(-1);
    if (!of_bias.IsEmpty() && of_bias.IsBounded() && !is_listed) {
      const Constant factor = ConstantsIn(of_bias, {}).front();
      Layer scaled = layer;
      for (double& b : scaled.bias) b *= factor.value;
      scaled.deviations.Count(factor);
      scaled.deviations.Add("bias_multiplied",
                            "the bias is multiplied by " + factor.text + ", expected 1");
      fits_.push_back(scaled);
    }
  }
  static Span Quotient(double value, double error, double divisor) {
    if (divisor == 0) return std::abs(value) <= error ? Span{} : Span{1, 0};
    const double a = (value - error) / divisor, b = (value + error) / divisor;
    return {std::min(a, b), std::max(a, b)};
  }
  std::vector<Constant> NamedFactors() const {
    const auto width = static_cast<double>(M_);
    const std::string text = PrintValue(width);
    return {{1 / std::sqrt(width), "1 / sqrt(" + text + ")"},
            {std::sqrt(width), "sqrt(" + text + ")"},
            {1 / width, "1 / " + text},
            {width, text}};
  }

  const Tensor<double>& x_;
  size_t N_, M_, F_;
  std::vector<Sample> samples_;
  std::vector<double> distances_;  // of the samples
  Layer right_;
  std::vector<Layer> fits_;
};

std::vector<Explanation> MeasureLinear(const Observation& seen) {
  if (!Samples(seen, 0, ErrorBar::kLikely).IsAnswered()) return {};
  std::vector<Explanation> explanations;
  for (const auto& [weight, bias, found] :
       SimplestFits([&](ErrorBar bar) { return Fitter(seen, bar).All(); })) {
    Tensors inputs = seen.inputs;
    inputs[kWeight].values.data = weight;
    if (!bias.empty()) inputs[kBias].values.data = bias;
    explanations.push_back(
        {found.name, found.sentence, {seen.c.operation().Clone(), std::move(inputs), seen.recipe}});
  }
  return explanations;
}

}  // namespace

std::vector<Measurement> LinearMeasurements() { return {MeasureLinear}; }

}  // namespace sextant::oracle
