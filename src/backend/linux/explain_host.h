// Looks at the host for a report: whether a path exists there, for the caller.
//
// Without side effects, since a sandboxed program chooses the paths: nothing is opened but as a
// place (O_PATH), one name at a time, links are resolved as text, and what is mounted over a
// network or on demand is not entered.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backend/linux/explain_judge.h"

namespace cordon::linux_backend {

// Of a text as /proc/self/mountinfo: mount points of file systems that may hang, mount something or
// ask somebody when they are looked at.
[[nodiscard]] std::vector<std::string> places_to_avoid(std::string_view mountinfo);

class HostFiles {
 public:
  // `avoid`: mount points; /proc is among them in any case.
  explicit HostFiles(std::vector<std::string> avoid);

  [[nodiscard]] HostFile find(const std::string& path) const;

 private:
  [[nodiscard]] bool avoided(std::string_view path) const;

  std::vector<std::string> avoid_;
};

}  // namespace cordon::linux_backend
