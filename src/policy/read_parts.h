// The tables of a policy file, from tree to data; one function a table. What is wrong goes to the
// reader of the table around it.
#pragma once

#include <string>

#include "policy/ceiling.h"
#include "policy/table_reader.h"

namespace cordon::policy {

// What the text of a path may refer to.
struct PathContext {
  std::string home{};  // for "~"; not from $HOME, which is the caller's to choose
};

void read_limits(TableReader& outer, std::string_view name, LimitValues& limits);
void read_programs(TableReader& outer, Ceiling& ceiling);
// paths, allowed_paths, grants.
void read_paths(TableReader& outer, const PathContext& context, Ceiling& ceiling);
// network and filesystem, srt's keys included.
void read_network(TableReader& outer, Ceiling& ceiling);
void read_filesystem(TableReader& outer, const PathContext& context, Ceiling& ceiling);
void read_environment(TableReader& outer, EnvironmentRules& rules);
void read_audit(TableReader& outer, const PathContext& context, Ceiling& ceiling);
void read_secrets(TableReader& outer, const PathContext& context, Ceiling& ceiling);
void read_tools(TableReader& outer, const PathContext& context, Ceiling& ceiling);

// Absolute, "~" replaced, "." and doubled slashes gone; ".." and relative ones are errors.
[[nodiscard]] std::string checked_path(TableReader& reader, const Placed<std::string>& path,
                                       const PathContext& context);
[[nodiscard]] TextList path_list(TableReader& reader, std::string_view name,
                                 const PathContext& context);

[[nodiscard]] std::optional<Network> network_named(std::string_view name);
[[nodiscard]] std::string_view name_of(Network network);

}  // namespace cordon::policy
