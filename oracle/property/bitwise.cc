#include "oracle/property/bitwise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <sstream>

#include "oracle/property/changed_inputs.h"
#include "oracle/subject/subject.h"
#include "reference/base/value_text.h"
#include "reference/case/draw.h"
#include "reference/prove/case_of_part.h"

namespace sextant::oracle {
namespace {

constexpr size_t kMostRows = 6;  // that are asked one by one

// Attributes that say where the queries of each sequence are.
constexpr std::array kPlaces = {"query_offset", "key_length", "segments"};

bool Has(const TensorSpec& spec, const std::string& letter) {
  return std::ranges::find(spec.extents, letter) != spec.extents.end();
}

// Collects the questions around one case.
class Questions {
 public:
  Questions(const Case& c, const Tensors& inputs, const std::vector<std::string>& promises,
            SplitMix64& random)
      : c_(c), inputs_(inputs), promises_(promises), random_(random) {}

  std::vector<BitwiseQuestion> All() {
    for (const char letter : c_.info().slices) {
      const std::string axis(1, letter);
      if (!c_.dimensions().contains(axis) || ExtentOf(c_, axis) < 2) continue;
      const size_t extent = ExtentOf(c_, axis), half = extent / 2;
      BesideOthers(axis, 0, half);
      BesideOthers(axis, half, extent - half);
      for (const size_t row : SomeOf(extent)) BesideOthers(axis, row, 1);
      if (!IsIndependent(c_.operation(), letter) && !IsBatchOfEquals(axis)) continue;
      InSmaller(axis, 0, half);
      InSmaller(axis, half, extent - half);
      for (const size_t row : SomeOf(extent)) InSmaller(axis, row, 1);
    }
    OfPrefill();
    return std::move(questions_);
  }

 private:
  bool Wants(std::string_view promise) const {
    return promises_.empty() || std::ranges::count(promises_, promise) > 0;
  }

  // True for batches of which no attribute has a number for each.
  bool IsBatchOfEquals(const std::string& axis) const {
    return axis == "B" && std::ranges::none_of(kPlaces, [this](const char* name) {
             return TextOf(c_, name).find(',') != std::string::npos;
           });
  }

  // All indices, or some at random.
  std::vector<size_t> SomeOf(size_t extent) {
    std::set<size_t> some;
    while (some.size() < std::min(extent, kMostRows))
      some.insert(extent <= kMostRows ? some.size() : random_.Below(extent));
    return {some.begin(), some.end()};
  }

  // The rows in their places, with other numbers in all others.
  void BesideOthers(const std::string& axis, size_t first, size_t count) {
    const uint64_t seed = random_.Bits() >> 32;  // whatever is wanted: other rows are drawn later
    if (!Wants("batch") || !DependsOnSeed(c_)) return;
    const Case other = c_.With("seed=" + std::to_string(seed));
    const Slice rows{{{axis, {first, count}}}};
    Tensors mixed;
    try {
      mixed = DrawInputs(other);
    } catch (const Error&) {  // of a file
      return;
    }
    for (size_t t = 0; t < mixed.size(); ++t) {
      const TensorSpec& spec = *FindTensor(c_.signature(), mixed[t].name);
      if (Has(spec, axis)) {
        InsertSlice(ExtractSlice(inputs_[t].values, spec, rows), spec, rows, mixed[t].values);
      } else {
        mixed[t].values = inputs_[t].values;
      }
    }
    questions_.push_back(
        {"batch", TextOf(rows) + " beside others", other, std::move(mixed), rows, rows});
  }

  void InSmaller(const std::string& axis, size_t first, size_t count) {
    const Slice rows{{{axis, {first, count}}}};
    AddPart("batch_size", rows, rows, {});
  }

  // A query among the keys up to the last one that it sees, without the queries after it.
  void OfPrefill() {
    const auto& dimensions = c_.dimensions();
    if (!dimensions.contains("S") || !dimensions.contains("T") || TextOf(c_, "mask") != "causal")
      return;
    const std::string align = TextOf(c_, "align");
    if (!align.empty() && align != "bottom_right") return;
    for (const char* name : kPlaces) {
      if (!TextOf(c_, name).empty()) return;
    }
    const size_t queries = ExtentOf(c_, "S"), keys = ExtentOf(c_, "T");
    if (queries < 2 || queries > keys) return;
    for (const size_t query : SomeOf(queries)) {
      const size_t seen = keys - queries + query + 1;
      const Slice whole{{{"S", {query, 1}}}};
      if (query + 1 < queries)
        AddPart("keys", {{{"S", {0, query + 1}}, {"T", {0, seen}}}}, whole, whole);
      AddPart("decode", {{{"S", {query, 1}}, {"T", {0, seen}}}}, whole, {});
    }
  }

  void AddPart(std::string_view promise, const Slice& part, const Slice& rows_of_whole,
               const Slice& rows) {
    if (!Wants(promise)) return;
    const auto c = CaseOfPart(c_, part);
    if (!c) return;
    Tensors inputs = inputs_;
    for (NamedTensor& input : inputs)
      input.values = ExtractSlice(input.values, *FindTensor(c_.signature(), input.name), part);
    questions_.push_back(
        {promise, "only " + TextOf(part), *c, std::move(inputs), rows, rows_of_whole});
  }

  const Case& c_;
  const Tensors& inputs_;
  const std::vector<std::string>& promises_;
  SplitMix64& random_;
  std::vector<BitwiseQuestion> questions_;
};

std::string BitsText(DType dtype, double x) {
  std::ostringstream text;
  text << "0x" << std::hex << EncodeBits(dtype, x) << std::dec << " (" << PrintValue(x) << ")";
  return text.str();
}

}  // namespace

std::vector<BitwiseQuestion> BitwiseQuestions(const Case& c, const Tensors& inputs,
                                              const std::vector<std::string>& promises,
                                              SplitMix64& random) {
  return Questions(c, inputs, promises, random).All();
}

std::string BitDifference(const Case& c, const Tensors& inputs, const Tensors& whole,
                          const Slice& rows_of_whole, const Tensors& other, const Slice& rows) {
  Tensors specified;  // an answer of the formula, if it is needed
  std::string first;
  size_t different = 0, compared = 0;
  for (const TensorSpec& spec : c.info().signature.outputs) {
    const auto a = std::ranges::find(whole, spec.name, &NamedTensor::name);
    const auto b = std::ranges::find(other, spec.name, &NamedTensor::name);
    if (a == whole.end() || b == other.end()) continue;
    const std::vector<double> of_whole = ExtractSlice(a->values, spec, rows_of_whole).data;
    const std::vector<double> of_other = ExtractSlice(b->values, spec, rows).data;
    const DType dtype = c.DTypeOf(spec);
    compared += of_whole.size();
    for (size_t i = 0; i < of_whole.size(); ++i) {
      if (EncodeBits(dtype, of_whole[i]) == EncodeBits(dtype, of_other[i])) continue;
      const size_t at = IndicesIn(a->values.shape, spec, rows_of_whole)[i];
      if (specified.empty()) specified = RecipeSubject("native").answer(c, inputs).outputs;
      const auto formula = std::ranges::find(specified, spec.name, &NamedTensor::name);
      if (!c.info().bitwise && std::isnan(formula->values.data[at])) continue;  // unspecified
      if (++different > 1) continue;
      first = IndexText(spec.name, a->values.shape, at) + ": " + BitsText(dtype, of_whole[i]) +
              " and " + BitsText(dtype, of_other[i]);
    }
  }
  if (different == 0) return "";
  return first + "; " + std::to_string(different) + " of " + std::to_string(compared) +
         " elements of these rows differ";
}

}  // namespace sextant::oracle
