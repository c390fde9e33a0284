#include <algorithm>
#include <limits>
#include <vector>

#include "policy/judges.h"
#include "policy/values.h"

namespace cordon::policy {
namespace {

template <typename T>
using Field = Ask<T> LimitValues::*;

// The lowest of all ceilings.
template <typename T>
Ask<T> lowest(const Policy& policy, LimitValues Ceiling::* part, Field<T> field) {
  Ask<T> least;
  for (const Ceiling& ceiling : policy.ceilings) {
    const Ask<T>& one = ceiling.*part.*field;
    if (one && (!least || one->value < least->value)) least = one;
  }
  return least;
}

// One limit: the asks for it, and what is used without one.
template <typename T>
struct Limit {
  const char* name;
  const char* option;  // of the command
  Field<T> field;
  std::string (*text)(T value);
  std::optional<T> requested;
  std::optional<T> usual;
};

// What the run gets; nothing if nobody has an opinion.
template <typename T>
std::optional<T> judge(const Case& all, const Limit<T>& limit) {
  const Ask<T> bound = lowest(all.policy, &Ceiling::limits, limit.field);
  std::vector<Placed<T>> asks;
  if (limit.requested) asks.push_back({*limit.requested, option(limit.option)});
  if (all.asks.manifest) {
    if (const Ask<T>& ask = all.asks.manifest->limits.*limit.field) asks.push_back(*ask);
  }
  for (const auto& ask : asks) {
    const std::string value = limit.text(ask.value);
    if (!bound || ask.value <= bound->value) {
      all.allow(limit.name, value, bound ? bound->place : Place{}, ask.place);
      continue;
    }
    all.refuse(limit.name, value, bound->place, ask.place,
               to_string(ask.place) + ": " + limit.name + " " + value + " is more than " +
                   to_string(bound->place) + " allows (" + limit.text(bound->value) +
                   "): ask for no more than that, or raise the limit there");
  }
  if (!asks.empty()) {
    return bound ? std::min(asks.front().value, bound->value) : asks.front().value;
  }
  // Nobody asks: the policy's own default, or the usual one, but never more than is allowed.
  Ask<T> preferred = lowest(all.policy, &Ceiling::defaults, limit.field);
  if (!preferred) preferred = all.surroundings.preferred.*limit.field;
  if (!preferred && !bound) return std::nullopt;
  T value = preferred ? preferred->value : limit.usual.value_or(bound ? bound->value : T{});
  Place decided = preferred ? preferred->place : Place{};
  if (bound && bound->value <= value) {
    value = bound->value;
    decided = bound->place;
  }
  all.allow(limit.name, limit.text(value), decided, {});
  return value;
}

template <typename T>
std::optional<T> unless(T value, T unset) {
  return value == unset ? std::optional<T>() : std::optional<T>(value);
}

std::optional<std::uint64_t> widened(const std::optional<std::uint32_t>& value) {
  return value ? std::optional<std::uint64_t>(*value) : std::nullopt;
}

void judge_times(const Case& all, Request& request) {
  const Request& asked = all.asks.request;
  const auto timeout =
      judge<Duration>(all, {"timeout", "--timeout", &LimitValues::timeout, duration_text,
                            unless(asked.timeout, Duration{0}), kDefaultTimeout});
  if (timeout) request.timeout = *timeout;
  const auto grace = judge<Duration>(all, {"grace", "--grace", &LimitValues::grace, duration_text,
                                           unless(asked.grace, kDefaultGrace), kDefaultGrace});
  if (grace) request.grace = *grace;
  if (const auto cpu = judge<Duration>(all, {"cpu_time",
                                             "--cpu-time",
                                             &LimitValues::cpu_time,
                                             duration_text,
                                             asked.limits.cpu_time,
                                             {}})) {
    request.limits.cpu_time = cpu;
  }
}

// Runs that are alive already (C124).
void judge_live_runs(const Case& all) {
  const auto bound = most_live_runs(all.policy);
  if (!bound) return;
  const std::string live = std::to_string(all.surroundings.live_runs);
  if (all.surroundings.live_runs < bound->value) {
    all.allow("max_processes", live + " alive", bound->place, {});
    return;
  }
  all.refuse("max_processes", live + " alive", bound->place, {},
             live + " runs are alive, and " + to_string(bound->place) + " allows " +
                 std::to_string(bound->value) + ": wait for one to end, or raise max_processes");
}

}  // namespace

void judge_limits(const Case& all) {
  Request& request = all.result.request;
  const Limits& asked = all.asks.request.limits;
  const Limits& usual = all.surroundings.usual;
  Limits& limits = request.limits;
  judge_times(all, request);
  const auto count = [&](Limit<std::uint64_t> limit, auto& field) {
    const auto value = judge<std::uint64_t>(all, limit);
    using Value = typename std::remove_reference_t<decltype(field)>::value_type;
    if (value)
      field =
          static_cast<Value>(std::min<std::uint64_t>(*value, std::numeric_limits<Value>::max()));
  };
  count({"cpu", "--cpus", &LimitValues::cpu, millicores_text, widened(asked.cpu_millicores),
         widened(usual.cpu_millicores)},
        limits.cpu_millicores);
  count({"memory", "--memory", &LimitValues::memory, size_text, asked.memory_bytes,
         usual.memory_bytes},
        limits.memory_bytes);
  count({"pids", "--pids", &LimitValues::pids, count_text, asked.processes, usual.processes},
        limits.processes);
  count({"files", "--files", &LimitValues::files, count_text, asked.open_files, usual.open_files},
        limits.open_files);
  count({"file_size", "--file-size", &LimitValues::file_size, size_text, asked.file_size_bytes,
         usual.file_size_bytes},
        limits.file_size_bytes);
  count({"output", "--output", &LimitValues::output, size_text, asked.output_bytes,
         usual.output_bytes},
        limits.output_bytes);
  const std::uint32_t kept = Request{}.event_buffer;
  std::optional<std::uint32_t> buffer;
  count({"max_output_buffer", "event_buffer", &LimitValues::max_output_buffer, size_text,
         widened(unless(all.asks.request.event_buffer, kept)), kept},
        buffer);
  if (buffer) request.event_buffer = *buffer;
  judge_live_runs(all);
}

bool gives_workdir(const Policy& policy) {
  return std::ranges::any_of(policy.ceilings, [](const Ceiling& one) {
    return one.defaults.workdir && one.defaults.workdir->value;
  });
}

Ask<std::uint64_t> most_live_runs(const Policy& policy) {
  return lowest(policy, &Ceiling::limits, &LimitValues::max_processes);
}

}  // namespace cordon::policy
