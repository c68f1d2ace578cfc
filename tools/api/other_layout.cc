#include "tools/api/other_layout.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "oracle/diagnosis/vocabulary/exchanged_axes.h"
#include "oracle/judge/judge.h"
#include "reference/base/error.h"

namespace sextant::tools {
namespace {

constexpr size_t kAxes = 4;

// Exchanges the second and the third axis, and adds the names and the words of the case that say
// so. False if a tensor contradicts another.
bool Exchange(const Signature& signature, Tensors& tensors, std::map<std::string, size_t>& extents,
              std::string& names) {
  for (NamedTensor& tensor : tensors) {
    const std::vector<std::string>& axes = FindTensor(signature, tensor.name)->extents;
    if (axes.size() != kAxes) continue;
    tensor.values.data = oracle::ReadWithExchangedAxes(tensor.values, 1, 2);
    std::swap(tensor.values.shape[1], tensor.values.shape[2]);
    names +=
        " '" + tensor.name + " (" + axes[0] + " " + axes[2] + " " + axes[1] + " " + axes[3] + ")'";
    for (const size_t axis : {1u, 2u}) {
      const size_t extent = tensor.values.shape[axis];
      if (extents.emplace(axes[axis], extent).first->second != extent) return false;
    }
  }
  return true;
}

bool Fits(const Case& c, const Tensors& tensors) {
  return std::ranges::all_of(tensors, [&](const NamedTensor& tensor) {
    return c.ShapeOf(*FindTensor(c.info().signature, tensor.name)) == tensor.values.shape;
  });
}

}  // namespace

std::string LayoutByWhichItConforms(const Question& question, const Recipe& recipe) try {
  const Signature& signature = question.c.info().signature;
  Tensors inputs = question.inputs, outputs = question.outputs;
  std::map<std::string, size_t> extents;
  std::string names;
  if (!Exchange(signature, inputs, extents, names) ||
      !Exchange(signature, outputs, extents, names) || names.empty())
    return "";
  std::vector<std::string> words;
  for (const auto& [axis, extent] : extents) words.push_back(axis + "=" + std::to_string(extent));
  const Case c = question.c.With(words);
  if (!Fits(c, inputs) || !Fits(c, outputs)) return "";
  const oracle::Judge judge(c, inputs, recipe, {}, oracle::Judge::Grading::kPassOrFail);
  return judge.Evaluate(outputs).status == oracle::Verdict::Status::kConforms ? names : "";
} catch (const Error&) {
  return "";  // no such case
}

}  // namespace sextant::tools
