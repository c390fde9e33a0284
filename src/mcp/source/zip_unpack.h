// An archive's files into a directory of ours.
#pragma once

#include <string_view>

#include "cordon/error.h"
#include "mcp/source/zip_archive.h"

namespace cordon::mcp {

// Unpacks all of `archive` (called `file` in messages) into the directory behind `directory`, which
// is empty and which nobody else writes to. Files get mode 0644, or 0755 if the archive says that
// they can be executed; directories 0755. Nothing is replaced and no link is followed or made.
// Errors: those of read_zip() and unpack_entry(), the OS's. After one, what is there is worth
// nothing.
[[nodiscard]] Result<void> unpack_zip(std::string_view archive, std::string_view file,
                                      int directory, const ZipLimits& limits = {});

}  // namespace cordon::mcp
