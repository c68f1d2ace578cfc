#include "tools/cli/cases_to_store.h"

#include <iostream>
#include <set>

#include "reference/base/error.h"
#include "reference/base/printable.h"
#include "reference/number/tensor/tensor_view.h"
#include "tools/api/replace.h"
#include "tools/cli/options.h"
#include "tools/onnx/onnx_folder.h"

namespace sextant::tools {
namespace {

constexpr double kMiB = 1 << 20;
constexpr double kLargeFile = 64 * kMiB;  // bytes

// The bytes of the elements that a command stores of one case.
double SizeOfCase(const Case& c, Content content) {
  constexpr double kExact = 3 * sizeof(double);  // high, low and permitted of an element
  const auto size = [&](const TensorSpec& spec, double extra) {
    return static_cast<double>(CountOf(c.ShapeOf(spec))) *
           (static_cast<double>(SizeOf(StoredAs(c.DTypeOf(spec)))) + extra);
  };
  double sum = 0;
  if (content != Content::kAnswers) {
    for (const TensorSpec& input : c.signature().inputs) sum += size(input, 0);
  }
  if (content != Content::kInputs) {
    for (const TensorSpec& output : c.info().signature.outputs)
      sum += size(output, content == Content::kGolden ? kExact : 0);
  }
  return sum;
}

}  // namespace

void AddStoreOptions(CLI::App& app, StoreOptions& options, Content content) {
  AddOption(app, "cases", options.cases, "files of cases, or case lines", {.required = true});
  std::string what = "the file to write: .h5, .npz or .safetensors";
  if (content == Content::kGolden) what += ", or onnx:FOLDER for ONNX node tests";
  AddStore(app, options.output, what,
           {.required = true, .takes_onnx = content == Content::kGolden});
  AddConfig(app, options.config);
}

double SizeToStore(const std::vector<Selected>& selected, Content content) {
  double size = 0;
  for (const Selected& s : selected) size += SizeOfCase(s.c, content);
  return size;
}

std::vector<Selected> CasesToStore(const StoreOptions& options) {
  RequireNoInput(options.output, options.cases);
  std::vector<Selected> selected = Select({.arguments = options.cases, .config = options.config});
  std::set<std::string> seen;
  for (const Selected& s : selected) {
    const std::string line = s.c.ToString();
    if (!seen.insert(line).second) throw Error("the same case is given twice: ", line);
  }
  return selected;
}

std::unique_ptr<fixtures::RecordFile> CreateStore(const StoreOptions& options, Content content,
                                                  const std::vector<Selected>& selected) {
  std::unique_ptr<fixtures::RecordFile> file = IsOnnxFolder(options.output)
                                                   ? CreateOnnxFolder(options.output)
                                                   : fixtures::CreateRecordFile(options.output);
  const double size = SizeToStore(selected, content);
  if (size > kLargeFile) {
    std::cerr << "sextant: " << Marked(options.output) << " will have about "
              << static_cast<uint64_t>(size / kMiB) << " MiB\n";
  }
  return file;
}

}  // namespace sextant::tools
