#include "tools/onnx/onnx_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

// These settings of onnx choose the namespace and the messages of its library.
#define ONNX_NAMESPACE onnx
#define ONNX_ML 1
#include <onnx/onnx_pb.h>

#include "fixtures/store/layout.h"
#include "reference/base/descriptor.h"
#include "reference/base/error.h"
#include "tools/api/proof_count.h"
#include "tools/onnx/onnx_node.h"

namespace sextant::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "onnx:";
constexpr char kPartial[] = ".partial-";  // followed by the process id of the writer

// The version of the file format that came with a version of the operator set.
// Source: onnx, docs/Versioning.md
int FormatOf(int opset) { return opset >= 24 ? 12 : 11; }

static_assert(RowOf(DType::kF64).onnx == onnx::TensorProto::DOUBLE &&
              RowOf(DType::kF32).onnx == onnx::TensorProto::FLOAT &&
              RowOf(DType::kF16).onnx == onnx::TensorProto::FLOAT16 &&
              RowOf(DType::kBF16).onnx == onnx::TensorProto::BFLOAT16 &&
              RowOf(DType::kI64).onnx == onnx::TensorProto::INT64);

onnx::TensorProto Encode(const NamedTensor& tensor, bool is_mask) {
  onnx::TensorProto proto;
  proto.set_name(tensor.name);
  proto.set_data_type(is_mask ? onnx::TensorProto::BOOL : RowOf(tensor.dtype).onnx);
  for (const size_t extent : tensor.values.shape) proto.add_dims(static_cast<int64_t>(extent));
  std::string& bytes = *proto.mutable_raw_data();
  const size_t size = is_mask ? 1 : SizeOf(tensor.dtype);
  bytes.reserve(tensor.values.data.size() * size);
  for (const double value : tensor.values.data) {
    const uint64_t bits = is_mask ? value != 0 : EncodeBits(tensor.dtype, value);
    for (size_t i = 0; i < size; ++i) bytes += static_cast<char>(bits >> (8 * i) & 0xFF);
  }
  return proto;
}

void Declare(const onnx::TensorProto& tensor, onnx::ValueInfoProto& info) {
  info.set_name(tensor.name());
  auto& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(tensor.data_type());
  type.mutable_shape();
  for (const int64_t extent : tensor.dims()) type.mutable_shape()->add_dim()->set_dim_value(extent);
}

void Set(onnx::AttributeProto& proto, int64_t value) {
  proto.set_type(onnx::AttributeProto::INT);
  proto.set_i(value);
}
void Set(onnx::AttributeProto& proto, float value) {
  proto.set_type(onnx::AttributeProto::FLOAT);
  proto.set_f(value);
}
void Set(onnx::AttributeProto& proto, const std::string& value) {
  proto.set_type(onnx::AttributeProto::STRING);
  proto.set_s(value);
}

onnx::ModelProto ModelOf(const OnnxNode& node, const std::string& line) {
  onnx::ModelProto model;
  model.set_ir_version(FormatOf(node.opset));
  model.set_producer_name("sextant");
  model.set_producer_version(SEXTANT_VERSION);
  model.add_opset_import()->set_version(node.opset);
  auto& text = *model.add_metadata_props();
  text.set_key(fixtures::kCase);
  text.set_value(line);
  model.mutable_graph()->set_name(node.type);
  auto& proto = *model.mutable_graph()->add_node();
  proto.set_op_type(node.type);
  for (const auto& [name, value] : node.attributes) {
    auto& attribute = *proto.add_attribute();
    attribute.set_name(name);
    std::visit([&](const auto& v) { Set(attribute, v); }, value);
  }
  return model;
}

// A folder that is locked as long as the descriptor is open; none if it is not there or another
// process has locked it.
Descriptor Locked(const fs::path& folder) {
  Descriptor file(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (file.open() && flock(file.get(), LOCK_EX | LOCK_NB) != 0) file.Close();
  return file;
}

// Removes what killed writers of the folder have left beside it.
void RemoveStale(const fs::path& folder) {
  const std::string start = folder.filename().string() + kPartial;
  std::error_code ignored;
  const fs::path parent = folder.has_parent_path() ? folder.parent_path() : fs::path(".");
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(start) || name.size() == start.size() ||
        name.find_first_not_of("0123456789", start.size()) != name.npos)
      continue;
    if (Locked(entry.path()).open()) fs::remove_all(entry.path(), ignored);
  }
}

class OnnxFolder : public fixtures::RecordFile {
 public:
  explicit OnnxFolder(const std::string& name)
      : folder_(fs::path(name).has_filename() ? fs::path(name) : fs::path(name).parent_path()),
        partial_(folder_.string() + kPartial + std::to_string(getpid())) {
    std::error_code error;
    if (fs::exists(folder_, error) && !fs::is_empty(folder_, error))
      throw Error(folder_.string(), ": exists and is not empty, expected a new folder");
    RemoveStale(folder_);
    if (!fs::create_directory(partial_, error)) Fail(error);
    lock_ = Locked(partial_);
  }
  ~OnnxFolder() override {
    std::error_code ignored;
    if (!partial_.empty()) fs::remove_all(partial_, ignored);
  }

  std::string WhyNot(const Case& c) const override { return WhyNoOnnxNode(c); }

  std::string Append(const Record& record, const std::string&) override {
    const Case c = Case::Parse(record.case_line);
    const std::string why = WhyNoOnnxNode(c, record.inputs);
    if (!why.empty()) return why;
    const GoldenTensor& golden = record.golden.front();
    if (CountProofs(record.golden).unspecified > 0)
      return golden.name + " has unspecified elements, and a node test specifies all";
    const OnnxNode node = OnnxNodeOf(c, record.inputs);
    onnx::ModelProto model = ModelOf(node, record.case_line);
    const fs::path folder = partial_ / ("test_" + c.name() + "_" + fixtures::CaseName(count_++));
    const fs::path data = folder / "test_data_set_0";
    std::error_code error;
    if (!fs::create_directories(data, error)) Fail(error);
    onnx::GraphProto& graph = *model.mutable_graph();
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const onnx::TensorProto input = Encode(node.inputs[i].tensor, node.inputs[i].is_mask);
      graph.mutable_node(0)->add_input(input.name());
      Declare(input, *graph.add_input());
      Write(input, data / ("input_" + std::to_string(i) + ".pb"));
    }
    const onnx::TensorProto output = Encode({golden.name, golden.dtype, golden.value}, false);
    graph.mutable_node(0)->add_output(output.name());
    Declare(output, *graph.add_output());
    Write(output, data / "output_0.pb");
    Write(model, folder / "model.onnx");
    return "";
  }

  void Finish() override {
    std::error_code error;
    fs::rename(partial_, folder_, error);
    if (error) Fail(error);
    partial_.clear();
  }

 private:
  template <class Message>
  void Write(const Message& message, const fs::path& path) const {
    std::string bytes;
    if (!message.SerializeToString(&bytes))
      throw Error(folder_.string(), ": a tensor has more than 2 GiB, which ONNX files cannot hold");
    errno = 0;
    std::ofstream out(path, std::ios::binary);
    out << bytes;
    out.close();
    if (!out) Fail({errno != 0 ? errno : EIO, std::generic_category()});
  }
  [[noreturn]] void Fail(const std::error_code& error) const {
    throw Error(folder_.string(), ": cannot be written: ", error.message());
  }

  fs::path folder_, partial_;
  Descriptor lock_;   // of partial_
  size_t count_ = 0;  // of the tests written
};

}  // namespace

bool IsOnnxFolder(const std::string& path) { return path.starts_with(kPrefix); }

std::unique_ptr<fixtures::RecordFile> CreateOnnxFolder(const std::string& path) {
  std::string name = path.substr(kPrefix.size());
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  if (name.empty()) throw Error("'", path, "': expected onnx:FOLDER");
  return std::make_unique<OnnxFolder>(name);
}

}  // namespace sextant::tools
