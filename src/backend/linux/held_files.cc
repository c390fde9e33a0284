#include "backend/linux/held_files.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "backend/linux/cgroup_file.h"

namespace cordon::linux_backend {

void HeldFiles::hold(int dir, std::string path) {
  const auto same = [&](const Held& held) { return held.dir == dir && held.path == path; };
  if (std::ranges::any_of(held_, same)) return;
  base::Fd file = base::move_up(open_file(dir, path.c_str(), O_RDONLY));
  if (file) held_.push_back({.dir = dir, .path = std::move(path), .file = std::move(file)});
}

std::optional<std::string> HeldFiles::read(int dir, const std::string& path) const {
  for (const Held& held : held_) {
    if (held.dir == dir && held.path == path) return read_value(held.file.get());
  }
  const base::Fd file = open_file(dir, path.c_str(), O_RDONLY);
  return file ? read_value(file.get()) : std::nullopt;
}

}  // namespace cordon::linux_backend
