#include "sandbox/inside_processes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/errors.h"
#include "base/printable.h"

namespace cordon::sandbox {
namespace {

using base::fail;

template <typename Value>
Result<void> within(const std::optional<Value>& asked, const std::optional<Value>& most,
                    const char* field) {
  if (!asked || !most || *asked <= *most) return {};
  return fail(ErrorCode::not_permitted, field,
              std::string("limits.") + field +
                  " is more than the sandbox has: ask for less, or create it with more");
}

Result<void> within(const Limits& asked, const Limits& most) {
  for (auto judged : {within(asked.cpu_time, most.cpu_time, "cpu_time"),
                      within(asked.cpu_millicores, most.cpu_millicores, "cpu_millicores"),
                      within(asked.memory_bytes, most.memory_bytes, "memory_bytes"),
                      within(asked.file_size_bytes, most.file_size_bytes, "file_size_bytes"),
                      within(asked.open_files, most.open_files, "open_files"),
                      within(asked.processes, most.processes, "processes"),
                      within(asked.output_bytes, most.output_bytes, "output_bytes")}) {
    if (!judged) return judged;
  }
  return {};
}

std::unexpected<Error> over(const std::string& program) {
  return fail(ErrorCode::wrong_state, "create",
              "cannot make a process for " + program + ": the sandbox has ended");
}

}  // namespace

InsideProcesses::InsideProcesses(Manager& outside, Request bounds)
    : outside_(outside), bounds_(std::move(bounds)) {}

void InsideProcesses::close() {
  std::vector<Entry> ending;
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    ending = entries_;
  }
  for (const Entry& entry : ending) {
    entry.ending->source.request_stop();  // for those that have not been started
    if (const auto process = entry.process.lock()) (void)process->kill();
  }
}

Result<Request> InsideProcesses::bounded(Request request) const {
  request.limits = with_defaults(request.limits, default_limits());
  if (auto judged = within(request.limits, bounds_.limits); !judged) {
    return std::unexpected(std::move(judged.error()));
  }
  if (request.network > bounds_.network) {
    return fail(ErrorCode::not_permitted, "network",
                "network is more than the sandbox has: create it with that network");
  }
  if (!request.root.empty() && request.root != bounds_.root) {
    return fail(ErrorCode::not_permitted, "root", "root is not the sandbox's: leave it out");
  }
  for (const Grant& grant : request.grants) {
    if (std::ranges::find(bounds_.grants, grant) != bounds_.grants.end()) continue;
    return fail(ErrorCode::not_permitted, "grants",
                "grants: " + base::printable(grant.source.empty() ? grant.target : grant.source) +
                    " is not granted to the sandbox: create it with that");
  }
  if (request.user && request.user != bounds_.user) {
    return fail(ErrorCode::not_permitted, "user", "user is not the sandbox's: leave it out");
  }
  return request;
}

Result<std::shared_ptr<Process>> InsideProcesses::create(Request request) {
  auto within_bounds = bounded(std::move(request));
  if (!within_bounds) return std::unexpected(std::move(within_bounds.error()));
  const std::string program = within_bounds->program;
  auto ending = std::make_shared<Ending>(within_bounds->cancel);
  within_bounds->cancel = ending->source.get_token();
  auto process = outside_.create(*std::move(within_bounds));
  if (!process) return process;

  std::vector<Entry> gone;  // dropped without the lock: that may wait for somebody who wants it
  const std::scoped_lock lock(mutex_);
  if (closed_) return over(program);
  std::vector<Entry> left;
  for (Entry& entry : entries_) {
    (entry.process.expired() ? gone : left).push_back(std::move(entry));
  }
  entries_ = std::move(left);
  entries_.push_back({.process = *process, .ending = std::move(ending)});
  return process;
}

Result<Plan> InsideProcesses::plan(const Request& request) const {
  auto within_bounds = bounded(request);
  if (!within_bounds) return std::unexpected(std::move(within_bounds.error()));
  return outside_.plan(*within_bounds);
}

Result<std::shared_ptr<Process>> InsideProcesses::get(ProcessId id) const {
  for (auto& process : list()) {
    if (process->id() == id) return std::move(process);
  }
  return fail(ErrorCode::not_found, "get", "no process " + std::to_string(id) + " in this sandbox");
}

std::vector<std::shared_ptr<Process>> InsideProcesses::list() const {
  std::vector<std::shared_ptr<Process>> all;
  const std::scoped_lock lock(mutex_);
  for (const Entry& entry : entries_) {
    if (auto process = entry.process.lock()) all.push_back(std::move(process));
  }
  return all;
}

Result<void> InsideProcesses::set_default_limits(const Limits& limits) {
  if (auto valid = validate(limits); !valid) return valid;
  const std::scoped_lock lock(mutex_);
  default_limits_ = limits;
  return {};
}

Limits InsideProcesses::default_limits() const {
  const std::scoped_lock lock(mutex_);
  return with_defaults(default_limits_, bounds_.limits);
}

}  // namespace cordon::sandbox
