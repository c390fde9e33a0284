// Brings an index up to date with its log.
#pragma once

#include "audit/database.h"
#include "audit/directory.h"
#include "cordon/error.h"

namespace cordon::audit {

// Adds what the log has more than the index; makes the index anew if it is not of this log. Errors:
// of stage "index" (the database), or of the log.
[[nodiscard]] Result<void> update_index(const Database& database, const Directory& directory);

}  // namespace cordon::audit
