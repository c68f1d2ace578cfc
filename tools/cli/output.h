// Standard output.
#pragma once

namespace sextant::tools {

// Writes what was printed. Throws Error with the reason if standard output cannot be written, for
// example because the reader of the pipe has ended.
void FlushOutput();

}  // namespace sextant::tools
