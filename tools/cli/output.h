// Standard output.
#pragma once

namespace sextant::tools {

// Writes what was printed. Throws Error with the reason if standard output cannot be written, and
// ClosedOutput (tools/api/line_stream.h) if nobody reads it any longer.
void FlushOutput();

}  // namespace sextant::tools
