#include "reference/number/exact/interval_caches.h"

#include <mpfr.h>

namespace sextant {

void FreeMpfrCachesAtThreadExit() {
  struct Caches {
    ~Caches() { mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); }
  };
  static thread_local Caches caches;
}

}  // namespace sextant
