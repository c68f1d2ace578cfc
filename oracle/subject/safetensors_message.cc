#include "oracle/subject/safetensors_message.h"

#include <algorithm>
#include <cassert>
#include <cctype>

#include "reference/base/error.h"
#include "reference/base/json.h"
#include "reference/base/printable.h"

namespace sextant::oracle {
namespace {

constexpr char kMetadataKey[] = "__metadata__";
// Limits of the header in bytes.
constexpr uint64_t kMetadataBytes = 64 << 10;  // all but the tensors
constexpr uint64_t kBytesPerTensor = 256;  // {"dtype":..,"shape":[],"data_offsets":[..]} and spaces
constexpr uint64_t kBytesPerExtent = 32;   // digits of 2^64, comma, spaces
constexpr int kMaxDepth = 3;               // header, tensor, list
constexpr size_t kAlignment = 8;           // of the body, and so of every tensor in it

// The name of a dtype in a safetensors header.
std::string SafetensorsName(DType type) {
  std::string name(NameOf(type));
  for (char& letter : name) letter = static_cast<char>(std::toupper(letter));
  return name;
}

DType ParseSafetensorsName(const std::string& name, const std::string& tensor) {
  for (const DType type : {DType::kF64, DType::kF32, DType::kF16, DType::kBF16, DType::kI64}) {
    if (SafetensorsName(type) == name) return type;
  }
  throw Error("tensor ", tensor, " has dtype ", Quoted(name),
              ", expected one of: F64 F32 F16 BF16 I64");
}

// In the syntax of signatures: "y:f32[2,3]".
std::string Declaration(const std::string& name, DType dtype, const Shape& shape) {
  return Printable(name) + ":" + std::string(NameOf(dtype)) + ToString(shape);
}

std::string Declarations(const std::vector<ExpectedTensor>& expected) {
  std::string text;
  for (const ExpectedTensor& tensor : expected) {
    if (!text.empty()) text += " ";
    text += Declaration(tensor.name, tensor.dtype, tensor.shape);
    if (tensor.optional) text += " (optional)";
  }
  return text.empty() ? "none" : text;
}

void AppendBytes(std::string* bytes, uint64_t value, size_t count) {
  for (size_t i = 0; i < count; ++i) *bytes += static_cast<char>(value >> (8 * i) & 0xFF);
}

uint64_t ReadBytes(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

Json HeaderOf(std::string_view text) {
  try {
    return ParseJson(text, kMaxDepth);
  } catch (const Error& e) {
    throw Error("the header ", e.what());
  }
}

uint64_t UnsignedIn(const Json& value, const std::string& where) {
  if (!value.is_number_unsigned()) {
    throw Error(where, " has the element ", Quoted(PrintJson(value)),
                ", expected integers from 0 up");
  }
  return value.get<uint64_t>();
}

const Json& MemberOf(const Json& object, const char* key, const std::string& tensor) {
  const auto found = object.find(key);
  if (found == object.end()) {
    throw Error("tensor ", tensor, " has no '", key, "', expected: dtype shape data_offsets");
  }
  return *found;
}

const Json& ListIn(const Json& object, const char* key, const std::string& tensor) {
  const Json& list = MemberOf(object, key, tensor);
  if (!list.is_array()) throw Error(key, " of tensor ", tensor, " is not a list");
  return list;
}

Header::Entry ParseEntry(const std::string& name, const Json& json) {
  const std::string quoted = Quoted(name);
  if (!json.is_object()) throw Error("tensor ", quoted, " is not a JSON object");
  const Json& dtype = MemberOf(json, "dtype", quoted);
  if (!dtype.is_string()) throw Error("dtype of tensor ", quoted, " is not text");
  Header::Entry entry;
  entry.name = name;
  entry.dtype = ParseSafetensorsName(dtype.get<std::string>(), quoted);
  for (const Json& extent : ListIn(json, "shape", quoted)) {
    entry.shape.push_back(UnsignedIn(extent, "shape of tensor " + quoted));
  }
  const Json& offsets = ListIn(json, "data_offsets", quoted);
  const std::string where = "data_offsets of tensor " + quoted;
  if (offsets.size() != 2) throw Error(where, " has ", offsets.size(), " elements, expected 2");
  entry.begin = UnsignedIn(offsets[0], where);
  entry.end = UnsignedIn(offsets[1], where);
  if (json.size() != 3) {
    throw Error("tensor ", quoted, " has ", json.size(),
                " keys, expected: dtype shape data_offsets");
  }
  const uint64_t size = CountOf(entry.shape) * SizeOf(entry.dtype);
  if (entry.end - entry.begin != size) {  // also if end < begin: the difference wraps around
    throw Error(where, " are [", entry.begin, ",", entry.end, "], expected ", size, " bytes for ",
                Declaration(name, entry.dtype, entry.shape));
  }
  return entry;
}

Metadata ParseMetadata(const Json& json) {
  if (!json.is_object()) throw Error("__metadata__ is not a JSON object");
  Metadata metadata;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) {
      throw Error("__metadata__ has ", Quoted(key), " = ", Quoted(PrintJson(value)),
                  ", expected text (metadata of safetensors is text only)");
    }
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

// Sorts the entries by their offsets; throws Error if there is a gap or an overlap.
void Order(Header* header) {
  std::ranges::stable_sort(header->entries, {}, [](const Header::Entry& entry) {
    return std::pair(entry.begin, entry.end);
  });
  for (const Header::Entry& entry : header->entries) {
    if (entry.begin != header->body_size) {
      throw Error("data_offsets of tensor ", Quoted(entry.name), " begin at ", entry.begin,
                  ", expected ", header->body_size, ": no gap, no overlap");
    }
    header->body_size = entry.end;
  }
}

void CheckInteger(int64_t value, const std::string& name, size_t element) {
  if (value < -kLargestInteger || value > kLargestInteger) {
    throw Error("output ", name, " has the integer ", value, " at element ", element,
                ", expected at most 2^53 in magnitude");
  }
}

}  // namespace

std::string EncodeMessage(const Metadata& metadata, const Tensors& tensors) {
  std::vector<const NamedTensor*> order;
  for (const NamedTensor& tensor : tensors) order.push_back(&tensor);
  // Wide elements first: then every tensor is aligned to its element size.
  std::ranges::stable_sort(order, std::greater<>(),
                           [](const NamedTensor* tensor) { return SizeOf(tensor->dtype); });
  Json json = Json::object();
  json[kMetadataKey] = metadata;
  size_t offset = 0;
  for (const NamedTensor* tensor : order) {
    const size_t end = offset + tensor->values.data.size() * SizeOf(tensor->dtype);
    json[tensor->name] = {{"dtype", SafetensorsName(tensor->dtype)},
                          {"shape", tensor->values.shape},
                          {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string header;
  try {
    header = json.dump();
  } catch (const Json::exception& e) {
    throw Error("the metadata of a request are not UTF-8: ", Printable(e.what()));
  }
  header.resize((header.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  std::string message;
  message.reserve(kPrefixSize + header.size() + offset);
  AppendBytes(&message, header.size(), kPrefixSize);
  message += header;
  for (const NamedTensor* tensor : order) {
    const size_t size = SizeOf(tensor->dtype);
    for (const double value : tensor->values.data) {
      AppendBytes(&message, EncodeBits(tensor->dtype, value), size);
    }
  }
  return message;
}

std::string DescribeOutputs(const std::vector<ExpectedTensor>& expected) {
  Json json = Json::object();
  for (const ExpectedTensor& tensor : expected) {
    json[tensor.name] = {{"dtype", SafetensorsName(tensor.dtype)}, {"shape", tensor.shape}};
    if (tensor.optional) json[tensor.name]["optional"] = true;
  }
  return PrintJson(json);
}

uint64_t HeaderLimit(const std::vector<ExpectedTensor>& expected) {
  uint64_t limit = kMetadataBytes;
  for (const ExpectedTensor& tensor : expected) {
    limit += kBytesPerTensor + tensor.name.size() + kBytesPerExtent * tensor.shape.size();
  }
  return limit;
}

size_t ParsePrefix(std::string_view prefix, uint64_t limit) {
  assert(prefix.size() == kPrefixSize);
  const uint64_t size = ReadBytes(prefix);
  if (std::ranges::all_of(prefix,
                          [](unsigned char byte) { return std::isprint(byte) || byte == '\n'; })) {
    throw Error("the reply begins with the text ", Quoted(prefix),
                ", expected the 8-byte size of a header: is something else printed to standard "
                "output?");
  }
  if (size > limit) throw Error("the header claims ", size, " bytes, expected at most ", limit);
  return static_cast<size_t>(size);
}

Header ParseHeader(std::string_view text) {
  const Json json = HeaderOf(text);
  if (!json.is_object()) throw Error("the header is not a JSON object: ", Quoted(text));
  Header header;
  for (const auto& [name, value] : json.items()) {
    if (name == kMetadataKey) {
      header.metadata = ParseMetadata(value);
    } else {
      header.entries.push_back(ParseEntry(name, value));
    }
  }
  Order(&header);
  return header;
}

void CheckOutputs(const Header& header, const std::vector<ExpectedTensor>& expected) {
  for (const Header::Entry& entry : header.entries) {
    const auto found = std::ranges::find(expected, entry.name, &ExpectedTensor::name);
    if (found == expected.end()) {
      throw Error("unknown output ", Quoted(entry.name), ", expected: ", Declarations(expected));
    }
    if (entry.dtype != found->dtype || entry.shape != found->shape) {
      throw Error("output ", Declaration(entry.name, entry.dtype, entry.shape), ", expected ",
                  Declaration(found->name, found->dtype, found->shape));
    }
  }
  for (const ExpectedTensor& tensor : expected) {
    if (!tensor.optional && std::ranges::find(header.entries, tensor.name, &Header::Entry::name) ==
                                header.entries.end()) {
      throw Error("output '", tensor.name, "' is missing, expected: ", Declarations(expected));
    }
  }
}

Tensors DecodeBody(const Header& header, std::string_view body) {
  assert(body.size() == header.body_size);
  Tensors tensors;
  for (const Header::Entry& entry : header.entries) {
    NamedTensor tensor{
        .name = entry.name, .dtype = entry.dtype, .values = Tensor<double>(entry.shape)};
    const size_t size = SizeOf(entry.dtype);
    for (size_t i = 0; i < tensor.values.data.size(); ++i) {
      const uint64_t bits = ReadBytes(body.substr(entry.begin + i * size, size));
      if (entry.dtype == DType::kI64) CheckInteger(static_cast<int64_t>(bits), entry.name, i);
      tensor.values.data[i] = DecodeBits(entry.dtype, bits);
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace sextant::oracle
