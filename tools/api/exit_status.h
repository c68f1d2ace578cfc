// What a run of the program says to the shell. "Not verified" is never 0.
#pragma once

namespace sextant::tools {

enum ExitStatus {
  kVerified = 0,       // everything asked was verified and conforms
  kNonconforming = 1,  // something does not conform
  kUsage = 2,          // the call or its input was wrong
  kNotRun = 3,         // a subject could not be run: no verdict
  kNothing = 4,        // nothing to do: no case was selected, or none has an element
  kIncomplete = 5      // something was skipped, unsupported, undecided, or had nothing to verify
};

}  // namespace sextant::tools
