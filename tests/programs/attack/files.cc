// Files and devices that were not given.
#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "attack.h"

namespace attack {
namespace {

void read_file(Args args) {
  const int fd = ::open(args[0], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) stopped("open");
  char byte = 0;
  const ssize_t n = ::read(fd, &byte, 1);
  if (n == 0) stopped("it is empty", ENODATA);
  judge("read", n);
}

void open_to_write(Args args) {
  for (char* const path : args) {
    if (::open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK) >= 0) reached(path);
  }
  stopped("open for writing");
}

void open_to_read(Args args) {
  for (char* const path : args) {
    if (::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) >= 0) reached(path);
  }
  stopped("open for reading");
}

void create(Args args) {
  judge("create", ::open(args[0], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
}

void remove_file(Args args) { judge("unlink", ::unlink(args[0])); }

void list(Args args) {
  DIR* const folder = ::opendir(args[0]);
  if (folder == nullptr) stopped("opendir");
  while (const dirent* const entry = ::readdir(folder)) {
    if (entry->d_name[0] != '.') reached(entry->d_name);
  }
  stopped("it is empty", ENODATA);
}

void see(Args args) {
  struct stat found{};
  judge("lstat", ::lstat(args[0], &found));
}

// Any of these.
void may_write(Args args) {
  for (char* const path : args) {
    if (::faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0) reached(path);
  }
  stopped("access");
}

void link_file(Args args) { judge("link", ::link(args[0], args[1])); }

void make_disk_node(Args args) {
  judge("mknod", ::mknod(args[0], S_IFBLK | 0600, ::makedev(7, 0)));
}

// A handle names a file past every path: MOUNT TYPE HEX.
void open_by_handle(Args args) {
  alignas(file_handle) char place[sizeof(file_handle) + MAX_HANDLE_SZ]{};
  auto* const handle = reinterpret_cast<file_handle*>(place);
  handle->handle_type = std::atoi(args[1]);
  const std::string hex = args[2];
  for (std::size_t i = 0; i + 1 < hex.size() && i / 2 < MAX_HANDLE_SZ; i += 2) {
    place[sizeof(file_handle) + i / 2] =
        static_cast<char>(std::strtoul(hex.substr(i, 2).c_str(), nullptr, 16));
  }
  handle->handle_bytes = static_cast<unsigned>(hex.size() / 2);
  const int mount = ::open(args[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (mount < 0) untried("opening the mount");
  judge("open_by_handle_at", ::open_by_handle_at(mount, handle, O_RDONLY));
}

// What an executable with this does as root, without being setuid.
void file_capability(Args args) {
  const int fd = ::open(args[0], O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
  if (fd < 0) untried("create");
  vfs_cap_data data{};
  data.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE;
  data.data[0].permitted = 1U << CAP_NET_RAW;
  judge("setxattr", ::fsetxattr(fd, "security.capability", &data, sizeof data, 0));
}

constexpr Entry kAll[] = {
    {"read", read_file, 1},
    {"open-to-write", open_to_write, 1},
    {"open-to-read", open_to_read, 1},
    {"create", create, 1},
    {"remove", remove_file, 1},
    {"list", list, 1},
    {"see", see, 1},
    {"may-write", may_write, 1},
    {"link", link_file, 2},
    {"disk-node", make_disk_node, 1},
    {"open-by-handle", open_by_handle, 3},
    {"file-capability", file_capability, 1},
};

}  // namespace

std::span<const Entry> file_attacks() { return kAll; }

}  // namespace attack
