// What exec, connect and cp have in common on the command's side.
#pragma once

#include "admission.h"
#include "cordon/error.h"
#include "cordon/request.h"
#include "run_options.h"
#include "sandbox_record.h"

namespace cordon::app::sandbox {

// The policy's word about a program in the sandbox of this record: the site's, those of the sandbox
// and what the options name. Errors: as of admit(); unsupported, when it has checked a file.
[[nodiscard]] Result<void> admit_inside(RunOptions& options, const Record& record,
                                        Admission admission);

// A request as it is sent to a supervisor: nothing in it depends on who reads it any more.
[[nodiscard]] Request carried(Request request);

// All three streams of the command are terminals.
[[nodiscard]] bool interactive();

// A terminal that goes away ends the command, and leaves the program as it is. To be called after a
// SignalBlock was made, before there are threads.
void let_hangup_detach();

}  // namespace cordon::app::sandbox
