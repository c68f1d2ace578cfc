#include "oracle/diagnosis/answer/wrong_range.h"

#include <algorithm>
#include <cmath>

#include "oracle/diagnosis/measured_number.h"

namespace sextant::oracle {
namespace {

constexpr size_t kFewest = 8;        // elements in the range, and outside of it
constexpr double kMostOthers = 0.1;  // of the elements in the range: the effect may be small there
constexpr size_t kParts = 32;        // at least one of so many parts of all elements is outside

// The judged elements in the order of an input.
struct Element {
  double x;
  size_t flat;
  bool fails;
};

std::vector<Element> InOrderOf(const AnsweredTensor& tensor, const std::vector<double>& x) {
  std::vector<Element> elements;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!tensor.bounds.LeavesOut(i) && !std::isnan(x[i]))
      elements.push_back({x[i], i, std::ranges::binary_search(tensor.failing, i)});
  }
  std::ranges::stable_sort(elements, {}, &Element::x);
  return elements;
}

// What all numbers of the range are: one number, the input, or the right ones times a number.
std::string NumbersIn(const AnsweredTensor& tensor, const std::vector<Element>& range,
                      const std::string& input) {
  bool is_one = true, is_input = true;
  Range factor;
  for (const auto& [x, flat, fails] : range) {
    const double y = tensor.got[flat], bound = tensor.bounds.PermittedAt(flat);
    is_one = is_one && y == tensor.got[range[0].flat];
    is_input = is_input && std::abs(y - x) <= bound;
    factor.Intersect(Quotient(y, bound + UlpOf(tensor.dtype, y), tensor.right[flat]));
  }
  if (is_one) return ": it is " + ShortText(tensor.got[range[0].flat]) + " there";
  if (is_input) return ": it is " + input + " there";
  if (factor.IsEmpty() || !factor.IsBounded()) return "";
  return ": it is " + ShortestText(MiddleOf(factor)) + " times the right number there";
}

std::string From(double least, double largest) {
  return "from " + ShortText(least) + " to " + ShortText(largest);
}

}  // namespace

std::optional<WrongRange> FindWrongRange(const AnsweredTensor& tensor, const Tensors& inputs) {
  std::vector<std::pair<std::string, const std::vector<double>*>> telling;
  for (const NamedTensor& input : inputs)
    if (input.dtype != DType::kI64 && input.values.shape == tensor.shape)
      telling.emplace_back(input.name, &input.values.data);
  telling.emplace_back("the right number", &tensor.right);
  for (const auto& [name, numbers] : telling) {
    const std::vector<Element> all = InOrderOf(tensor, *numbers);
    const auto is = [](bool fails) {
      return [fails](const Element& e) { return e.fails == fails; };
    };
    for (const bool wrong_inside : {true, false}) {
      // The range holds all elements that fail, or all that conform.
      const auto first = std::ranges::find_if(all, is(wrong_inside));
      const auto last = std::find_if(all.rbegin(), all.rend(), is(wrong_inside)).base();
      if (first == all.end()) continue;
      const std::vector<Element> inside(first, last);
      const auto others = static_cast<double>(std::ranges::count_if(inside, is(!wrong_inside)));
      const bool is_pure = others <= kMostOthers * static_cast<double>(inside.size());
      const size_t least = std::max(kFewest, all.size() / kParts);
      if (!is_pure || inside.size() < kFewest || all.size() - inside.size() < least) continue;
      std::string where = " is " + From(inside.front().x, inside.back().x);
      if (wrong_inside && first == all.begin())
        where = " is at most " + ShortText(inside.back().x);
      else if (wrong_inside && last == all.end())
        where = " is at least " + ShortText(inside.front().x);
      return WrongRange{"wrong_in_range",
                        tensor.name + " is " + (wrong_inside ? "wrong" : "right") + " only where " +
                            name + where + (wrong_inside ? NumbersIn(tensor, inside, name) : "")};
    }
  }
  return std::nullopt;
}

}  // namespace sextant::oracle
