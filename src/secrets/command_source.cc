#include "secrets/command_source.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "base/errors.h"
#include "base/fd.h"
#include "cordon/manager.h"
#include "secrets/read_secret.h"

namespace cordon::secrets {
namespace {

constexpr const char* kStage = "secret";
constexpr Duration kGrace = std::chrono::seconds(1);

std::unexpected<Error> too_slow(Duration timeout) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(timeout).count();
  return base::fail(ErrorCode::timed_out, kStage,
                    "took more than " + std::to_string(seconds) +
                        " s: it must end by itself, and can ask nobody anything");
}

// Something that it started may hold its stdout open longer than it lives.
Result<void> wait_for_output(int fd, TimePoint until, Duration timeout) {
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return too_slow(timeout);
    pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, static_cast<int>(left.count())) > 0) return {};
  }
}

Result<void> judge(const Outcome& outcome, Duration timeout) {
  if (outcome.timed_out) return too_slow(timeout);
  if (outcome.exit_code == 0) return {};
  const std::string how = outcome.exit_code ? "exited with " + std::to_string(*outcome.exit_code)
                                            : std::string("was ended by a signal");
  return base::fail(ErrorCode::system, kStage, how + ": run it by hand to see why");
}

Request request_for(const std::vector<std::string>& argv, int output, Duration timeout) {
  Request request;
  request.program = argv.front();
  request.args.assign(argv.begin() + 1, argv.end());
  request.env_pass = {"*"};
  request.out = Output::to_fd(output);
  request.err = Output::discard();
  request.timeout = timeout;
  request.grace = kGrace;
  return request;
}

}  // namespace

Result<base::LockedBytes> read_from_command(const std::vector<std::string>& argv,
                                            Duration timeout) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::fail_os(kStage, errno, "making a pipe");
  const base::Fd reader(ends[0]);
  base::Fd writer(ends[1]);

  auto manager = posix_manager();
  if (!manager) return std::unexpected(std::move(manager.error()));
  const auto process = (*manager)->create(request_for(argv, writer.get(), timeout));
  if (!process) return std::unexpected(process.error());
  const TimePoint until = std::chrono::steady_clock::now() + timeout + 2 * kGrace;
  if (auto started = (*process)->start(); !started) return std::unexpected(started.error());
  writer.reset();

  auto bytes =
      read_secret(reader.get(), [&] { return wait_for_output(reader.get(), until, timeout); });
  if (!bytes) {
    (void)(*process)->kill();
    (void)(*process)->wait();
    return bytes;
  }
  const auto outcome = (*process)->wait();
  if (!outcome) return std::unexpected(outcome.error());
  if (auto well = judge(*outcome, timeout); !well) return std::unexpected(well.error());
  return bytes;
}

}  // namespace cordon::secrets
