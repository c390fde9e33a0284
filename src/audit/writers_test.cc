// Writers that are killed at any moment: what they were told is written stays written.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>

#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <random>

#include "audit/test_log.h"
#include "support/count_from.h"

namespace cordon::audit {
namespace {

struct Told {
  std::uint64_t sequence;
  std::int32_t pid;
  std::int32_t nth;
};

class KilledWriters : public LogTest {
 protected:
  // Writes until it is killed, and tells the pipe of every record that was acknowledged.
  [[noreturn]] void write_forever(int pipe) {
    const auto log = Log::open(settings(), real_clock());
    if (!log) ::_exit(1);
    for (std::int32_t nth = 0;; ++nth) {
      const auto written = append(**log, std::to_string(nth) + std::string(2000, 'x'));
      if (!written) ::_exit(2);
      const Told told{.sequence = *written, .pid = ::getpid(), .nth = nth};
      if (::write(pipe, &told, sizeof told) != sizeof told) ::_exit(3);
    }
  }
  // What one writer has told before its end.
  static std::vector<Told> all_told(int pipe) {
    std::vector<Told> all;
    Told told{};
    while (::read(pipe, &told, sizeof told) == sizeof told) all.push_back(told);
    return all;
  }
  [[nodiscard]] std::map<std::uint64_t, std::string> details_by_sequence() const {
    std::map<std::uint64_t, std::string> found;
    for (std::uint64_t number = 1; std::filesystem::exists(path(file_name(number))); ++number) {
      for (const std::string& line : lines(path(file_name(number)))) {
        const auto record = boost::json::parse(line);
        found[record.at("sequence").to_number<std::uint64_t>()] =
            std::to_string(record.at("pid").to_number<int>()) + ":" +
            std::string(record.at("detail").as_string());
      }
    }
    return found;
  }
};

TEST_F(KilledWriters, LoseNoAcknowledgedRecord) {
  const int writers = support::count_from("CORDON_SOAK_WRITERS", 10);
  constexpr int kAtOnce = 5;
  settings().max_file_size = 256 * 1024;
  std::mt19937 random(7);  // NOLINT(bugprone-random-generator-seed): the same moments each time
  std::vector<Told> told;
  for (int done = 0; done < writers; done += kAtOnce) {
    std::array<pid_t, kAtOnce> pids{};
    std::array<std::array<int, 2>, kAtOnce> pipes{};
    for (int i = 0; i < kAtOnce; ++i) {
      ASSERT_EQ(::pipe(pipes[i].data()), 0);
      pids[i] = ::fork();
      ASSERT_GE(pids[i], 0);
      if (pids[i] == 0) write_forever(pipes[i][1]);
      ::close(pipes[i][1]);
    }
    for (int i = 0; i < kAtOnce; ++i) {
      // Each has begun; then a moment more, so that the kill comes anywhere in a write.
      Told first{};
      ASSERT_EQ(::read(pipes[i][0], &first, sizeof first), sizeof first);
      told.push_back(first);
      ::usleep(std::uniform_int_distribution<useconds_t>(0, 3000)(random));
      ::kill(pids[i], SIGKILL);
      const auto rest = all_told(pipes[i][0]);
      told.insert(told.end(), rest.begin(), rest.end());
      int status = 0;
      ASSERT_EQ(::waitpid(pids[i], &status, 0), pids[i]);
      EXPECT_TRUE(WIFSIGNALED(status)) << "exit " << WEXITSTATUS(status);
      ::close(pipes[i][0]);
    }
  }
  make_log(1);  // repairs what the last one left
  EXPECT_EQ(wrong(), "");
  const auto found = details_by_sequence();
  for (const Told& one : told) {
    const auto at = found.find(one.sequence);
    ASSERT_NE(at, found.end()) << "record " << one.sequence << " was lost";
    EXPECT_TRUE(at->second.starts_with(std::to_string(one.pid) + ":" + std::to_string(one.nth)));
  }
  EXPECT_GE(told.size(), static_cast<std::size_t>(writers));
}

}  // namespace
}  // namespace cordon::audit
