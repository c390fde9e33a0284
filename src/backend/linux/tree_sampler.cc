#include "backend/linux/tree_sampler.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstring>
#include <ctime>
#include <memory>
#include <set>
#include <thread>

namespace cordon::linux_backend {
namespace {

// A file of /proc; empty if it is gone or not ours to read.
std::string read_text(int folder, const std::string& path) {
  const base::Fd file(::openat(folder, path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return {};
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t n = ::read(file.get(), buffer.data(), buffer.size());
    if (n <= 0) return n == 0 ? text : std::string{};
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

// The names in a folder that are numbers.
std::vector<pid_t> numbers_in(int folder, const std::string& path) {
  std::vector<pid_t> numbers;
  const int fd = ::openat(folder, path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(fd), ::closedir);
  if (!entries) {
    ::close(fd);
    return numbers;
  }
  while (const dirent* entry = ::readdir(entries.get())) {
    const char* const name = entry->d_name;
    pid_t number = 0;
    const auto end = std::from_chars(name, name + std::strlen(name), number);
    if (end.ec == std::errc{} && *end.ptr == '\0') numbers.push_back(number);
  }
  return numbers;
}

std::optional<ProcessStat> stat_of(int proc, pid_t pid) {
  return parse_process_stat(read_text(proc, std::to_string(pid) + "/stat"));
}

Duration from_ticks(std::uint64_t ticks) {
  static const auto kPerSecond = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  return std::chrono::nanoseconds(ticks * (1'000'000'000 / kPerSecond));
}

// Of this thread.
Duration processor_time() {
  timespec t{};
  (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

}  // namespace

TreeSampler::TreeSampler(pid_t init, pid_t program, std::uint64_t memory_limit, bool children_files)
    : init_(init),
      program_(program),
      memory_limit_(memory_limit),
      proc_(::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  const std::string self = std::to_string(::getpid());
  // Left out of some kernels (CONFIG_PROC_CHILDREN).
  has_children_files_ =
      children_files &&
      ::faccessat(proc_.get(), (self + "/task/" + self + "/children").c_str(), R_OK, 0) == 0;
}

std::vector<TreeSampler::Found> TreeSampler::walk() const {
  std::vector<Found> found;
  std::set<pid_t> known{init_, program_};
  std::vector<pid_t> todo{program_, init_};
  while (!todo.empty()) {
    const pid_t pid = todo.back();
    todo.pop_back();
    const std::string folder = std::to_string(pid) + "/task";
    for (const pid_t thread : numbers_in(proc_.get(), folder)) {
      const std::string file = folder + "/" + std::to_string(thread) + "/children";
      for (const pid_t child : parse_children(read_text(proc_.get(), file))) {
        if (known.insert(child).second) todo.push_back(child);
      }
    }
    if (pid == init_) continue;
    const auto stat = stat_of(proc_.get(), pid);
    // Gone; or its number already belongs to somebody else.
    if (!stat || (pid != program_ && !known.contains(static_cast<pid_t>(stat->parent)))) continue;
    found.push_back({pid, *stat});
  }
  return found;
}

// The same from a list of all processes there are.
std::vector<TreeSampler::Found> TreeSampler::scan() const {
  std::multimap<pid_t, Found> by_parent;
  std::vector<Found> found;
  for (const pid_t pid : numbers_in(proc_.get(), ".")) {
    const auto stat = stat_of(proc_.get(), pid);
    if (!stat || pid == init_) continue;
    if (pid == program_) {
      found.push_back({pid, *stat});
    } else {
      by_parent.emplace(static_cast<pid_t>(stat->parent), Found{pid, *stat});
    }
  }
  const auto take_children_of = [&](pid_t parent) {
    const auto [begin, end] = by_parent.equal_range(parent);
    for (auto child = begin; child != end; ++child) found.push_back(child->second);
  };
  take_children_of(init_);
  for (std::size_t i = 0; i < found.size(); ++i) take_children_of(found[i].pid);
  return found;
}

// Counts a page once for each process that has it.
std::uint64_t TreeSampler::resident(const std::vector<Found>& tree) const {
  static const auto kPage = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::uint64_t pages = 0;
  for (const Found& process : tree) {
    const std::string statm = read_text(proc_.get(), std::to_string(process.pid) + "/statm");
    pages += parse_resident_pages(statm).value_or(0);
  }
  return pages * kPage;
}

// Each process has its share of a page. One that may not be looked into so closely counts with all
// it has, except files: it could have made itself so to get away with more.
std::uint64_t TreeSampler::exact(const std::vector<Found>& tree) const {
  std::uint64_t bytes = 0;
  for (const Found& process : tree) {
    const std::string folder = std::to_string(process.pid);
    const std::string rollup = read_text(proc_.get(), folder + "/smaps_rollup");
    if (const auto share = parse_kilobytes(rollup, "Pss")) {
      bytes += *share;
      continue;
    }
    const std::string status = read_text(proc_.get(), folder + "/status");
    bytes += parse_kilobytes(status, "RssAnon").value_or(0);
    bytes += parse_kilobytes(status, "RssShmem").value_or(0);
  }
  return bytes;
}

void TreeSampler::count_cpu(const std::vector<Found>& tree) {
  Own own;
  Own with_waited_for;
  std::map<std::pair<pid_t, std::uint64_t>, Own> live;
  for (const auto& [pid, stat] : tree) {
    live[{pid, stat.start}] = {stat.user, stat.system};
    seen_.erase({pid, stat.start});
    own.user += stat.user;
    own.system += stat.system;
    with_waited_for.user += stat.user + stat.children_user;
    with_waited_for.system += stat.system + stat.children_system;
  }
  for (const auto& [process, used] : seen_) {
    ended_.user += used.user;
    ended_.system += used.system;
  }
  seen_ = std::move(live);
  own.user += ended_.user;
  own.system += ended_.system;
  // Each way of counting misses something: those that ended between two looks, those that nobody
  // waited for. Neither counts anything twice.
  const bool more = own.user + own.system > with_waited_for.user + with_waited_for.system;
  const Own& best = more ? own : with_waited_for;
  const Duration user = from_ticks(best.user);
  const Duration system = from_ticks(best.system);
  if (user + system < last_.cpu()) return;
  last_.cpu_user = user;
  last_.cpu_system = system;
}

const TreeUsage& TreeSampler::look() {
  const Duration begin = processor_time();
  const std::vector<Found> tree = has_children_files_ ? walk() : scan();
  count_cpu(tree);
  last_.processes = 0;
  for (const Found& process : tree) last_.processes += process.stat.threads;
  last_.memory_bytes = resident(tree);
  if (memory_limit_ > 0 && last_.memory_bytes > memory_limit_) last_.memory_bytes = exact(tree);
  memory_peak_ = std::max(memory_peak_, last_.memory_bytes);
  processes_peak_ = std::max(processes_peak_, last_.processes);
  cost_ = processor_time() - begin;
  return last_;
}

Duration TreeSampler::pause(Duration longest) const {
  constexpr Duration kShortest = std::chrono::milliseconds(2);
  constexpr int kMostOfAProcessor = 20;  // one part in so many
  Duration wanted = longest;
  if (memory_limit_ > 0) {
    // As fast as processors touch new memory, about.
    constexpr std::uint64_t kBytesPerMicrosecond = 2000;
    const auto processors = std::max(1U, std::thread::hardware_concurrency());
    const std::uint64_t left = memory_limit_ - std::min(memory_limit_, last_.memory_bytes);
    wanted = std::chrono::microseconds(left / kBytesPerMicrosecond / processors);
  }
  return std::max(std::clamp(wanted, kShortest, longest), cost_ * kMostOfAProcessor);
}

}  // namespace cordon::linux_backend
