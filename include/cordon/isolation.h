// What a sandboxed program gets of the host. Plain data.
//
// A sandbox starts from nothing: besides the system's directories, read-only, and the working
// directory, read-only, a program sees only what these ask for.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace cordon {

// A part of the file system for the program.
struct Grant {
  enum class Kind : std::uint8_t { read, write, tmpfs };
  Kind kind = Kind::read;
  std::string source{};    // on the host, absolute; tmpfs: unused
  std::string target{};    // inside, absolute; empty: as `source`
  std::uint64_t size = 0;  // tmpfs: most bytes it holds; 0: kDefaultTmpfsSize

  static Grant read(std::string path) { return {Kind::read, std::move(path), {}, 0}; }
  static Grant write(std::string path) { return {Kind::write, std::move(path), {}, 0}; }
  static Grant bind(std::string source, std::string target, Kind kind) {
    return {kind, std::move(source), std::move(target), 0};
  }
  static Grant tmpfs(std::string path, std::uint64_t size = 0) {
    return {Kind::tmpfs, {}, std::move(path), size};
  }

  friend bool operator==(const Grant&, const Grant&) = default;
};

inline constexpr std::uint64_t kDefaultTmpfsSize = std::uint64_t{64} * 1024 * 1024;

enum class Network : std::uint8_t {
  none,      // no interface is up
  loopback,  // a loopback of its own, which reaches nothing outside the sandbox
  host,      // the caller's network
};

// Ids on the host that the program runs under.
struct User {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;

  friend bool operator==(const User&, const User&) = default;
};

}  // namespace cordon
