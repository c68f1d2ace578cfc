#include "oracle/layer/measured/column_table.h"

#include <algorithm>
#include <functional>

#include "oracle/diagnosis/answer/answered_tensor.h"
#include "oracle/diagnosis/vocabulary/axis_orders.h"
#include "reference/base/value_text.h"

namespace sextant::oracle {
namespace {

using NumberAt = std::function<double(size_t j)>;

class Namer {
 public:
  Namer(const std::vector<MeasuredNumber>& measured, const std::vector<double>& right,
        const std::vector<double>& factors, const std::string& what)
      : measured_(measured), right_(right), factors_(factors), what_(what) {
    for (size_t j = 0; j < right.size(); ++j)
      if (!measured[j].MayBe(right[j])) wrong_.push_back(j);
  }

  std::optional<NamedTable> Name() {
    if (wrong_.empty()) return NamedTable{right_, {}};
    const auto r = [this](size_t j) { return right_[j]; };
    for (const auto& [name, text, at] : Functions(r))
      if (Try(name, text, at)) return found_;
    for (const AxisOrder& order : OrdersOf(right_.size())) {
      const auto at = [&](size_t j) { return right_[order.from(j)]; };
      if (Try("_" + order.name, "are in another order: " + order.text, at)) return found_;
    }
    if (TryColumns() || TryConstant() || TryFactor()) return found_;
    return std::nullopt;
  }

 private:
  struct Function {
    std::string name, text;
    NumberAt at;
  };
  std::vector<Function> Functions(const NumberAt& r) const {
    std::vector<Function> all = {
        {"_squared", "are the squares of the right ones", [=](size_t j) { return r(j) * r(j); }},
        {"_inverse", "are 1 / the right ones", [=](size_t j) { return 1 / r(j); }},
        {"_absolute", "have lost their signs", [=](size_t j) { return std::abs(r(j)); }},
        {"_subtracted", "have the other sign", [=](size_t j) { return -r(j); }},
        {"_twice", "are twice the right ones", [=](size_t j) { return 2 * r(j); }},
        {"_plus_one", "are 1 more than the right ones", [=](size_t j) { return r(j) + 1; }},
        {"_minus_one", "are 1 less than the right ones", [=](size_t j) { return r(j) - 1; }},
        {"_clipped", "are limited to -1 and 1",
         [=](size_t j) { return std::clamp(r(j), -1.0, 1.0); }}};
    if (!factors_.empty())
      all.push_back({"_before_weight", "are multiplied by the weight",
                     [=, this](size_t j) { return r(j) * factors_[j]; }});
    return all;
  }

  // All numbers.
  bool Try(const std::string& name, const std::string& text, const NumberAt& at) {
    for (size_t j = 0; j < right_.size(); ++j)
      if (!measured_[j].MayBe(at(j))) return false;
    return Add(name, "the numbers of the " + what_ + " " + text, at, 0);
  }
  // The wrong ones, of which all but `fitted` are evidence; `bits` are needed to say which.
  bool TryWrong(const std::string& name, const std::string& text, const NumberAt& at, double bits,
                size_t fitted = 0) {
    if (wrong_.size() <= fitted) return false;
    for (const size_t j : wrong_)
      if (!measured_[j].MayBe(at(j))) return false;
    const auto is_wrong = [&](size_t j) { return std::ranges::binary_search(wrong_, j); };
    return Add(
        name,
        what_ + " " + text + " at the columns " + IndicesText(wrong_, right_.size()) + " of " +
            std::to_string(right_.size()),
        [&](size_t j) { return is_wrong(j) ? at(j) : right_[j]; }, bits);
  }
  bool Add(const std::string& name, const std::string& text, const NumberAt& at, double bits) {
    NamedTable table;
    for (size_t j = 0; j < right_.size(); ++j) table.numbers.push_back(at(j));
    table.deviations.Add(what_ + name, text);
    table.deviations.bits = bits;
    found_ = std::move(table);
    return true;
  }

  // The wrong columns have the numbers of others.
  bool TryColumns() {
    const size_t M = right_.size();
    const double bits = std::log2(static_cast<double>(M));
    for (size_t group = 2; group <= M; group *= 2) {
      if (TryWrong(
              "_of_group", "has the first number of each " + std::to_string(group),
              [=, this](size_t j) { return right_[j / group * group]; }, bits))
        return true;
    }
    for (size_t shift = 1; shift < M; ++shift) {
      const size_t first = wrong_.front(), from = (first + shift) % M;
      if (!measured_[first].MayBe(right_[from])) continue;
      if (TryWrong(
              "_of_other_columns",
              "has the numbers of other columns, of " + std::to_string(from) + " at " +
                  std::to_string(first) + " and so on,",
              [=, this](size_t j) { return right_[(j + shift) % M]; }, bits))
        return true;
    }
    return false;
  }
  // A constant, or one times the right number.
  bool TryConstant() {
    Range range;
    for (const size_t j : wrong_) range.Intersect(RangeAround(measured_[j]));
    if (range.IsEmpty() || !range.IsBounded()) return false;
    const Constant found = ConstantsIn(range, {{0, "0"}, {1, "1"}}).front();
    return TryWrong(
        "_constant_in_part", "is " + found.text, [&](size_t) { return found.value; }, Bits(found),
        1);
  }
  bool TryFactor() {
    Range range;
    for (const size_t j : wrong_)
      range.Intersect(Quotient(measured_[j].value, measured_[j].bar, right_[j]));
    if (range.IsEmpty() || !range.IsBounded()) return false;
    const Constant found = ConstantsIn(range, {{2, "2"}, {0.5, "0.5"}, {-1, "-1"}}).front();
    return TryWrong(
        "_multiplied_in_part", "is multiplied by " + found.text,
        [&](size_t j) { return found.value * right_[j]; }, Bits(found), 1);
  }
  // The columns are a range or a step, besides the constant.
  double Bits(const Constant& found) const {
    return found.bits + 2 * std::log2(static_cast<double>(right_.size()));
  }

  const std::vector<MeasuredNumber>& measured_;
  const std::vector<double>&right_, &factors_;
  std::string what_;
  std::vector<size_t> wrong_;  // columns
  std::optional<NamedTable> found_;
};

}  // namespace

std::optional<NamedTable> NameTable(const std::vector<MeasuredNumber>& measured,
                                    const std::vector<double>& right,
                                    const std::vector<double>& factors, const std::string& what) {
  return Namer(measured, right, factors, what).Name();
}

}  // namespace sextant::oracle
