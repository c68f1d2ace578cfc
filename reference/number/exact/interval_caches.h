// The memory that MPFR keeps for each thread: constants, and a pool of integers.
#pragma once

namespace sextant {

// Frees that memory when this thread ends. For threads of a caller, which may end before the
// process.
void FreeMpfrCachesAtThreadExit();

}  // namespace sextant
