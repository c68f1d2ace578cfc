#include "reference/number/tensor/safetensors.h"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <functional>
#include <utility>

#include "reference/base/error.h"
#include "reference/base/json.h"
#include "reference/base/printable.h"
#include "reference/base/value_text.h"

namespace sextant {
namespace {

constexpr char kMetadataKey[] = "__metadata__";
constexpr int kMaxDepth = 3;      // header, tensor, list
constexpr size_t kAlignment = 8;  // of the body, and so of every tensor in it

char ToUpper(unsigned char letter) { return static_cast<char>(std::toupper(letter)); }

// The names of all element types in a header, in their order.
std::vector<std::string> TypeNames() {
  constexpr auto kNames = NamesOf(ElementType());
  std::vector<std::string> names(kNames.begin(), kNames.end());
  for (std::string& name : names) std::ranges::transform(name, name.begin(), ToUpper);
  std::ranges::transform(kDTypes, names.begin(), SafetensorsName);
  return names;
}

std::optional<ElementType> TypeNamed(const std::string& name) {
  const std::vector<std::string> names = TypeNames();
  const auto at = std::ranges::find(names, name);
  if (at == names.end()) return std::nullopt;
  return static_cast<ElementType>(at - names.begin());
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

SafetensorsHeader::Entry ParseEntry(const std::string& name, const Json& json) {
  const std::string quoted = Quoted(name);
  if (!json.is_object()) throw Error("tensor ", quoted, " is not a JSON object");
  const Json& dtype = MemberOf(json, "dtype", quoted);
  if (!dtype.is_string()) throw Error("dtype of tensor ", quoted, " is not text");
  SafetensorsHeader::Entry entry;
  entry.name = name;
  entry.dtype = dtype.get<std::string>();
  entry.type = TypeNamed(entry.dtype);
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
  if (entry.begin > entry.end)
    throw Error(where, " are [", entry.begin, ",", entry.end, "], expected a rising range");
  if (!entry.type) return entry;
  const uint64_t size = CountOf(entry.shape) * SizeOf(*entry.type);
  if (entry.end - entry.begin != size) {
    throw Error(where, " are [", entry.begin, ",", entry.end, "], expected ", size, " bytes for ",
                Declaration(name, entry.TypeName(), entry.shape));
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
void Order(SafetensorsHeader* header) {
  std::ranges::stable_sort(header->entries, {}, [](const SafetensorsHeader::Entry& entry) {
    return std::pair(entry.begin, entry.end);
  });
  for (const SafetensorsHeader::Entry& entry : header->entries) {
    if (entry.begin != header->body_size) {
      throw Error("data_offsets of tensor ", Quoted(entry.name), " begin at ", entry.begin,
                  ", expected ", header->body_size, ": no gap, no overlap");
    }
    header->body_size = entry.end;
  }
}

}  // namespace

std::string SafetensorsName(DType type) { return std::string(RowOf(type).safetensors); }

std::string Declaration(const std::string& name, std::string_view dtype, const Shape& shape) {
  return Printable(name) + ":" + Printable(dtype) + ToString(shape);
}

std::string SafetensorsHeader::Entry::TypeName() const { return type ? PrintValue(*type) : dtype; }

TensorView SafetensorsHeader::Entry::In(std::string_view body) const {
  if (!type) {
    throw Error("tensor ", Quoted(name), " has dtype ", Quoted(dtype),
                ", expected one of:", NamesText(TypeNames()));
  }
  return {body.data() + begin, *type, shape, RowMajorStrides(shape)};
}

uint64_t HeaderSize(std::string_view prefix) {
  assert(prefix.size() == kPrefixSize);
  return ReadBytes(prefix);
}

SafetensorsHeader ParseSafetensorsHeader(std::string_view text) {
  const Json json = HeaderOf(text);
  if (!json.is_object()) throw Error("the header is not a JSON object: ", Quoted(text));
  SafetensorsHeader header;
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

std::string EncodeSafetensorsHeader(const Metadata& metadata,
                                    const std::vector<SafetensorsTensor>& tensors) {
  Json json = Json::object();
  json[kMetadataKey] = metadata;
  size_t offset = 0;
  for (const SafetensorsTensor& tensor : tensors) {
    const size_t end = offset + CountOf(tensor.shape) * SizeOf(tensor.dtype);
    json[tensor.name] = {{"dtype", SafetensorsName(tensor.dtype)},
                         {"shape", tensor.shape},
                         {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string header;
  try {
    header = json.dump();
  } catch (const Json::exception& e) {
    throw Error("the metadata are not UTF-8: ", Printable(e.what()));
  }
  header.resize((header.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  std::string bytes;
  AppendBytes(&bytes, header.size(), kPrefixSize);
  return bytes + header;
}

std::string EncodeSafetensors(const Metadata& metadata, const Tensors& tensors) {
  std::vector<const NamedTensor*> order;
  for (const NamedTensor& tensor : tensors) order.push_back(&tensor);
  // Wide elements first: then every tensor is aligned to its element size.
  std::ranges::stable_sort(order, std::greater<>(),
                           [](const NamedTensor* tensor) { return SizeOf(tensor->dtype); });
  std::vector<SafetensorsTensor> declared;
  size_t size_of_body = 0;
  for (const NamedTensor* tensor : order) {
    declared.push_back({tensor->name, tensor->dtype, tensor->values.shape});
    size_of_body += tensor->values.data.size() * SizeOf(tensor->dtype);
  }
  std::string message = EncodeSafetensorsHeader(metadata, declared);
  message.reserve(message.size() + size_of_body);
  for (const NamedTensor* tensor : order) {
    const size_t size = SizeOf(tensor->dtype);
    for (const double value : tensor->values.data) {
      AppendBytes(&message, EncodeBits(tensor->dtype, value), size);
    }
  }
  return message;
}

}  // namespace sextant
