#include "oracle/layer/measured/add_norm.h"

#include <memory>
#include <optional>

#include "oracle/diagnosis/evidence.h"
#include "oracle/layer/measured/norm.h"
#include "oracle/layer/tensor_places.h"
#include "reference/base/value_text.h"
#include "reference/layer/add_rms_norm.h"
#include "reference/number/double_double/double_double.h"
#include "reference/number/recipe/rounding_units.h"
#include "reference/prove/rounding_operation.h"

namespace sextant::oracle {
namespace {

constexpr size_t kAddNormElements = 512;  // that are looked at

// of_x x + of_residual residual, rounded to the dtype of the sum.
struct NormCombination {
  double of_x = 1, of_residual = 1;
  bool operator==(const NormCombination&) const = default;
  std::string Text() const {
    const auto term = [](double factor, const std::string& name) {
      return factor == 0 ? "" : (factor == 1 ? "" : PrintValue(factor) + " ") + name;
    };
    const std::string x = term(of_x, "x"), residual = term(of_residual, "residual");
    return x + (x.empty() || residual.empty() ? "" : " + ") + residual;
  }
  double operator()(double x, double residual, DType dtype) const {
    return RoundTo(dtype, TwoSum(of_x * x, of_residual * residual));
  }
};

struct MeasuredAddNorm : AddRmsNorm {
  NormCombination summed, normed;
  Norm norm;
  template <class Real>
  void operator()(const Tensor<double>& x, const Tensor<double>& residual,
                  const Tensor<Real>& weight, Tensor<Real>& y, Tensor<Real>& sum) const {
    Tensor<Real> read = sum;
    for (size_t i = 0; i < x.data.size(); ++i) {
      sum.data[i] = Real(summed(x.data[i], residual.data[i], rounded_dtype), rounded_dtype);
      read.data[i] = Real(normed(x.data[i], residual.data[i], rounded_dtype), rounded_dtype);
    }
    Normalization<Real>(norm, read, weight.data, {}).Write(y);
  }
};

// y = top / RMS(root) * weight + after; each is a combination of x and the residual.
struct MixedAddNorm : AddRmsNorm {
  NormCombination top, root, after{0, 0};
  std::optional<DType> format{};  // to which the sums are rounded
  template <class Real>
  void operator()(const Tensor<double>& x, const Tensor<double>& residual,
                  const Tensor<Real>& weight, Tensor<Real>& y, Tensor<Real>& sum) const {
    const size_t M = x.shape[1];
    const auto of = [&](const NormCombination& combined, size_t i) {
      const double exact = combined(x.data[i], residual.data[i], rounded_dtype);
      return Real(format ? RoundTo(*format, exact) : exact, rounded_dtype);
    };
    for (size_t i = 0; i < x.data.size(); ++i) sum.data[i] = of({}, i);
    for (size_t first = 0; first < x.data.size(); first += M) {
      std::vector<Real> squares;
      for (size_t i = first; i < first + M; ++i) {
        const ScopedStep at(Step::kSquare);
        squares.push_back(of(root, i) * of(root, i));
      }
      const Real divisor = RootOf(squares);
      for (size_t i = first; i < first + M; ++i) {
        y.data[i] = Weighed(of(top, i), divisor, weight.data[i - first]);
        const ScopedStep at(Step::kWeigh);
        if (after != NormCombination{0, 0}) y.data[i] = y.data[i] + of(after, i);
      }
    }
  }

 private:
  template <class Real>
  Real RootOf(const std::vector<Real>& squares) const {
    Real sum;
    {
      const ScopedStep at(Step::kSum);
      sum = SumOf(squares);
    }
    const ScopedStep at(Step::kRsqrt);
    return Sqrt(sum / Real(static_cast<double>(squares.size())) + Real(eps));
  }
  template <class Real>
  Real Weighed(const Real& value, const Real& divisor, const Real& weight) const {
    Real scaled;
    {
      const ScopedStep at(Step::kScale);
      scaled = value / divisor;
    }
    const ScopedStep at(Step::kWeigh);
    return scaled * (unit_offset ? Real(1.0) + weight : weight);
  }
};

struct AddNormFit {
  MeasuredAddNorm model;
  std::vector<double> weight;
  Deviations deviations;
};

class AddNormFitter {
 public:
  AddNormFitter(const Observation& seen, ErrorBar bar)
      : seen_(seen), y_(seen, kY, bar), sum_(seen, kSum, bar) {}

  std::vector<AddNormFit> All() {
    const Shape& shape = seen_.inputs[kX].values.shape;
    if (!y_.IsAnswered() || shape[0] == 0 || shape[1] < 2) return {};  // as rms_norm
    AddNormFit start;
    if (sum_.IsAnswered() && !SetSum(start)) return {};
    struct Other {
      NormCombination normed;
      std::string name, sentence;
    };
    const std::vector<Other> others = {
        {start.model.summed, "", ""},
        {{1, 0}, "norm_of_x", "the norm reads x instead of the sum"},
        {{0, 1}, "norm_of_residual", "the norm reads the residual instead of the sum"},
        {{1, 2}, "norm_with_residual_twice", "the norm reads x + 2 residual instead of the sum"},
        {{1, -1}, "norm_with_residual_subtracted", "the norm reads x - residual"}};
    for (const Other& other : others) {
      AddNormFit fit = start;
      fit.model.normed = other.normed;
      if (!other.name.empty()) fit.deviations.Add(other.name, other.sentence);
      TryNorms(fit, shape);
    }
    KeepSimplest(fits_);
    std::vector<double> distances;
    for (const Samples* samples : {&y_, &sum_}) {
      if (!samples->IsAnswered()) continue;
      for (const Sample& sample : samples->Chosen(kAddNormElements))
        distances.push_back(std::abs(sample.y - sample.right) / sample.error);
    }
    EraseAccidents(fits_, distances);
    return fits_;
  }

 private:
  // The factor of the residual in the answered sum; false if there is none.
  bool SetSum(AddNormFit& fit) const {
    Range factor;
    for (const Sample& sample : sum_.Chosen(kAddNormElements)) {
      const double x = In(kX)[sample.at], residual = In(kResidual)[sample.at];
      if (residual == 0) continue;
      factor.Intersect(Quotient(sample.y - x, sample.error, residual));
    }
    if (factor.IsEmpty()) return false;
    if (factor.Contains(1)) return true;
    const Constant found = ConstantsIn(factor, {{0, "0"}, {-1, "-1"}, {2, "2"}}).front();
    fit.model.summed.of_residual = found.value;
    fit.deviations.Count(found);
    fit.deviations.Add(found.value == 2    ? "residual_added_twice"
                       : found.value == -1 ? "residual_subtracted"
                       : found.value == 0  ? "residual_not_added"
                                           : "residual_multiplied",
                       "the sum is x + " + found.text + " residual, expected x + residual");
    return true;
  }

  void TryNorms(const AddNormFit& start, const Shape& shape) {
    std::vector<double> read(In(kX).size());
    for (size_t i = 0; i < read.size(); ++i)
      read[i] = start.model.normed(In(kX)[i], In(kResidual)[i], seen_.golden[kSum].dtype);
    const std::vector<double> no_bias;
    const NormQuestion question{.N = shape[0],
                                .M = shape[1],
                                .x = read,
                                .weight = In(kNormWeight),
                                .bias = no_bias,
                                .right = RightNorm(seen_.c, shape[1], false),
                                .samples = y_};
    for (const NormFit& normed : FitNorms(question)) {
      AddNormFit fit = start;
      fit.model.norm = normed.norm;
      fit.weight = normed.weight;
      fit.deviations.Add(normed.deviations);
      fits_.push_back(fit);
    }
  }

  const std::vector<double>& In(size_t input) const { return seen_.inputs[input].values.data; }

  const Observation& seen_;
  Samples y_, sum_;
  std::vector<AddNormFit> fits_;
};

std::vector<Explanation> MeasureAddNorm(const Observation& seen) {
  std::vector<Explanation> explanations;
  for (const auto& [model, weight, found] :
       SimplestFits([&](ErrorBar bar) { return AddNormFitter(seen, bar).All(); })) {
    const auto operation = std::make_shared<RoundingOperation<MeasuredAddNorm>>(model);
    CopyAttributes(seen.c, *operation);
    Tensors inputs = seen.inputs;
    inputs[kNormWeight].values.data = weight;
    explanations.push_back({found.name,
                            found.sentence,
                            {operation, std::move(inputs), seen.recipe, model.norm.CountsRows()}});
  }
  return explanations;
}

std::vector<Explanation> MeasureMixed(const Observation& seen) {
  if (seen.how.is_part || !Samples(seen, kY, ErrorBar::kLikely).IsAnswered()) return {};
  std::vector<Explanation> explanations;
  const auto add = [&](const std::string& name, const std::string& sentence,
                       const MixedAddNorm& mixed) {
    const auto operation = std::make_shared<RoundingOperation<MixedAddNorm>>(mixed);
    CopyAttributes(seen.c, *operation);
    explanations.push_back(
        {name, sentence, {operation, SharedInputs::Of(seen.inputs), seen.recipe}});
  };
  for (const NormCombination& top : {NormCombination{1, 1}, {1, 0}, {0, 1}, {2, 1}, {1, 2}}) {
    for (const NormCombination& root : {NormCombination{1, 1}, {1, 0}, {0, 1}}) {
      for (const NormCombination& after : {NormCombination{0, 0}, {1, 0}, {0, 1}, {1, 1}}) {
        const bool adds = after != NormCombination{0, 0};
        if (top == root && !adds) continue;  // a norm of another sum
        MixedAddNorm mixed;
        mixed.top = top;
        mixed.root = root;
        mixed.after = after;
        add("norm_of_another_sum",
            "y is (" + top.Text() + ") weight, divided by the root mean square of (" + root.Text() +
                ")" + (adds ? ", and " + after.Text() + " is added to it" : ""),
            mixed);
      }
    }
  }
  for (const DType format : {DType::kBF16, DType::kF16}) {
    if (UnitRoundoffOf(format) <= UnitRoundoffOf(seen.c.dtype())) continue;
    MixedAddNorm mixed;
    mixed.format = format;
    const std::string in(NameOf(format));
    add("sum_in_" + in, "the sum of x and the residual is rounded to " + in, mixed);
  }
  return ExplainingOf(seen, std::move(explanations));
}

}  // namespace

std::vector<Measurement> AddNormMeasurements() { return {MeasureAddNorm, MeasureMixed}; }

}  // namespace sextant::oracle
