// 5,000 programs alive at once, stdout and stderr of each on a pipe: what one costs the kernel and
// what it costs us. Each round is a process of its own, so that none inherits another's heap.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cordon/manager.h"
#include "support/bare.h"
#include "support/figure.h"
#include "support/memory_use.h"
#include "support/samples.h"

namespace {

using namespace cordon::bench;  // NOLINT(google-build-using-namespace)

constexpr std::size_t kCrowd = 5000;
constexpr std::size_t kRounds = 3;  // of each kind
constexpr double kKibi = 1024;

// Growth a program, in bytes; plain data, sent through a pipe.
struct Cost {
  double slab;
  double stacks;
  double page_tables;
  double heap;
  double resident;
  double seconds;  // to start one
};

// The kernel frees and accounts some things a little later.
void settle() { std::this_thread::sleep_for(std::chrono::milliseconds(300)); }

template <typename Start>
Cost measure(const Start& start) {
  settle();
  const KernelMemory kernel = kernel_memory();
  const OwnMemory own = own_memory();
  const double time = seconds(start);
  settle();
  const OwnMemory own_after = own_memory();
  const KernelMemory kernel_after = kernel_memory();
  const auto each = [](auto before, auto after) {
    return static_cast<double>(after - before) / static_cast<double>(kCrowd);
  };
  return {.slab = each(kernel.slab, kernel_after.slab),
          .stacks = each(kernel.stacks, kernel_after.stacks),
          .page_tables = each(kernel.page_tables, kernel_after.page_tables),
          .heap = each(own.heap, own_after.heap),
          .resident = each(own.resident, own_after.resident),
          .seconds = time / static_cast<double>(kCrowd)};
}

Cost measure_bare() {
  BareSpawn bare(program("blocks"));
  std::vector<pid_t> pids;
  pids.reserve(kCrowd);
  const Cost cost = measure([&] {
    for (std::size_t i = 0; i < kCrowd; ++i) {
      int out[2];
      int err[2];
      if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) give_up("pipe2 failed");
      bare.set_stdio({-1, out[1], err[1]});
      pids.push_back(bare.start());
      ::close(out[1]);
      ::close(err[1]);
    }
  });
  for (const pid_t pid : pids) ::kill(pid, SIGKILL);
  for (const pid_t pid : pids) BareSpawn::wait(pid);
  return cost;
}

Cost measure_ours() {
  auto manager = cordon::posix_manager();
  if (!manager) give_up(manager.error().message);
  std::vector<std::shared_ptr<cordon::Process>> processes;
  processes.reserve(kCrowd);
  const cordon::Request request{.program = program("blocks")};
  const Cost cost = measure([&] {
    for (std::size_t i = 0; i < kCrowd; ++i) {
      auto process = (*manager)->create(request);
      if (!process) give_up(process.error().message);
      if (auto started = (*process)->start(); !started) give_up(started.error().message);
      processes.push_back(std::move(*process));
    }
  });
  processes.clear();
  manager->reset();  // ends them all
  return cost;
}

// Runs `round` in a process of its own.
Cost apart(Cost (*round)()) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) give_up("pipe2 failed");
  const pid_t pid = ::fork();
  if (pid == 0) {
    const Cost cost = round();
    const bool sent = ::write(ends[1], &cost, sizeof cost) == sizeof cost;
    ::_exit(sent ? 0 : 1);
  }
  ::close(ends[1]);
  Cost cost{};
  const ssize_t got = ::read(ends[0], &cost, sizeof cost);
  ::close(ends[0]);
  BareSpawn::wait(pid);
  if (got != sizeof cost) give_up("a round of the crowd failed");
  return cost;
}

void allow_many_descriptors() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t needed = 3 * kCrowd + 100;  // two pipes and a pidfd each
  if (limit.rlim_cur < needed) give_up(fmt::format("needs {} descriptors (ulimit -n)", needed));
}

struct Crowd {
  Samples slab, stacks, page_tables, heap, resident, seconds;
  void add(const Cost& cost) {
    slab.add(cost.slab);
    stacks.add(cost.stacks);
    page_tables.add(cost.page_tables);
    heap.add(cost.heap);
    resident.add(cost.resident);
    seconds.add(cost.seconds);
  }
};

void report_bytes(const std::string& name, const Samples& ours, const Samples* bare, double most) {
  const auto text = [](double bytes) { return fmt::format("{:.1f} KiB", bytes / kKibi); };
  Figure figure{.name = fmt::format("{} children, {}", kCrowd, name),
                .measured = text(ours.p50()),
                .samples = ours.size()};
  if (bare != nullptr) {
    figure.baseline = text(bare->p50());
    figure.ratio = ours.p50() / bare->p50();
  }
  if (most > 0) {
    figure.goal = fmt::format("≤ {:.0f} KiB each", most / kKibi);
    figure.met = ours.p50() <= most;
  }
  report(figure);
}

}  // namespace

int main() {
  reduce_environment();
  allow_many_descriptors();
  Crowd bare;
  Crowd ours;
  interleave(
      kRounds, 1, [&] { bare.add(apart(measure_bare)); }, [&] { ours.add(apart(measure_ours)); });

  report_bytes("kernel: slab", ours.slab, &bare.slab, 24 * kKibi);
  report_bytes("kernel: stack", ours.stacks, &bare.stacks, 0);
  report_bytes("kernel: page tables", ours.page_tables, &bare.page_tables, 0);
  report_bytes("ours: heap", ours.heap, nullptr, 4 * kKibi);
  report_bytes("ours: resident", ours.resident, nullptr, 4 * kKibi);
  report({.name = fmt::format("{} children, start of one", kCrowd),
          .measured = fmt::format("{:.0f} µs", ours.seconds.p50() * 1e6),
          .baseline = fmt::format("{:.0f} µs", bare.seconds.p50() * 1e6),
          .ratio = ours.seconds.p50() / bare.seconds.p50(),
          .samples = ours.seconds.size()});
}
