#include "oracle/subject/safetensors_message.h"

#include <algorithm>
#include <cassert>
#include <cctype>

#include "reference/base/error.h"
#include "reference/base/json.h"
#include "reference/base/printable.h"

namespace sextant::oracle {
namespace {

// Limits of the header in bytes.
constexpr uint64_t kMetadataBytes = 64 << 10;  // all but the tensors
constexpr uint64_t kBytesPerTensor = 256;  // {"dtype":..,"shape":[],"data_offsets":[..]} and spaces
constexpr uint64_t kBytesPerExtent = 32;   // digits of 2^64, comma, spaces

std::string Declarations(const std::vector<ExpectedTensor>& expected) {
  std::string text;
  for (const ExpectedTensor& tensor : expected) {
    if (!text.empty()) text += " ";
    text += Declaration(tensor.name, NameOf(tensor.dtype), tensor.shape);
    if (tensor.optional) text += " (optional)";
  }
  return text.empty() ? "none" : text;
}

}  // namespace

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
  const uint64_t size = HeaderSize(prefix);
  if (std::ranges::all_of(prefix,
                          [](unsigned char byte) { return std::isprint(byte) || byte == '\n'; })) {
    throw Error("the reply begins with the text ", Quoted(prefix),
                ", expected the 8-byte size of a header: is something else printed to standard "
                "output?");
  }
  if (size > limit) throw Error("the header claims ", size, " bytes, expected at most ", limit);
  return static_cast<size_t>(size);
}

void CheckOutputs(const SafetensorsHeader& header, const std::vector<ExpectedTensor>& expected) {
  for (const SafetensorsHeader::Entry& entry : header.entries) {
    const auto found = std::ranges::find(expected, entry.name, &ExpectedTensor::name);
    if (found == expected.end()) {
      throw Error("unknown output ", Quoted(entry.name), ", expected: ", Declarations(expected));
    }
    if (entry.type != ElementTypeOf(found->dtype) || entry.shape != found->shape) {
      throw Error("output ", Declaration(entry.name, entry.TypeName(), entry.shape), ", expected ",
                  Declaration(found->name, NameOf(found->dtype), found->shape));
    }
  }
  for (const ExpectedTensor& tensor : expected) {
    if (!tensor.optional &&
        std::ranges::find(header.entries, tensor.name, &SafetensorsHeader::Entry::name) ==
            header.entries.end()) {
      throw Error("output '", tensor.name, "' is missing, expected: ", Declarations(expected));
    }
  }
}

Tensors DecodeBody(const SafetensorsHeader& header, std::string_view body) {
  assert(body.size() == header.body_size);
  Tensors tensors;
  for (const SafetensorsHeader::Entry& entry : header.entries) {
    try {
      tensors.push_back({entry.name, DTypeOf(*entry.type), ValuesOf(entry.In(body))});
    } catch (const Error& e) {
      throw Error("output ", entry.name, ": ", e.what());
    }
  }
  return tensors;
}

}  // namespace sextant::oracle
