#include "backend/linux/script_builder.h"

#include <asm/unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace cordon::linux_backend {

using spawner::kArena;
using spawner::Op;
using spawner::Script;
using spawner::Step;

namespace {

constexpr std::size_t kAlignment = 8;

std::size_t aligned(std::size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

Register::operator Operand() const {
  Operand operand(number);
  operand.is_register = true;
  return operand;
}

ScriptBuilder::ScriptBuilder(Kind kind) : kind_(kind), data_(sizeof(Script)) {
  // 0 stands for "no register".
  for (int r = spawner::kRegisters - 1; r > 0; --r) {
    free_registers_.push_back(static_cast<std::uint8_t>(r));
  }
  topics_.push_back({"set-up", ""});
}

std::uint64_t ScriptBuilder::bytes(const void* data, std::size_t size) {
  const std::size_t offset = aligned(data_.size());
  data_.resize(offset + size);
  if (size > 0) std::memcpy(data_.data() + offset, data, size);
  return kArena + offset;
}

std::uint64_t ScriptBuilder::text(std::string_view text) {
  const std::uint64_t at = bytes(text.data(), text.size());
  data_.push_back('\0');
  return at;
}

std::uint64_t ScriptBuilder::texts(const std::vector<std::string>& all,
                                   const std::vector<std::uint64_t>& others) {
  std::vector<std::uint64_t> pointers;
  pointers.reserve(all.size() + others.size() + 1);
  for (const std::string& one : all) pointers.push_back(text(one));
  pointers.insert(pointers.end(), others.begin(), others.end());
  pointers.push_back(0);
  return bytes(pointers.data(), pointers.size() * sizeof(pointers[0]));
}

int ScriptBuilder::send_fd(int fd) {
  const int before = static_cast<int>(fds_.size());
  fds_.push_back(fd);
  if (kind_ == Kind::set_up) return spawner::kFirstFd + before;
  return before <= 2 ? before : spawner::kFirstLetterFd + before - 3;
}

void ScriptBuilder::about(std::string name, std::string argument) {
  topics_.push_back({std::move(name), std::move(argument)});
}

Step& ScriptBuilder::add(Op op, std::initializer_list<Operand> args) {
  if (std::ranges::find(left_out_, topics_.back().name) != left_out_.end()) return scrap_;
  Part& part = parts_[static_cast<int>(role_)];
  Step& step = part.steps.emplace_back();
  part.topics.push_back(static_cast<std::uint32_t>(topics_.size() - 1));
  step.op = op;
  int index = 0;
  for (const Operand& arg : args) {
    step.args[index] = arg.value;
    if (arg.is_register) step.from_register |= static_cast<std::uint8_t>(1U << index);
    ++index;
  }
  return step;
}

Register ScriptBuilder::take_register() {
  if (free_registers_.empty()) {
    too_large_ = true;
    return {};
  }
  const Register taken{free_registers_.back()};
  free_registers_.pop_back();
  return taken;
}

void ScriptBuilder::call(long number, std::initializer_list<Operand> args, int tolerated) {
  Step& step = add(Op::call, args);
  step.number = static_cast<std::int32_t>(number);
  step.tolerated = static_cast<std::uint8_t>(tolerated);
}

Register ScriptBuilder::call_into(long number, std::initializer_list<Operand> args) {
  Step& step = add(Op::call, args);
  step.number = static_cast<std::int32_t>(number);
  const Register result = take_register();
  step.into = result.number;
  return result;
}

void ScriptBuilder::op(Op op, std::initializer_list<Operand> args) { add(op, args); }

Register ScriptBuilder::op_into(Op op, std::initializer_list<Operand> args) {
  Step& step = add(op, args);
  const Register result = take_register();
  step.into = result.number;
  return result;
}

void ScriptBuilder::close(Register fd) {
  call(__NR_close, {fd});
  free_registers_.push_back(fd.number);
}

void ScriptBuilder::fail_step(spawner::Role role, std::size_t step) {
  constexpr int kNoSuchCall = -1;
  parts_[static_cast<int>(role)].steps.at(step) = {.op = Op::call, .number = kNoSuchCall};
}

void ScriptBuilder::crash_step(spawner::Role role, std::size_t step) {
  parts_[static_cast<int>(role)].steps.at(step) = {.op = Op::store, .args = {0, 0}};
}

void ScriptBuilder::insert_step(spawner::Role role, std::size_t step, const Step& before) {
  Part& part = parts_[static_cast<int>(role)];
  const std::uint32_t topic = part.topics.at(step);
  const auto at = static_cast<std::ptrdiff_t>(step);
  part.steps.insert(part.steps.begin() + at, before);
  part.topics.insert(part.topics.begin() + at, topic);
}

const ScriptBuilder::Explanation& ScriptBuilder::explain(spawner::Role role,
                                                         std::uint32_t step) const {
  const auto index = static_cast<std::size_t>(role);
  if (index >= spawner::kRoles || step >= parts_[index].topics.size()) return topics_.front();
  return topics_[parts_[index].topics[step]];
}

std::vector<char> ScriptBuilder::finish() {
  Script script{};
  script.clone_flags = clone_flags_;
  script.cgroup_fd = cgroup_fd_;
  script.fd_count = static_cast<std::uint32_t>(fds_.size());
  for (int role = 0; role < spawner::kRoles; ++role) {
    const auto& steps = parts_[role].steps;
    script.sections[role] = {.steps = bytes(steps.data(), steps.size() * sizeof(Step)),
                             .count = steps.size()};
  }
  script.size = data_.size();
  std::memcpy(data_.data(), &script, sizeof script);
  if (too_large_ || data_.size() > spawner::kArenaSize - spawner::kMostBytes ||
      fds_.size() > spawner::kMostFds)
    return {};
  return std::move(data_);
}

}  // namespace cordon::linux_backend
