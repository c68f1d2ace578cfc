#include "oracle/diagnosis/input/input_axes.h"

#include <set>
#include <utility>

#include "oracle/diagnosis/input/input_memory.h"

namespace sextant::oracle {
namespace {

using Numbers = std::vector<double>;

// An axis of a tensor [outer, extent, inner].
struct Axis {
  std::string name;
  size_t extent, inner;
};

// The element of index i is that of index from(i, extent).
struct AxisOrder {
  std::string text;  // # is the name of the axis, @ what its indices are
  std::function<size_t(size_t i, size_t extent)> from;
};
const std::vector<AxisOrder> kSimpleOrders = {
    {"has its @s in reverse order, along #", [](size_t i, size_t n) { return n - 1 - i; }},
    {"has @ 0 at all #", [](size_t, size_t) { return size_t{0}; }},
    {"has its last @ at all #", [](size_t, size_t n) { return n - 1; }},
    {"has the next @ at each #, and the first at the last",
     [](size_t i, size_t n) { return (i + 1) % n; }},
    {"has the @ before at each #, and the last at the first",
     [](size_t i, size_t n) { return (i + n - 1) % n; }},
    {"has the next @ at each # but the last",
     [](size_t i, size_t n) { return i + 1 < n ? i + 1 : i; }},
    {"has the @ before at each # but the first",
     [](size_t i, size_t) { return i > 0 ? i - 1 : i; }},
    {"has the @ two after each #, around the end", [](size_t i, size_t n) { return (i + 2) % n; }},
    {"has the @ two before each #, around the end",
     [](size_t i, size_t n) { return (i + n - 2 % n) % n; }},
    {"has each even @ twice, along #", [](size_t i, size_t) { return i & ~size_t{1}; }},
    {"has neighbouring @s exchanged, along #",
     [](size_t i, size_t n) { return (i ^ 1) < n ? i ^ 1 : i; }},
    {"has both halves of its @s exchanged, along #",
     [](size_t i, size_t n) { return n % 2 == 0 ? (i + n / 2) % n : i; }},
    {"has both halves of its @s interleaved, along #",
     [](size_t i, size_t n) { return n % 2 == 0 ? i % 2 * (n / 2) + i / 2 : i; }},
    {"has its even @s before the odd ones, along #",
     [](size_t i, size_t n) { return n % 2 == 0 ? i % (n / 2) * 2 + i / (n / 2) : i; }},
};

// Orders of blocks.
class Blocks {
 public:
  explicit Blocks(size_t extent) : extent_(extent) {}
  std::vector<AxisOrder> Run() {
    if (extent_ % 3 == 0 && extent_ > 3) AddThirds();
    if (extent_ % 8 == 0) AddEights();
    for (size_t size = 2; size < extent_ && size <= 128; size *= 2) AddOfSize(size);
    return std::move(orders_);
  }

 private:
  void Add(const std::string& text, std::function<size_t(size_t)> of) {
    orders_.push_back(
        {text + ", along #", [of = std::move(of)](size_t i, size_t) { return of(i); }});
  }
  void AddThirds() {
    const auto exchanged = [third = extent_ / 3](size_t one, size_t other) {
      return [=](size_t i) {
        const size_t at = i / third;
        return (at == one ? other : at == other ? one : at) * third + i % third;
      };
    };
    Add("has its first and second third exchanged", exchanged(0, 1));
    Add("has its second and last third exchanged", exchanged(1, 2));
    Add("has its first and last third exchanged", exchanged(0, 2));
  }
  void AddEights() {
    Add("has its @s in another order, as packed in eights: 0 4 1 5 2 6 3 7",
        [](size_t i) { return i / 8 * 8 + i % 2 * 4 + i % 8 / 2; });
    Add("has its @s in another order, as unpacked from eights: 0 2 4 6 1 3 5 7",
        [](size_t i) { return i / 8 * 8 + i % 8 % 4 * 2 + i % 8 / 4; });
  }
  void AddOfSize(size_t size) {
    const std::string n = std::to_string(size);
    const size_t extent = extent_;
    Add("has its first " + n + " @s again and again", [=](size_t i) { return i % size; });
    Add("has the first @ of each " + n + " at all of them",
        [=](size_t i) { return i / size * size; });
    if (size == 2) return;
    Add("has the numbers of the " + n + " @s before at every second " + n + " @s",
        [=](size_t i) { return i / size % 2 == 1 ? i - size : i; });
    if (extent % (2 * size) == 0)
      Add("has neighbouring blocks of " + n + " @s exchanged", [=](size_t i) { return i ^ size; });
    if (extent % size == 0)
      Add("has its @s in another order, as rows of " + n + " that are transposed",
          [=](size_t i) { return i % (extent / size) * size + i / (extent / size); });
    if (const size_t full = extent / size * size; full < extent)
      Add("has the first @s in place of those from " + std::to_string(full) + " on",
          [=](size_t i) { return i < full ? i : i - full; });
    Add("has its @s rolled by " + n + ", those from " + n + " on first",
        [=](size_t i) { return (i + size) % extent; });
    Add("has its @s rolled by " + n + ", the last " + n + " first",
        [=](size_t i) { return (i + extent - size) % extent; });
  }

  size_t extent_;
  std::vector<AxisOrder> orders_;
};

// What an index of the axis is.
std::string NounOf(const std::string& axis) {
  constexpr std::pair<const char*, const char*> kNouns[] = {
      {"B", "batch"},   {"H", "head"},    {"K", "head"}, {"S", "token"}, {"T", "key"},
      {"D", "channel"}, {"E", "channel"}, {"N", "row"},  {"V", "row"}};
  for (const auto& [letter, noun] : kNouns)
    if (axis == letter) return noun;
  return axis.size() == 1 ? "column" : "row";  // of a table
}

std::string WithName(std::string text, const std::string& axis) {
  for (size_t at; (at = text.find('@')) != std::string::npos;) text.replace(at, 1, NounOf(axis));
  for (size_t at; (at = text.find('#')) != std::string::npos;) text.replace(at, 1, axis);
  return text;
}

// The orders that differ from the right one, from each other and from those before.
std::vector<AxisOrder> Different(const std::vector<AxisOrder>& all, size_t extent,
                                 const std::vector<AxisOrder>& before) {
  std::vector<AxisOrder> orders;
  std::set<std::vector<size_t>> seen;
  const auto indices = [&](const auto& from) {
    std::vector<size_t> of;
    for (size_t i = 0; i < extent; ++i) of.push_back(from(i, extent));
    return of;
  };
  seen.insert(indices([](size_t i, size_t) { return i; }));
  for (const AxisOrder& order : before) seen.insert(indices(order.from));
  for (const AxisOrder& order : all)
    if (seen.insert(indices(order.from)).second) orders.push_back(order);
  return orders;
}

// Index i has the numbers of index from_of(i).
template <class From>
Numbers Reordered(const Numbers& x, const Axis& axis, const From& from_of) {
  Numbers y(x.size());
  for (size_t flat = 0; flat < x.size(); ++flat) {
    const size_t i = flat / axis.inner % axis.extent, from = from_of(i);
    y[flat] = x[flat + (from - i) * axis.inner];  // may wrap around
  }
  return y;
}

std::vector<Axis> AxesOf(const TensorSpec& spec, const Shape& shape) {
  std::vector<Axis> axes;
  size_t inner = 1;
  for (size_t a = shape.size(); a-- > 0; inner *= shape[a])
    if (shape[a] > 1) axes.push_back({spec.extents[a], shape[a], inner});
  return axes;
}

// One index has the numbers of a neighbour.
void AddNeighbours(const Axis& axis, size_t index, std::vector<InputChange>& changes) {
  const auto add = [&](size_t i, size_t from) {
    changes.push_back({WithName("has @ " + std::to_string(from) + " in place of @ " +
                                    std::to_string(i) + ", along #",
                                axis.name),
                       [=](const Tensors& all) {
                         return Reordered(all[index].values.data, axis,
                                          [=](size_t j) { return j == i ? from : j; });
                       }});
  };
  for (size_t i = 0; i < axis.extent; ++i) {
    if (i > 0) add(i, i - 1);
    if (i + 1 < axis.extent) add(i, i + 1);
  }
}

// Some indices are 0: from one on, before one, one alone, every second one.
void AddLost(const Axis& axis, size_t index, std::vector<InputChange>& changes) {
  const auto add = [&](const std::string& text, const std::function<bool(size_t i)>& is_lost) {
    changes.push_back({WithName(text, axis.name), [=](const Tensors& all) {
                         Numbers y = all[index].values.data;
                         for (size_t flat = 0; flat < y.size(); ++flat)
                           if (is_lost(flat / axis.inner % axis.extent)) y[flat] = 0;
                         return y;
                       }});
  };
  const size_t n = axis.extent;
  for (size_t i = 1; i < n; ++i) {
    const std::string at = std::to_string(i);
    add("is 0 from @ " + at + " on, along #", [=](size_t j) { return j >= i; });
    add("is 0 before @ " + at + ", along #", [=](size_t j) { return j < i; });
  }
  if (n < 3) return;
  for (size_t i = 0; i < n; ++i)
    add("is 0 at @ " + std::to_string(i) + ", along #", [=](size_t j) { return j == i; });
  add("is 0 at every odd @, along #", [](size_t j) { return j % 2 == 1; });
  add("is 0 at every even @, along #", [](size_t j) { return j % 2 == 0; });
}

InputChange Ordered(const Axis& axis, const AxisOrder& order, size_t index) {
  return {WithName(order.text, axis.name), [=](const Tensors& all) {
            return Reordered(all[index].values.data, axis,
                             [&](size_t i) { return order.from(i, axis.extent); });
          }};
}

}  // namespace

std::vector<InputChange> InputOrders(const TensorSpec& spec, const Shape& shape, size_t index) {
  std::vector<InputChange> changes;
  for (const Axis& axis : AxesOf(spec, shape)) {
    for (const AxisOrder& order : Different(kSimpleOrders, axis.extent, {}))
      changes.push_back(Ordered(axis, order, index));
  }
  return changes;
}

std::vector<InputChange> RareInputOrders(const TensorSpec& spec, const Shape& shape, size_t index) {
  std::vector<InputChange> changes;
  for (const Axis& axis : AxesOf(spec, shape)) {
    for (const AxisOrder& order : Different(Blocks(axis.extent).Run(), axis.extent, kSimpleOrders))
      changes.push_back(Ordered(axis, order, index));
  }
  for (InputChange& change : MemoryOrders(spec, shape, index)) changes.push_back(std::move(change));
  return changes;
}

std::vector<InputChange> InputParts(const TensorSpec& spec, const Shape& shape, size_t index) {
  constexpr size_t kMost = 64;  // of longer axes the parts are too many
  std::vector<InputChange> changes;
  for (const Axis& axis : AxesOf(spec, shape)) {
    if (axis.extent > kMost) continue;
    AddLost(axis, index, changes);
    AddNeighbours(axis, index, changes);
  }
  return changes;
}

std::vector<InputPlace> InputPlaces(const TensorSpec& spec, const Shape& shape) {
  constexpr size_t kMost = 8;
  std::vector<InputPlace> places;
  for (const Axis& axis : AxesOf(spec, shape)) {
    for (size_t i = 0; i < axis.extent && axis.extent <= kMost; ++i)
      places.push_back({"at_" + axis.name + "_" + std::to_string(i),
                        WithName("at @ " + std::to_string(i) + ", along #", axis.name),
                        [=](size_t flat) { return flat / axis.inner % axis.extent == i; }});
  }
  return places;
}

}  // namespace sextant::oracle
