// System calls that name files or addresses: which, and by which of their arguments. Pure.
#pragma once

#include <linux/seccomp.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cordon::linux_backend {

// What a call means to do with a file.
enum class Use : std::uint8_t {
  look,            // stat, readlink, chdir
  read,            // open
  execute,         //
  write,           // open, or change what is there: chmod, truncate
  create,          // open, make it if need be
  make,            // what is there already is not touched: link, mknod, symlink
  make_directory,  //
  replace,         // rename to this
  remove,          // unlink, rmdir, rename from this
};

// Addresses are those of the program's memory.
struct NamedPath {
  int directory = 0;  // a descriptor of the program, or AT_FDCWD
  std::uint64_t address = 0;
  Use use = Use::look;
  bool follow = true;  // a symbolic link at its end
};
struct NamedSocket {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  bool send = false;  // else connect
};
struct Named {
  std::vector<NamedPath> paths;
  std::optional<NamedSocket> socket;
};

// Numbers of the calls; all of them are allowed, some with conditions.
[[nodiscard]] std::span<const int> observed_calls();

// What this call names. Nothing, of one that is not observed.
[[nodiscard]] Named named_by(const seccomp_data& call);

}  // namespace cordon::linux_backend
