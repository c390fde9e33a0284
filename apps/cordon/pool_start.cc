#include "pool_start.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <string>
#include <thread>
#include <utility>

#include "backend/posix/background.h"
#include "base/errors.h"
#include "concat.h"
#include "message.h"
#include "pool_client.h"
#include "write_all.h"

namespace cordon::app::pool {
namespace {

// The first byte of what the background says.
constexpr char kReady = '+';
constexpr char kFailed = '-';
// For another one that is about to answer, or to end.
constexpr Duration kPatience = std::chrono::seconds(10);
constexpr Duration kPause = std::chrono::milliseconds(20);

std::uint64_t usual_size() {
  return std::max<std::uint64_t>(4, std::uint64_t{2} * std::thread::hardware_concurrency());
}

std::string runs(std::int64_t pid) {
  return concat("the pool runs (pid ", std::to_string(pid), ")\n");
}

// What the caller had open is no affair of a service that outlives it.
void close_inherited() { (void)::syscall(SYS_close_range, STDERR_FILENO + 1, UINT_MAX, 0); }

struct Claim {
  base::Fd lock;          // empty: somebody else is the service …
  ServiceStatus other{};  // … this one
};

Result<Claim> claim(const service::Place& place) {
  const TimePoint until = real_clock().now() + kPatience;
  while (true) {
    auto lock = place.lock();
    if (!lock) return std::unexpected(std::move(lock.error()));
    if (*lock) return Claim{.lock = **std::move(lock)};
    auto other = ask_status();
    if (other) return Claim{.lock = {}, .other = *other};
    if (real_clock().now() >= until) {
      return base::fail(ErrorCode::timed_out, "pool",
                        concat("a pool holds ", place.path(),
                               "/lock, and does not answer: end its process first"));
    }
    real_clock().sleep_until(real_clock().now() + kPause);
  }
}

int failed(const Error& error) {
  complain(error.message);
  return kOwnFailure;
}

// In front: passes on what the background says.
int report(const base::Fd& pipe) {
  std::string said;
  std::array<char, 1024> buffer{};
  while (true) {
    const ssize_t got = ::read(pipe.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    said.append(buffer.data(), static_cast<std::size_t>(got));
  }
  if (said.starts_with(kReady)) return print(said.substr(1));
  complain(said.empty() ? "the pool ended before it was ready" : said.substr(1));
  return kOwnFailure;
}

int serve_in_background(const service::Place& place, const ServiceOptions& options) {
  auto forked = posix::fork_to_background();
  if (!forked) return failed(forked.error());
  if (!forked->background) return report(forked->pipe);
  base::Fd tell = std::move(forked->pipe);
  const auto served = serve(place, options, [&] {
    (void)posix::release_streams();
    (void)write_all(tell.get(), concat(std::string(1, kReady), runs(::getpid())));
    tell.reset();
  });
  if (served) return 0;
  if (tell) {
    (void)write_all(tell.get(), concat(std::string(1, kFailed), served.error().message));
  }
  return kOwnFailure;
}

}  // namespace

int start(StartOptions options) {
  close_inherited();
  if (options.service.size == 0) options.service.size = usual_size();
  auto place = service::Place::make("pool", kPlace);
  if (!place) return failed(place.error());
  auto claimed = claim(*place);
  if (!claimed) return failed(claimed.error());
  if (!claimed->lock) {
    return print(concat("a pool runs already (pid ", std::to_string(claimed->other.pid), ")\n"));
  }
  if (!options.foreground) return serve_in_background(*place, options.service);
  const auto served = serve(*place, options.service, [] { (void)print(runs(::getpid())); });
  return served ? 0 : failed(served.error());
}

}  // namespace cordon::app::pool
