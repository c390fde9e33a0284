// An index of the log in SQLite, so that a question about a few runs need not read all of it.
//
// It can be thrown away at any time: it is made from the log, brought up to date before each
// question, and made anew when it does not fit the log, is damaged, or is somebody else's. It tells
// where records are; they are read from the log itself. Verification never asks it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "audit/directory.h"
#include "audit/filter.h"
#include "audit/reader.h"
#include "cordon/error.h"

namespace cordon::audit {

// Beside the log, if that is the caller's; otherwise the index is made in memory each time.
inline constexpr const char* kIndexFile = "index.sqlite";

// Where the records are that match, in order; with `most` > 0 only the last so many.
[[nodiscard]] Result<std::vector<Position>> find_records(const Directory& directory,
                                                         const Filter& filter, std::uint64_t most);

// Ids of runs that begin so: none, one, or the first two of more.
[[nodiscard]] Result<std::vector<std::string>> find_runs(const Directory& directory,
                                                         const std::string& prefix);

}  // namespace cordon::audit
