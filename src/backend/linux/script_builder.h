// Compiles set-up steps into a script for the spawner. Pure: no system call is made here.
//
// Each mechanism's file (namespaces.cc, mounts.cc, landlock.cc …) adds its steps through this. What
// a step is called is kept beside it, so that a failure can be explained by the supervisor.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/linux/spawner/script.h"

namespace cordon::linux_backend {

// An argument of a step: a number, or what an earlier step put into a register.
struct Operand {
  std::uint64_t value = 0;
  bool is_register = false;

  template <typename T>
  Operand(T number)  // NOLINT(google-explicit-constructor): any integer the kernel takes
      : value(static_cast<std::uint64_t>(number)) {}
};
struct Register {
  std::uint8_t number = 0;
  operator Operand() const;  // NOLINT(google-explicit-constructor)
};

class ScriptBuilder {
 public:
  // The set-up of a sandbox, or what its program gets to do later (spawner/script.h).
  enum class Kind : std::uint8_t { set_up, letter };
  explicit ScriptBuilder(Kind kind = Kind::set_up);
  [[nodiscard]] Kind kind() const { return kind_; }

  // --- data: addresses as the spawner's children will see them ---
  [[nodiscard]] std::uint64_t text(std::string_view text);  // with a NUL behind it
  [[nodiscard]] std::uint64_t bytes(const void* data, std::size_t size);
  template <typename T>
  [[nodiscard]] std::uint64_t object(const T& value) {
    return bytes(&value, sizeof value);
  }
  // A null-terminated array of texts, and of others that are going to be at these addresses.
  [[nodiscard]] std::uint64_t texts(const std::vector<std::string>& all,
                                    const std::vector<std::uint64_t>& others = {});

  // --- descriptors: sent along; borrowed until the script was sent ---
  [[nodiscard]] int send_fd(int fd);  // its number in the spawner's children

  // --- steps ---
  // The following steps are this process's.
  void begin(spawner::Role role) { role_ = role; }
  // What the following steps are about, for the explanation of a failure.
  void about(std::string name, std::string argument = {});
  void call(long number, std::initializer_list<Operand> args, int tolerated = 0);
  [[nodiscard]] Register call_into(long number, std::initializer_list<Operand> args);
  void op(spawner::Op op, std::initializer_list<Operand> args = {});
  [[nodiscard]] Register op_into(spawner::Op op, std::initializer_list<Operand> args);
  // A register that is not needed any more; for a descriptor, adds the step that closes it.
  void close(Register fd);

  // Steps about these are not added: what they guard against must then be seen to happen.
  void leave_out(std::vector<std::string> names) { left_out_ = std::move(names); }

  // For tests of what happens when a step fails: replaces it by a system call that does not exist,
  // or by a crash.
  void fail_step(spawner::Role role, std::size_t step);
  void crash_step(spawner::Role role, std::size_t step);
  // … and of what happens at one: `before` is carried out first.
  void insert_step(spawner::Role role, std::size_t step, const spawner::Step& before);
  [[nodiscard]] const std::vector<spawner::Step>& steps(spawner::Role role) const {
    return parts_[static_cast<int>(role)].steps;
  }

  void clone_flags(std::uint64_t flags) { clone_flags_ = flags; }
  void cgroup_fd(int sent) { cgroup_fd_ = sent; }

  // --- result ---
  struct Explanation {
    std::string name;
    std::string argument;
  };
  [[nodiscard]] const Explanation& explain(spawner::Role role, std::uint32_t step) const;
  [[nodiscard]] const std::vector<int>& fds() const { return fds_; }
  // The message. Empty if it is larger than the spawner takes (too many grants or arguments).
  [[nodiscard]] std::vector<char> finish();

 private:
  struct Part {
    std::vector<spawner::Step> steps;
    std::vector<std::uint32_t> topics;
  };
  spawner::Step& add(spawner::Op op, std::initializer_list<Operand> args);
  [[nodiscard]] Register take_register();

  Kind kind_;
  std::vector<char> data_;  // begins with room for the Script
  Part parts_[spawner::kRoles];
  std::vector<Explanation> topics_;
  std::vector<int> fds_;
  std::vector<std::uint8_t> free_registers_;
  spawner::Role role_ = spawner::Role::setup;
  std::uint64_t clone_flags_ = 0;
  std::int64_t cgroup_fd_ = -1;
  bool too_large_ = false;
  std::vector<std::string> left_out_;
  spawner::Step scrap_;
};

}  // namespace cordon::linux_backend
