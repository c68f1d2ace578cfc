#include "oracle/diagnosis/answer/structure.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <ranges>
#include <sstream>

#include "oracle/diagnosis/answer/applied_function.h"
#include "oracle/diagnosis/answer/element_pattern.h"
#include "oracle/diagnosis/answer/moved_numbers.h"
#include "oracle/diagnosis/answer/rounded_output.h"
#include "oracle/diagnosis/answer/scattered_elements.h"
#include "oracle/diagnosis/answer/summed_numbers.h"
#include "oracle/diagnosis/answer/telling_input.h"
#include "oracle/diagnosis/evidence.h"
#include "reference/base/count_text.h"

namespace sextant::oracle {
namespace {

struct Found {
  std::string name, sentence;
  std::vector<size_t> explained;  // failing elements, flat indices
  bool is_everywhere = false;     // all elements of the output, right ones too, match
};

// Of at most this many failing elements, evenly spread, the most frequent number is looked for.
constexpr size_t kSampledElements = 4096;

// The number that most failing elements are; all NaNs are the same.
double MostFrequent(const AnsweredTensor& tensor) {
  std::map<double, size_t> counts;
  size_t nans = 0;
  const size_t count = std::min(kSampledElements, tensor.failing.size());
  for (size_t j = 0; j < count; ++j) {
    const double x = tensor.got[tensor.failing[j * tensor.failing.size() / count]];
    ++(std::isnan(x) ? nans : counts[x]);
  }
  const auto most = std::ranges::max_element(counts, {}, [](const auto& c) { return c.second; });
  return most == counts.end() || most->second < nans ? kNaN : most->first;
}

// A power of two is where an index of 16 or 32 bits, or the grid of a kernel, ends.
std::string ElementText(size_t flat) {
  const bool is_power = flat > 1 && (flat & (flat - 1)) == 0;
  const auto exponent = static_cast<int>(std::log2(static_cast<double>(std::max<size_t>(flat, 1))));
  return std::to_string(flat) + (is_power ? " = 2^" + std::to_string(exponent) : "");
}

bool IsInside(const AnsweredTensor& tensor, const Indices& block, size_t flat) {
  for (size_t a = 0; a < block.size(); ++a)  // indices are ascending
    if (!std::ranges::binary_search(block[a], tensor.axes[a].IndexOf(flat))) return false;
  return true;
}

// True if all elements with these indices match.
template <class Matches>
bool FillBlock(const AnsweredTensor& tensor, const Indices& block, Matches matches) {
  for (size_t flat = 0; flat < tensor.got.size(); ++flat)
    if (IsInside(tensor, block, flat) && !matches(flat)) return false;
  return true;
}

// The indices of the axis at which all elements match.
template <class Matches>
std::vector<size_t> WholeSlabs(const AxisView& axis, Matches matches) {
  std::vector<size_t> indices;
  for (size_t i = 0; i < axis.extent; ++i) {
    bool all = true;
    for (size_t e = 0; e < axis.slab() && all; ++e) all = matches(axis.At(i, e));
    if (all) indices.push_back(i);
  }
  return indices;
}

// A sentence that ends with the place of the failing elements that match: a block of the tensor,
// or all from one on. `choices`: how many numbers were tried. None if other elements there do not
// match: scattered ones have another reason (an activation that is cut off).
template <class Matches>
std::optional<Found> FindMatching(const AnsweredTensor& tensor, const std::string& name,
                                  const std::string& sentence, size_t choices, Matches its_number) {
  std::vector<size_t> same;
  std::ranges::copy_if(tensor.failing, std::back_inserter(same), its_number);
  const auto matches = [&](size_t flat) {
    return tensor.bounds.LeavesOut(flat) || its_number(flat);
  };
  if (!IsEvidence(same.size(), choices)) return std::nullopt;
  Indices block;
  for (const AxisView& axis : tensor.axes) block.push_back(axis.IndicesOf(same));
  std::string where = BlockText(tensor, block);
  const bool is_everywhere = where.empty();
  where = is_everywhere ? " everywhere" : " at " + where;
  if (FillBlock(tensor, block, matches))
    return Found{name, sentence + where, std::move(same), is_everywhere};
  bool is_tail = true;
  for (size_t flat = same[0]; flat < tensor.got.size() && is_tail; ++flat) is_tail = matches(flat);
  if (is_tail) {
    where = " at all elements from " + ElementText(same[0]) + " on";
    return Found{name, sentence + where, std::move(same)};
  }
  std::optional<Found> largest;
  for (const AxisView& axis : tensor.axes) {
    const std::vector<size_t> indices = WholeSlabs(axis, matches);
    std::vector<size_t> inside = same;
    std::erase_if(inside, [&](size_t flat) {
      return !std::ranges::binary_search(indices, axis.IndexOf(flat));
    });
    if (!IsEvidence(inside.size(), choices)) continue;
    if (largest && inside.size() <= largest->explained.size()) continue;
    where = " at " + axis.name + " " + IndicesText(indices, axis.extent);
    largest = Found{name, sentence + where, std::move(inside)};
  }
  return largest;
}

std::optional<Found> Unwritten(const AnsweredTensor& tensor) {
  const double number = MostFrequent(tensor);
  std::ostringstream sentence;
  sentence << tensor.name << " is " << (number == 0 ? 0 : number);  // of either sign
  const bool is_usual = number == 0 || std::isnan(number);
  const auto has_first_right = [&](size_t flat) {
    return SameNumber(tensor.right[flat], tensor.right[tensor.failing[0]]);
  };
  // Where the right answer is one number, too, another one says little.
  if (!is_usual && std::ranges::all_of(tensor.failing, has_first_right)) return std::nullopt;
  return FindMatching(tensor, "unwritten", sentence.str(), is_usual ? 2 : tensor.failing.size(),
                      [&](size_t flat) { return SameNumber(tensor.got[flat], number); });
}

// An input of the same shape that was passed through.
std::optional<Found> Copied(const AnsweredTensor& tensor, const Tensors& inputs) {
  for (const NamedTensor& input : inputs) {
    if (input.values.shape != tensor.shape) continue;
    auto found = FindMatching(tensor, "copied", tensor.name + " is " + input.name + ", unchanged,",
                              tensor.failing.size(), [&](size_t flat) {
                                return SameNumber(tensor.got[flat],
                                                  RoundTo(tensor.dtype, input.values.data[flat]));
                              });
    if (found) return found;
  }
  return std::nullopt;
}

std::optional<Found> FindIn(const AnsweredTensor& tensor, const Tensors& inputs) {
  std::optional<Found> best = Unwritten(tensor);
  if (!best) best = Copied(tensor, inputs);
  const auto is_better = [&](size_t count) { return !best || count > best->explained.size(); };
  if (is_better(tensor.failing.size() - 1)) {
    auto moved = FindMoved(tensor);
    if (moved && is_better(moved->explained.size()))
      best = {"moved", std::move(moved->sentence), std::move(moved->explained)};
  }
  if (is_better(tensor.failing.size() - 1)) {
    if (auto summed = FindSummed(tensor))
      best = {std::move(summed->name), std::move(summed->sentence), tensor.failing};
  }
  if (is_better(tensor.failing.size() - 1)) {
    if (auto applied = FindApplied(tensor))
      best = {"function_of_output", *std::move(applied), tensor.failing};
  }
  if (is_better(tensor.failing.size() - 1)) {
    if (auto rounded = FindRounded(tensor))
      best = {std::move(rounded->name), std::move(rounded->sentence), tensor.failing};
  }
  if (is_better(tensor.failing.size() - 1)) {
    if (auto scattered = FindScattered(tensor, inputs))
      best = {"scattered", *std::move(scattered), tensor.failing};
  }
  return best;
}

// What tells the indices of an axis at which most elements are explained.
std::string ReasonOfPlace(const Observation& seen, const Found& found,
                          const AnsweredTensor& tensor) {
  for (const AxisView& axis : tensor.axes) {
    const std::vector<size_t> indices = axis.IndicesOf(found.explained);
    if (indices.size() * axis.slab() >= 2 * found.explained.size()) continue;
    if (std::string text = TellingInput(seen, axis.name, indices); !text.empty()) return text;
  }
  return "";
}

StructuralFinding FindingOf(const Observation& seen, Found found, const AnsweredTensor& tensor,
                            size_t output) {
  std::vector<char> explained(tensor.got.size());
  for (const size_t flat : found.explained) explained[flat] = 1;
  found.sentence += ReasonOfPlace(seen, found, tensor);
  found.sentence += " (" + std::to_string(found.explained.size()) + " of " +
                    CountText(tensor.failing.size(), "failing element") + ")";
  return {std::move(found.name), std::move(found.sentence), output, std::move(explained),
          found.explained.size()};
}

// Quick tests of few elements.
constexpr size_t kFew = 64;
bool MayBeOneNumber(const NamedTensor& output) {
  const std::vector<double>& y = output.values.data;
  return std::ranges::all_of(y | std::views::take(kFew),
                             [&](double x) { return SameNumber(x, y[0]); });
}
bool MayBeInput(const NamedTensor& output, const Tensors& inputs) {
  const std::vector<double>& y = output.values.data;
  return std::ranges::any_of(inputs, [&](const NamedTensor& input) {
    if (input.values.shape != output.values.shape) return false;
    for (size_t i = 0; i < std::min(kFew, y.size()); ++i)
      if (!SameNumber(y[i], RoundTo(output.dtype, input.values.data[i]))) return false;
    return true;
  });
}

}  // namespace

std::vector<StructuralFinding> StructureOf(AnsweredTensors& tensors) {
  std::vector<StructuralFinding> findings;
  for (size_t o = 0; o < tensors.size(); ++o) {
    const AnsweredTensor* const tensor = tensors.Of(o);
    if (!tensor || tensor->failing.empty()) continue;
    auto found = FindIn(*tensor, tensors.seen().inputs);
    if (found) findings.push_back(FindingOf(tensors.seen(), *std::move(found), *tensor, o));
  }
  return findings;
}

std::vector<StructuralFinding> SingleElementsIn(AnsweredTensors& tensors, size_t failing) {
  const Observation& seen = tensors.seen();
  std::vector<StructuralFinding> findings;
  const auto is_nan = [](double x) { return std::isnan(x); };
  const bool has_nan = std::ranges::any_of(seen.answer, [&](const NamedTensor& output) {
    return std::ranges::any_of(output.values.data, is_nan);
  });
  if (!has_nan && failing > kMostFew * tensors.size()) return findings;
  for (size_t o = 0; o < tensors.size(); ++o) {
    const AnsweredTensor* const tensor = tensors.Of(o);
    if (!tensor || tensor->failing.empty()) continue;
    const bool all_nan = std::ranges::all_of(
        tensor->failing, [&](size_t flat) { return std::isnan(tensor->got[flat]); });
    if (!all_nan && !AreFew(*tensor)) return {};
    auto found = Unwritten(*tensor);
    if (!found || found->explained.size() < tensor->failing.size()) {
      auto scattered = FindScattered(*tensor, seen.inputs);
      if (!scattered) return {};
      found = {"scattered", *std::move(scattered), tensor->failing};
    }
    findings.push_back(FindingOf(seen, *std::move(found), *tensor, o));
  }
  return findings;
}

std::vector<StructuralFinding> NotComputedIn(AnsweredTensors& tensors) {
  const Observation& seen = tensors.seen();
  std::vector<StructuralFinding> findings;
  if (std::ranges::none_of(seen.answer, [&](const NamedTensor& output) {
        return MayBeOneNumber(output) || MayBeInput(output, seen.inputs);
      }))
    return findings;
  for (size_t o = 0; o < tensors.size(); ++o) {
    const AnsweredTensor* const tensor = tensors.Of(o);
    if (!tensor || tensor->failing.empty()) continue;
    auto found = Unwritten(*tensor);
    if (!found || !found->is_everywhere) found = Copied(*tensor, seen.inputs);
    if (!found || !found->is_everywhere) return {};
    findings.push_back(FindingOf(seen, *std::move(found), *tensor, o));
  }
  return findings;
}

std::vector<PermittedTensor> WithoutExplained(const std::vector<PermittedTensor>& permitted,
                                              const std::vector<StructuralFinding>& findings) {
  std::vector<PermittedTensor> rest = permitted;
  for (const StructuralFinding& finding : findings) {
    for (size_t i = 0; i < finding.explained.size(); ++i) {
      if (finding.explained[i]) rest[finding.output].error.data[i] = kNaN;
    }
  }
  return rest;
}

}  // namespace sextant::oracle
