// Edits of an HDF5 file that the bytes of a fuzzer choose. It needs clang's fuzzer/.
#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fixtures/store/h5.h"
#include "tools/fuzz/input.h"

namespace sextant::fuzz {

// Applies edits to an open file. Edits that libhdf5 refuses have no effect.
class Editor {
 public:
  // `places`: of objects that it has, or may get. `other`: a file for links.
  Editor(hid_t file, const std::vector<std::string>& places, const std::string& other,
         FuzzedDataProvider& bytes)
      : file_(file), places_(places), other_(other), bytes_(bytes) {}

  void Apply() {
    using Edit = void (Editor::*)();
    static constexpr Edit kEdits[] = {
        &Editor::WriteText,   &Editor::WriteText,  &Editor::DeleteText,   &Editor::Delete,
        &Editor::Move,        &Editor::LinkHard,   &Editor::LinkSoft,     &Editor::LinkExternal,
        &Editor::CreateGroup, &Editor::CommitType, &Editor::WriteNumbers, &Editor::Replace,
        &Editor::Replace,     &Editor::Replace};
    constexpr int kMostEdits = 12;
    for (int i = 0; i < kMostEdits && bytes_.remaining_bytes() > 0; ++i)
      (this->*bytes_.PickValueInArray(kEdits))();
  }

 private:
  using Handle = fixtures::h5::Handle;

  const char* Place() { return places_[Below(places_.size())].c_str(); }
  size_t Below(size_t end) { return bytes_.ConsumeIntegralInRange<size_t>(0, end - 1); }

  // Writes an attribute: a text of fixed or variable length, two texts, a number, or no value.
  void WriteText() {
    static constexpr const char* kNames[] = {"case",      "recipe", "slice", "sextant",
                                             "generator", "sha256", "dtype"};
    static constexpr const char* kTexts[] = {"",    "1",   "2",      "bf16",           "f8_e4m3fn",
                                             "i4",  "i8",  "e8m0",   "f32_compute",    "N=0..0",
                                             "i64", "f64", "\xFF\n", "softmax N=1 M=2"};
    const Handle object(H5Oopen(file_, Place(), H5P_DEFAULT), H5Oclose);
    const char* name = bytes_.PickValueInArray(kNames);
    std::string text = bytes_.PickValueInArray(kTexts);
    if (bytes_.ConsumeBool()) text = bytes_.ConsumeRandomLengthString(64);
    enum Form { kFixed, kVariable, kTwo, kNumber, kNone, kForms };
    const size_t form = bytes_.ConsumeBool() ? kFixed : Below(kForms);
    const Handle type(H5Tcopy(form == kNumber ? H5T_NATIVE_DOUBLE : H5T_C_S1), H5Tclose);
    if (form == kVariable) H5Tset_size(type, H5T_VARIABLE);
    if (form == kFixed || form == kTwo) H5Tset_size(type, std::max<size_t>(1, text.size()));
    const hsize_t two = 2;
    const Handle space(form == kTwo ? H5Screate_simple(1, &two, nullptr)
                                    : H5Screate(form == kNone ? H5S_NULL : H5S_SCALAR),
                       H5Sclose);
    H5Adelete(object, name);
    const Handle attribute(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT),
                           H5Aclose);
    const std::string twice = text + text + std::string(sizeof(double), '\0');
    const char* begin = twice.c_str();
    H5Awrite(attribute, type, form == kVariable ? static_cast<const void*>(&begin) : begin);
  }

  void DeleteText() {
    static constexpr const char* kNames[] = {"case", "dtype", "sha256"};
    const char* place = Place();
    H5Adelete_by_name(file_, place, bytes_.PickValueInArray(kNames), H5P_DEFAULT);
  }
  void Delete() { H5Ldelete(file_, Place(), H5P_DEFAULT); }
  void Move() {
    const char* from = Place();
    H5Lmove(file_, from, file_, Place(), H5P_DEFAULT, H5P_DEFAULT);
  }
  void LinkHard() {  // also a cycle
    const char* from = Place();
    H5Lcreate_hard(file_, from, file_, Place(), H5P_DEFAULT, H5P_DEFAULT);
  }
  void LinkSoft() {
    const char* from = Place();
    H5Lcreate_soft(from, file_, Place(), H5P_DEFAULT, H5P_DEFAULT);
  }
  void LinkExternal() {
    H5Lcreate_external(other_.c_str(), "/cases", file_, Place(), H5P_DEFAULT, H5P_DEFAULT);
  }
  void CreateGroup() {
    Handle(H5Gcreate2(file_, Place(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  }
  void CommitType() {
    const Handle type = Type();
    H5Tcommit2(file_, Place(), type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  }

  // Writes the same number into all elements of a dataset.
  void WriteNumbers() { Fill(Handle(H5Dopen2(file_, Place(), H5P_DEFAULT), H5Dclose)); }
  void Fill(const Handle& dataset) {
    static constexpr double kNumbers[] = {0,   -0.0,  1,        -1,        0.1,      3,
                                          1e9, 1e300, 0x1p-149, 0x1p-1074, INFINITY, NAN};
    const double number = bytes_.PickValueInArray(kNumbers);
    const Handle type(H5Dget_type(dataset), H5Tclose), space(H5Dget_space(dataset), H5Sclose);
    const H5T_class_t kind = H5Tget_class(type);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
    const H5D_layout_t layout = H5Pget_layout(creation);
    const hssize_t kMost = layout == H5D_CHUNKED ? 1 << 10 : 1 << 17;
    if (layout == H5D_VIRTUAL) return;
    if ((kind != H5T_INTEGER && kind != H5T_FLOAT) || count < 0 || count > kMost) return;
    // libhdf5 1.10 crashes when it converts numbers to some strange types; then these are bytes.
    const bool is_usual =
        std::ranges::any_of(NumberTypes(), [&](hid_t t) { return H5Tequal(t, type) > 0; });
    const size_t repeats = is_usual ? 1 : (H5Tget_size(type) + sizeof number - 1) / sizeof number;
    const std::vector<double> numbers(static_cast<size_t>(count) * repeats, number);
    H5Dwrite(dataset, is_usual ? H5T_NATIVE_DOUBLE : static_cast<hid_t>(type), H5S_ALL, H5S_ALL,
             H5P_DEFAULT, numbers.data());
  }

  // Puts another dataset in the place of an object. Its attributes are lost, or copied.
  void Replace() {
    const char* place = Place();
    const Handle old(H5Dopen2(file_, place, H5P_DEFAULT), H5Dclose);
    const Handle type = bytes_.ConsumeBool() ? Handle(H5Dget_type(old), H5Tclose) : Type();
    const Handle space = bytes_.ConsumeBool() ? Handle(H5Dget_space(old), H5Sclose) : Space();
    const Handle creation = Creation(space);
    H5Ldelete(file_, place, H5P_DEFAULT);
    const Handle made(H5Dcreate2(file_, place, type, space, H5P_DEFAULT, creation, H5P_DEFAULT),
                      H5Dclose);
    if (bytes_.ConsumeBool()) {
      MayRefuse([&] {
        for (const char* name : {"dtype", "sha256"}) {
          const auto text = fixtures::h5::ReadText(old, place, name);
          if (text) fixtures::h5::WriteText(made, name, *text);
        }
      });
    }
    if (bytes_.ConsumeBool()) Fill(made);
  }

  static std::vector<hid_t> NumberTypes() {
    return {H5T_IEEE_F64LE, H5T_IEEE_F64BE, H5T_IEEE_F32LE, H5T_STD_I8LE,      H5T_STD_U8LE,
            H5T_STD_I32BE,  H5T_STD_I64LE,  H5T_STD_U64LE,  H5T_NATIVE_LDOUBLE};
  }
  Handle Type() {
    static const std::vector<hid_t> kTypes = [] {
      std::vector<hid_t> types = NumberTypes();
      types.insert(types.end(), {H5T_C_S1, H5T_STD_B8LE, H5T_STD_REF_OBJ, H5T_UNIX_D64LE});
      return types;
    }();
    const hid_t base = kTypes[Below(kTypes.size())];
    Handle copy(H5Tcopy(base), H5Tclose);
    const hsize_t two = 2;
    switch (Below(8)) {
      case 0:
        return Handle(H5Tvlen_create(base), H5Tclose);
      case 1:
        return Handle(H5Tarray_create2(base, 1, &two), H5Tclose);
      case 2: {
        Handle compound(H5Tcreate(H5T_COMPOUND, H5Tget_size(base)), H5Tclose);
        H5Tinsert(compound, "part", 0, base);
        return compound;
      }
      case 3:
        return Handle(H5Tenum_create(base), H5Tclose);
      case 4: {  // fewer bits, elsewhere in the element; of a float, another division of its bits
        const size_t bits = 1 + Below(64), fraction = Below(bits);
        H5Tset_fields(copy, bits - 1, fraction, bits - 1 - fraction, 0, fraction);
        H5Tset_precision(copy, bits);
        H5Tset_offset(copy, Below(8));
        return copy;
      }
      case 5:
        H5Tset_size(copy, 1 + Below(32));
        return copy;
      case 6:
        H5Tset_ebias(copy, Below(1 << 16));
        return copy;
      default:
        return copy;
    }
  }

  Handle Space() {
    static constexpr hsize_t kExtents[] = {0, 1,       2,       3,          4,
                                           7, 1 << 14, 1 << 17, 1ULL << 40, 1ULL << 62};
    if (Below(16) == 0) return Handle(H5Screate(H5S_NULL), H5Sclose);
    const hsize_t large = 1 << 14;  // of doubles: more than is sent from the child to its parent
    if (Below(4) == 0) return Handle(H5Screate_simple(1, &large, nullptr), H5Sclose);
    std::vector<hsize_t> shape(Below(5)), most(shape.size(), H5S_UNLIMITED);
    for (hsize_t& extent : shape) extent = bytes_.PickValueInArray(kExtents);
    if (shape.empty()) return Handle(H5Screate(H5S_SCALAR), H5Sclose);
    const auto rank = static_cast<int>(shape.size());
    return Handle(
        H5Screate_simple(rank, shape.data(), bytes_.ConsumeBool() ? most.data() : nullptr),
        H5Sclose);
  }

  // How the elements are stored. Only chunks can be large: they are allocated when they are
  // written.
  Handle Creation(hid_t space) {
    Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    hsize_t shape[H5S_MAX_RANK] = {};
    const int rank = H5Sget_simple_extent_dims(space, shape, nullptr);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    const bool is_small = count >= 0 && count <= 2 * static_cast<hssize_t>(kMostElements);
    static constexpr H5D_layout_t kLayouts[] = {H5D_COMPACT, H5D_CONTIGUOUS, H5D_CHUNKED,
                                                H5D_VIRTUAL};
    const H5D_layout_t layout = is_small ? bytes_.PickValueInArray(kLayouts) : H5D_CHUNKED;
    H5Pset_layout(creation, layout);
    if (layout == H5D_VIRTUAL)
      H5Pset_virtual(creation, space, other_.c_str(), "/cases/0000/inputs/x", space);
    if (layout == H5D_CONTIGUOUS && Below(8) == 0)
      H5Pset_external(creation, other_.c_str(), 0, H5F_UNLIMITED);
    if (layout != H5D_CHUNKED || rank <= 0) return creation;
    static constexpr hsize_t kChunks[] = {1, 2, 3, 1 << 10};
    std::vector<hsize_t> chunk(static_cast<size_t>(rank));
    for (hsize_t& extent : chunk) extent = bytes_.PickValueInArray(kChunks);
    H5Pset_chunk(creation, rank, chunk.data());
    H5Pset_alloc_time(creation, H5D_ALLOC_TIME_INCR);
    // (nbit and scaleoffset are left out: libhdf5 1.10 crashes when it writes strange types by
    // them.)
    for (size_t filters = Below(4); filters > 0; --filters) {
      switch (Below(4)) {
        case 0:
          H5Pset_deflate(creation, static_cast<unsigned>(Below(10)));
          break;
        case 1:
          H5Pset_shuffle(creation);
          break;
        case 2:
          H5Pset_fletcher32(creation);
          break;
        default:
          H5Pset_szip(creation, H5_SZIP_NN_OPTION_MASK, 8);
      }
    }
    return creation;
  }

  const hid_t file_;
  const std::vector<std::string>& places_;
  const std::string& other_;
  FuzzedDataProvider& bytes_;
};

}  // namespace sextant::fuzz
