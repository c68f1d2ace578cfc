#include "reference/prove/slice_evaluation.h"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <mutex>

namespace sextant {
namespace {

constexpr size_t kSliceElements = size_t{1} << 15;  // a few MiB of big numbers

}  // namespace

Tensors TakeInputs(const Case& c, const Tensors& inputs, const Slice& slice) {
  Tensors part;
  for (size_t i = 0; i < inputs.size(); ++i) {
    part.push_back({inputs[i].name, inputs[i].dtype,
                    Take(inputs[i].values, c.info().signature.inputs[i], slice)});
  }
  return part;
}

Tensors TakeOwn(const Case& c, const Tensors* own, const Slice& slice) {
  Tensors part;
  if (!own) return part;
  for (const TensorSpec& spec : c.info().signature.outputs) {
    const auto at = std::ranges::find(*own, spec.name, &NamedTensor::name);
    if (at != own->end()) part.push_back({at->name, at->dtype, Take(at->values, spec, slice)});
  }
  return part;
}

void ForEachSlice(const Case& c, const ProveOptions& options,
                  const std::function<void(const Slice&)>& work) {
  const std::vector<Slice> slices = CutCase(c, kSliceElements);
  std::mutex mutex;
  size_t done = 0;
  // More threads than cores are nobody's loss; without this TBB would grumble on stderr.
  const int threads = options.threads > 0 ? options.threads : tbb::info::default_concurrency();
  const tbb::global_control allowed(tbb::global_control::max_allowed_parallelism,
                                    static_cast<size_t>(threads));
  tbb::task_arena arena(threads);
  arena.execute([&] {
    tbb::parallel_for(size_t{0}, slices.size(), [&](size_t i) {
      work(slices[i]);
      if (!options.progress) return;
      const std::lock_guard lock(mutex);
      options.progress(static_cast<double>(++done) / static_cast<double>(slices.size()));
    });
  });
}

}  // namespace sextant
