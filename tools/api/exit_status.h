// Exit statuses of the program. The status is 0 only if everything was verified.
#pragma once

namespace sextant::tools {

enum ExitStatus {
  kVerified = 0,       // everything was verified and conforms
  kNonconforming = 1,  // something does not conform
  kUsage = 2,          // the call or its input was wrong, or an output could not be written
  kNotRun = 3,         // the subject could not be run: no verdict
  kNothing = 4,        // nothing to do: no case was selected, or no output has an element
  kIncomplete = 5,     // something was skipped, unsupported or undecided, or had nothing to verify
  kClosedOutput = 141  // nobody reads standard output any longer: what a shell says after SIGPIPE
};

}  // namespace sextant::tools
