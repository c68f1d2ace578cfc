#include "tools/api/prove_parts.h"

#include <algorithm>

#include "fixtures/store/golden_plan.h"
#include "tools/api/selection.h"

namespace sextant::tools {
namespace {

// Writes an input as far as the slice's file has it.
void WriteInput(const TensorReader& whole, const TensorSpec& spec, const Slice& slice,
                fixtures::Writer& writer) {
  constexpr size_t kAtOnce = size_t{1} << 20;  // elements
  if (!fixtures::IsCut(spec, slice) && !fixtures::IsFirst(slice)) return;
  const Slice own = fixtures::IsCut(spec, slice) ? slice : Slice();
  fixtures::TensorWriter& to =
      writer.Input(whole.name(), whole.dtype(), ShapeIn(whole.shape(), spec, own));
  std::vector<double> values;
  for (const auto& [first, count] : RunsIn(whole.shape(), spec, own)) {
    for (size_t k = 0; k < count; k += kAtOnce) {
      values.resize(std::min(kAtOnce, count - k));
      whole.Read(first + k, values);
      to.Append(values);
    }
  }
}

}  // namespace

size_t ElementsIn(double mebibytes) {
  constexpr double kUsual = 512;
  // Five numbers of a golden, about as many inputs, their encoding, and the numbers of slices.
  constexpr double kBytesOfElement = 128;
  return static_cast<size_t>(
      std::max(1.0, (mebibytes > 0 ? mebibytes : kUsual) * 0x1p20 / kBytesOfElement));
}

namespace {

size_t InputsOf(const Case& c, const Slice& part) {
  size_t count = 0;
  for (const TensorSpec& spec : c.signature().inputs)
    count += CountOf(ShapeIn(c.ShapeOf(spec), spec, part));
  return count;
}

// Parts whose inputs fit into memory, too. Smaller ones are taken as long as that saves inputs:
// what parts share is read again for each.
CaseCut PartsWithInputs(const Case& c, size_t elements, const Slice& slice) {
  CaseCut parts = PartsOf(c, elements, slice);
  size_t inputs = InputsOf(c, parts[0]);
  for (size_t fewer = elements / 2; inputs > 4 * elements && fewer > 0; fewer /= 2) {
    CaseCut smaller = PartsOf(c, fewer, slice);
    if (smaller.size() == parts.size()) continue;
    const size_t less = InputsOf(c, smaller[0]);
    if (less > inputs / 4 * 3) break;
    parts = std::move(smaller);
    inputs = less;
  }
  return parts;
}

}  // namespace

PartByPart::PartByPart(const Case& c) : c_(c), inputs_(c_, NpyReader()) {}

void PartByPart::ForEach(const Slice& slice, size_t elements, const ProveOptions& options,
                         const Take& take) const {
  const CaseCut parts = PartsWithInputs(c_, elements, slice);
  for (size_t i = 0; i < parts.size(); ++i) {
    const Slice part = parts[i];
    take(part, InputsOfPart(c_, inputs_.readers(), part, options.threads));
    if (options.progress)
      options.progress(static_cast<double>(i + 1) / static_cast<double>(parts.size()));
  }
}

ProofCount WriteProven(const PartByPart& of_case, const Slice& slice, size_t elements,
                       const ProveOptions& options, fixtures::Writer& writer) {
  const Case& c = of_case.c();
  const Recipe recipe = ParseRecipe(fixtures::kUsualRecipe, c.dtype());
  writer.BeginCase(c.ToString(), fixtures::kUsualRecipe, TextOf(slice));
  const TensorReaders& inputs = of_case.inputs().readers();
  for (size_t i = 0; i < inputs.size(); ++i)
    WriteInput(inputs[i], c.signature().inputs[i], slice, writer);
  const std::vector<TensorSpec>& outputs = c.info().signature.outputs;
  std::vector<fixtures::GoldenWriter*> golden;
  for (const TensorSpec& spec : outputs) {
    golden.push_back(
        &writer.Golden(spec.name, c.DTypeOf(spec), ShapeIn(c.ShapeOf(spec), spec, slice)));
  }
  ProofCount all;
  of_case.ForEach(slice, elements, options, [&](const Slice& part, const InputsOfPart& of_part) {
    const auto proven =
        ProvePart({c, of_part.tensors(), recipe}, part, {options.threads, {}, options.engine});
    for (size_t o = 0; o < outputs.size(); ++o) {
      const Shape shape = ShapeIn(c.ShapeOf(outputs[o]), outputs[o], slice);
      golden[o]->Write(RunsIn(shape, outputs[o], Within(part, slice)), proven[o]);
    }
    all += CountProofs(proven);
  });
  return all;
}

}  // namespace sextant::tools
