// Takes files out of a directory that a hostile program has written, and may still be changing.
#pragma once

#include "cordon/workdir.h"
#include "workdir/output_directory.h"

namespace cordon::workdir {

// Copies what matches `options.globs` from below the directory behind `top`; see
// WorkDir::collect().
[[nodiscard]] Result<Collected> collect_files(int top, const OutputDirectory& into,
                                              const CollectOptions& options);

}  // namespace cordon::workdir
