#include "tools/api/merge_golden.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "fixtures/store/golden_folder.h"
#include "fixtures/store/integrity.h"
#include "fixtures/store/reader.h"
#include "fixtures/store/writer.h"
#include "reference/base/error.h"
#include "reference/prove/slices.h"

namespace sextant::tools {
namespace {

using fixtures::GoldenOfFile;
using fixtures::LargeRecord;

// Writes the cases of the parts, one after the other.
class Merging {
 public:
  explicit Merging(const std::string& path) : writer_(path) {}

  void Add(const LargeRecord& record) {
    if (!c_ || c_->ToString() != record.case_line) Begin(record);
    const Slice slice = ParseSlice(*c_, record.slice);
    for (const auto& input : record.inputs) {
      const TensorSpec& spec = *FindTensor(c_->signature(), input->name());
      const Slice own = fixtures::IsCut(spec, slice) ? slice : Slice();
      Tensor<double> values(input->shape());
      input->Read(0, values.data);
      inputs_.at(input->name())->Write(RunsIn(c_->ShapeOf(spec), spec, own), values.data);
    }
    for (const GoldenOfFile& golden : record.golden) {
      const TensorSpec& spec = *FindTensor(c_->info().signature, golden.name);
      golden_.at(golden.name)->Write(RunsIn(c_->ShapeOf(spec), spec, slice), ValuesOf(golden));
    }
  }

  size_t Finish() {
    writer_.Finish();
    return count_;
  }

 private:
  void Begin(const LargeRecord& record) {
    c_ = Case::Parse(record.case_line);
    ++count_;
    writer_.BeginCase(record.case_line, record.recipe);
    inputs_.clear();
    golden_.clear();
    for (const TensorSpec& spec : c_->signature().inputs)
      inputs_[spec.name] = &writer_.Input(spec.name, c_->DTypeOf(spec), c_->ShapeOf(spec));
    for (const TensorSpec& spec : c_->info().signature.outputs)
      golden_[spec.name] = &writer_.Golden(spec.name, c_->DTypeOf(spec), c_->ShapeOf(spec));
  }

  static GoldenTensor ValuesOf(const GoldenOfFile& golden) {
    const auto read = [&](const std::unique_ptr<fixtures::TensorOfFile>& part) {
      Tensor<double> values(golden.value->shape());
      if (part) part->Read(0, values.data);
      return values;
    };
    return {.name = golden.name,
            .dtype = golden.dtype,
            .value = read(golden.value),
            .high = read(golden.high),
            .low = read(golden.low),
            .permitted = read(golden.permitted),
            .radius = read(golden.radius)};
  }

  fixtures::Writer writer_;
  std::optional<Case> c_;  // the current one
  std::map<std::string, fixtures::TensorWriter*> inputs_;
  std::map<std::string, fixtures::GoldenWriter*> golden_;
  size_t count_ = 0;
};

}  // namespace

size_t MergeGolden(const std::string& folder, const std::string& path) {
  const std::vector<std::string> parts = fixtures::PartsOfFolder(folder);
  for (const std::string& part : parts) {
    for (const fixtures::Damage& damage : fixtures::CheckDigests(part))
      throw Error(part, ": ", damage.path, ": ", damage.what);
  }
  // Each part is read before the file is written again: a child process must not be made while
  // this one is inside libhdf5.
  Merging merging(path);
  for (const std::string& part : parts)
    for (const LargeRecord& record : fixtures::ReadLargeRecords(part)) merging.Add(record);
  return merging.Finish();
}

}  // namespace sextant::tools
