#include "oracle/profile/worst_case.h"

#include <algorithm>
#include <cmath>

#include "reference/base/splitmix64.h"
#include "reference/base/value_text.h"
#include "reference/case/draw.h"

namespace sextant::oracle {
namespace {

class Search {
 public:
  Search(const Case& start, const Subject& subject, const WorstSearch& search)
      : start_(start), subject_(subject), search_(search), random_(search.seed) {
    const Tensors inputs = DrawInputs(start);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const TensorSpec& spec = start.signature().inputs[i];
      if (spec.role == Role::kInteger) {
        const auto& numbers = inputs[i].values.data;
        const double largest = numbers.empty() ? 0 : std::ranges::max(numbers);
        if (largest >= 1) integers_.push_back({&spec, largest});
      } else if (spec.role == Role::kCase && !real_) {
        real_ = &spec;
      }
    }
  }

  std::vector<WorstCase> Run() {
    Ask(start_);
    for (size_t asked = 1; asked < search_.questions; ++asked) {
      const bool near = asked % 2 == 0 && !found_.empty();
      try {
        Ask(near ? Near(Case::Parse(found_.front().case_line)) : Far());
      } catch (const Error&) {
        // Inputs that the operation refuses.
      }
    }
    return found_;
  }

 private:
  struct Integers {
    const TensorSpec* spec;
    double largest;
  };

  // The input with integers from `low` to `high`, at least two, but none below 0 or above the
  // largest of the start.
  static std::string Between(double low, double high, const Integers& input) {
    const auto first = std::clamp(std::floor(low), 0.0, input.largest - 1);
    const auto last = std::clamp(std::ceil(high), first + 1, input.largest);
    return "@" + input.spec->name + "=uniform(" + PrintValue(first) + "," + PrintValue(last) + ")";
  }

  Case Far() {
    std::vector<std::string> words = {"seed=" + std::to_string(random_.Below(size_t{1} << 32))};
    for (const Integers& input : integers_) {
      words.push_back(Between(0, std::exp2(random_.Uniform(0, std::log2(input.largest))), input));
    }
    return start_.With(words);
  }

  // Integers near those of the worst element, or real numbers near the worst argument.
  Case Near(const Case& worst) {
    std::vector<std::string> words;
    const double width = std::exp2(-random_.Uniform(0, 16));
    const Tensors drawn = DrawInputs(worst);
    for (const Integers& input : integers_) {
      const auto& numbers = Find(drawn, input.spec->name).values.data;
      const double centre = numbers[worst_index_ % numbers.size()];
      const double half = width * centre + 2;
      words.push_back(Between(centre - half, centre + half, input));
    }
    if (integers_.empty() && real_) {
      const auto& numbers = Find(drawn, real_->name).values.data;
      const double centre = numbers[worst_index_ % numbers.size()];
      const double half = width * std::max(1.0, std::abs(centre));
      words.push_back("@" + real_->name + "=uniform(" + PrintValue(centre - half) + "," +
                      PrintValue(centre + half) + ")");
    }
    words.push_back("seed=" + std::to_string(random_.Below(size_t{1} << 32)));
    return worst.With(words);
  }

  void Ask(const Case& c) {
    const Tensors inputs = DrawInputs(c);
    const Answer answer = subject_.answer(c, inputs);
    if (answer.status != Answer::Status::kAnswered || !DescribeMismatch(c, answer.outputs).empty())
      return;
    const Recipe recipe = ParseRecipe(search_.recipe, c.dtype());
    const auto proven = ProveAndPermit({c, inputs, recipe}, search_.prove);
    WorstCase worst{c.ToString(), "", -1, 0};
    size_t index = 0;
    for (const AnsweredOutput& output : ErrorsOf(proven.golden, proven.permitted, answer.outputs)) {
      for (size_t i = 0; i < output.samples.size(); ++i) {
        const double ratio = std::abs(In(ErrorUnit::kPermitted, output.samples[i]));
        if (!(ratio > worst.permitted)) continue;
        worst.permitted = ratio;
        worst.ulps = std::abs(In(ErrorUnit::kUlps, output.samples[i]));
        worst.where = IndexText(output.name, output.shape, i);
        index = TokenOf(output.shape, i);
      }
    }
    Keep(worst, index);
  }

  // The index into an input of one number per token or element, as far as it can be told: that of
  // the row for integers, of the element for real numbers.
  size_t TokenOf(const Shape& shape, size_t flat) const {
    return integers_.empty() ? flat : flat / RowWidth(shape);
  }

  void Keep(const WorstCase& worst, size_t index) {
    if (worst.permitted < 0) return;
    const auto is_same = [&](const WorstCase& w) { return w.case_line == worst.case_line; };
    if (std::ranges::any_of(found_, is_same)) return;
    if (found_.empty() || worst.permitted > found_.front().permitted) worst_index_ = index;
    found_.push_back(worst);
    std::ranges::stable_sort(found_, std::greater(), &WorstCase::permitted);
    found_.resize(std::min(found_.size(), search_.keep));
  }

  const Case& start_;
  const Subject& subject_;
  const WorstSearch& search_;
  SplitMix64 random_;
  std::vector<Integers> integers_;
  const TensorSpec* real_ = nullptr;
  std::vector<WorstCase> found_;
  size_t worst_index_ = 0;
};

}  // namespace

std::vector<WorstCase> FindWorst(const Case& start, const Subject& subject,
                                 const WorstSearch& search) {
  return Search(start, subject, search).Run();
}

}  // namespace sextant::oracle
