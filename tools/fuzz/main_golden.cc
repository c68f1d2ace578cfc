// HDF5 files by their structure: an input is a list of edits of a small golden, made with libhdf5.
// The files are valid HDF5 with other attributes, types, shapes, links, chunks and filters.
// (Flipped bits seldom get past libhdf5's checksums; fixtures/store/integrity_test.cc has them.)
#include <sys/mman.h>

#include <algorithm>
#include <iterator>

#include "fixtures/store/compare.h"
#include "fixtures/store/golden_of_case.h"
#include "fixtures/store/integrity.h"
#include "fixtures/store/reader.h"
#include "fixtures/store/writer.h"
#include "reference/case/draw.h"
#include "reference/prove/prove.h"
#include "tools/fuzz/golden_editor-inl.h"
#include "tools/fuzz/input.h"

namespace sextant::fixtures {

// Does in this process what a child does. The linker takes it instead of the library's.
void ReadInChild(const std::string& where, const Limits&, const std::function<void(Sink&)>& work,
                 const std::function<void(Source&)>& receive) {
  static const int pipe = memfd_create("pipe", 0);
  fuzz::Require(ftruncate(pipe, 0) == 0 && lseek(pipe, 0, SEEK_SET) == 0);
  Sink sink(pipe);
  try {
    work(sink);
    sink.Flush();
  } catch (const Error& e) {
    sink.Fail(e.what());
  }
  lseek(pipe, 0, SEEK_SET);
  Source source([&where](std::span<std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t count = read(pipe, bytes.data(), bytes.size());
      if (count <= 0) throw Error(where, ": ended too early");
      bytes = bytes.subspan(static_cast<size_t>(count));
    }
  });
  receive(source);
}

}  // namespace sextant::fixtures

namespace {

using namespace sextant;
using fixtures::h5::Handle;

// The golden that is edited.
struct Base {
  std::string bytes, path;
  std::vector<std::string> places;  // its groups and datasets, and places for new ones
  std::vector<fixtures::StoredRecord> records;
  std::string digest;
};

herr_t AddPlace(hid_t, const char* name, const H5L_info_t*, void* to) {
  static_cast<std::vector<std::string>*>(to)->push_back("/" + std::string(name));
  return 0;
}

Base MakeBase() {
  static const fuzz::InputFile file("base.h5");
  Base base{.path = file.With("")};
  std::vector<Record> records;
  for (const char* line : {"softmax N=1 M=3 dtype=bf16",
                           "cast overflow=saturate N=1 M=4 dtype=f16 dtype.y=f8_e4m3fn"}) {
    const Case c = Case::Parse(line);
    const Tensors inputs = DrawInputs(c);
    const Recipe recipe = ParseRecipe(fixtures::kUsualRecipe, c.dtype());
    records.push_back({c.ToString(), inputs, Prove({c, inputs, recipe}), {}});
  }
  fixtures::WriteRecords(base.path, records);
  std::ifstream in(base.path, std::ios::binary);
  base.bytes.assign(std::istreambuf_iterator<char>(in), {});
  const Handle opened = fixtures::h5::OpenForReading(base.path);
  H5Lvisit(opened, H5_INDEX_NAME, H5_ITER_INC, AddPlace, &base.places);
  base.places.insert(base.places.end(), {"/", "/new", "/cases/new", "/cases/0000/outputs",
                                         "/cases/0000/golden/y/radius", "/cases/0001/inputs/new"});
  base.records = fixtures::ReadRecords(base.path);
  base.digest = fixtures::ReadFileTexts(base.path).digest;
  return base;
}

const Base& TheBase() {
  static const Base base = [] {
    // libhdf5 keeps the memory that it frees: a file takes half a MiB.
    H5set_free_list_limits(-1, -1, -1, -1, -1, -1);
    return MakeBase();
  }();
  return base;
}

// The path of an edited copy of the base.
std::string Edited(FuzzedDataProvider& bytes) {
  static const fuzz::InputFile copy("fuzz.h5");
  const std::string path = copy.With(TheBase().bytes);
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
  fuzz::Editor(file, TheBase().places, TheBase().path, bytes).Apply();
  return path;
}

// Everything that is read of a record, without its place in the file.
std::string ContentOf(const fixtures::StoredRecord& record) {
  std::string content = record.case_line + "\n" + record.recipe + "\n" + record.slice;
  const auto add = [&](const std::string& name, DType dtype, const Tensor<double>& values) {
    content += "\n" + name + ":" + std::string(NameOf(dtype)) + ToString(values.shape);
    const auto* bytes = reinterpret_cast<const char*>(values.data.data());
    content.append(bytes, values.data.size() * sizeof(double));
  };
  for (const auto* side : {&record.inputs, &record.outputs})
    for (const NamedTensor& tensor : *side) add(tensor.name, tensor.dtype, tensor.values);
  for (const GoldenTensor& golden : record.golden) {
    for (const auto* part :
         {&golden.value, &golden.high, &golden.low, &golden.permitted, &golden.radius})
      add(golden.name, golden.dtype, *part);
  }
  return content;
}

std::vector<std::string> ContentsOf(const std::vector<fixtures::StoredRecord>& records) {
  std::vector<std::string> contents;
  std::ranges::transform(records, std::back_inserter(contents), ContentOf);
  std::ranges::sort(contents);
  return contents;
}

// A file that has the digest of the base and no damage has its content.
void CheckWhole(const std::string& path, const fixtures::ReadLimits& limits) {
  std::vector<std::string> contents;
  std::string digest;
  bool intact = false;
  fuzz::MayRefuse([&] { contents = ContentsOf(fixtures::ReadRecords(path, limits)); });
  fuzz::MayRefuse([&] { digest = fixtures::ReadFileTexts(path).digest; });
  fuzz::MayRefuse([&] { intact = fixtures::CheckDigests(path).empty(); });
  static const std::vector<std::string> expected = ContentsOf(TheBase().records);
  if (intact && digest == TheBase().digest && !contents.empty())
    fuzz::Require(contents == expected);
}

void ReadLarge(fixtures::LargeRecord record) {
  for (const auto& input : record.inputs) {
    if (!fuzz::IsSmall(input->shape())) continue;
    std::vector<double> values(CountOf(input->shape()));
    fuzz::MayRefuse([&] { input->Read(0, values); });
  }
  fuzz::MayRefuse([&] {
    const Case c = Case::Parse(record.case_line);
    fixtures::GoldenOfCase golden(c);
    golden.Add(std::move(record));
    ReadAll(golden, c);
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fixtures::h5::Silence silence;
  FuzzedDataProvider bytes(data, size);
  const std::string path = Edited(bytes);
  const fixtures::ReadLimits limits{.elements = 2 * fuzz::kMostElements};
  CheckWhole(path, limits);
  fuzz::MayRefuse([&] {
    for (auto& record : fixtures::ReadLargeRecords(path, limits)) ReadLarge(std::move(record));
  });
  fuzz::MayRefuse([&] { fixtures::ReadDataset(path, "/cases/0000/inputs/x", limits); });
  fuzz::MayRefuse([&] { fixtures::Compare(path, TheBase().path); });
  return 0;
}
