// What is sent to a pool comes back as it was; nothing else is taken for it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>
#include <thread>

#include "cordon/process.h"
#include "outcome/decide.h"
#include "pool_backend.h"
#include "pool_channel.h"
#include "pool_request.h"
#include "service_peer.h"
#include "service_wire.h"

namespace cordon::app::pool {
namespace {

using service::check_permitted;
using service::difference;
using service::own_surroundings;
using service::Surroundings;
using service::surroundings_of_peer;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Every field with a value of its own.
Request full_request() {
  Request r;
  r.program = "prog";
  r.args = {"a", "", "c\xff"};
  r.argv0 = "zero";
  r.cwd = "/somewhere";
  r.env = {{"A", "1"}, {"B", ""}};
  r.env_pass = {"HOME"};
  r.limits = {.cpu_time = std::chrono::milliseconds(5),
              .cpu_millicores = 1,
              .memory_bytes = 2,
              .file_size_bytes = 3,
              .open_files = 4,
              .processes = 5,
              .output_bytes = 6};
  r.end_at_process_limit = true;
  r.cgroup_parent = "mine";
  r.root = "/root";
  r.grants = {Grant::bind("/s", "/t", Grant::Kind::write), Grant::tmpfs("/x", 7)};
  r.pins = {{.path = "/usr/bin/true", .fd = 9}};
  r.links_resolved = true;
  r.network = Network::host;
  r.unix_sockets = false;
  r.user = User{8, 9};
  r.reuse = Tenant::named("tenant").value();
  return r;
}

Outcome full_outcome() {
  Outcome o;
  o.id = 1;
  o.verdict = Verdict::memory;
  o.termination = {Termination::Type::signal, 9, 9, std::chrono::seconds(2)};
  o.exit_code = 3;
  o.timed_out = true;
  o.memory_exceeded = true;
  o.wall = std::chrono::milliseconds(7);
  o.usage = {std::chrono::seconds(1), std::chrono::seconds(2), 3, 4, 5, 6};
  o.output_bytes = 8;
  o.output_truncated = true;
  o.limit = LimitHit{"memory", 1, 2, "seen"};
  o.limits_hit = {{"processes", 3, std::nullopt, "counted"}};
  o.denials = {{.kind = Denial::Kind::connect,
                .what = "w",
                .access = "connect",
                .allow = "a",
                .reason = "r",
                .count = 4,
                .grant = Grant::read("/g"),
                .network = Network::loopback}};
  o.denials_omitted = 5;
  o.hint = "hint";
  Guarantee* const all[] = {&o.enforcement.memory,       &o.enforcement.cpu,
                            &o.enforcement.processes,    &o.enforcement.filesystem,
                            &o.enforcement.network,      &o.enforcement.syscalls,
                            &o.enforcement.capabilities, &o.enforcement.timeout};
  int i = 0;
  for (Guarantee* const one : all) {
    *one = {Guarantee::Level::partial, "by" + std::to_string(i), "note" + std::to_string(i)};
    ++i;
  }
  o.backend = "linux";
  o.launch = Launch::reused;
  o.launch_note = "note of the launch";
  o.error = Error{ErrorCode::closed, "stage", 11, "message"};
  o.out = "out";
  o.err = "err";
  return o;
}

TEST(PoolWire, ARequestArrivesWhole) {
  const std::string bytes = to_bytes(full_request());
  const auto got = from_bytes<Request>(bytes);
  ASSERT_TRUE(got);
  EXPECT_EQ(to_bytes(*got), bytes);  // so each field that is carried has its value …
  EXPECT_EQ(got->program, "prog");
  EXPECT_THAT(got->args, ElementsAre("a", "", "c\xff"));
  EXPECT_EQ(got->limits, full_request().limits);
  EXPECT_EQ(got->root, "/root");
  EXPECT_EQ(got->grants, full_request().grants);
  EXPECT_EQ(got->user, (User{8, 9}));
  EXPECT_EQ(got->network, Network::host);
  EXPECT_FALSE(got->unix_sockets);
  EXPECT_EQ(got->reuse, full_request().reuse);
  EXPECT_TRUE(got->links_resolved);
  EXPECT_EQ(got->pins.at(0).path, "/usr/bin/true");
  EXPECT_EQ(got->pins.at(0).fd, -1);  // … and no number of the sender's means anything here
}

TEST(PoolWire, ATenantHasARightName) {
  std::string bytes = to_bytes(full_request());
  const std::size_t at = bytes.find("tenant");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = '/';
  EXPECT_FALSE(from_bytes<Request>(bytes));
}

TEST(PoolWire, AnOutcomeArrivesWhole) {
  const std::string bytes = to_bytes(full_outcome());
  const auto got = from_bytes<Outcome>(bytes);
  ASSERT_TRUE(got);
  EXPECT_EQ(to_bytes(*got), bytes);
  EXPECT_EQ(to_json(*got), to_json(full_outcome()));
  EXPECT_EQ(got->denials, full_outcome().denials);
  EXPECT_EQ(got->out, "out");
  EXPECT_EQ(got->err, "err");
}

TEST(PoolWire, EveryCutAndEverySurplusIsNoticed) {
  for (const std::string& whole : {to_bytes(full_request()), to_bytes(full_outcome())}) {
    const bool is_request = whole == to_bytes(full_request());
    const auto taken = [&](const std::string& bytes) {
      return is_request ? from_bytes<Request>(bytes).has_value()
                        : from_bytes<Outcome>(bytes).has_value();
    };
    EXPECT_TRUE(taken(whole));
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_FALSE(taken(whole.substr(0, size))) << size;
    }
    EXPECT_FALSE(taken(whole + '\0'));
  }
}

TEST(PoolWire, ChangedBytesAreRefusedOrAnotherValue) {
  std::mt19937 random(42);  // NOLINT(*-msc51-cpp): the same every time
  const std::string request = to_bytes(full_request());
  const std::string outcome = to_bytes(full_outcome());
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = i % 2 == 0 ? request : outcome;
    for (unsigned n = 0; n <= random() % 4; ++n) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    if (i % 2 == 0) {
      const auto got = from_bytes<Request>(bytes);
      if (got) {  // what was taken is what was said
        EXPECT_EQ(to_bytes(*got), bytes);
      }
    } else {
      const auto got = from_bytes<Outcome>(bytes);
      if (got) {
        EXPECT_EQ(to_bytes(*got), bytes);
      }
    }
  }
}

TEST(PoolWire, WhatCannotBeCarriedIsSaid) {
  EXPECT_THAT(why_not_carried(full_request()), IsEmpty());
  Request r = full_request();
  r.secrets.push_back({.name = "KEY", .value = SecretValue::copy_of("x").value()});
  EXPECT_THAT(why_not_carried(r), HasSubstr("secrets"));
  r = full_request();
  r.terminal = TerminalSize{};
  EXPECT_THAT(why_not_carried(r), HasSubstr("terminal"));
  r = full_request();
  r.explain = true;
  EXPECT_THAT(why_not_carried(r), HasSubstr("--explain"));
  r = full_request();
  r.pins.resize(kMostPins + 1);
  EXPECT_THAT(why_not_carried(r), HasSubstr("files"));
  r = full_request();
  r.args = {std::string(kMostBytes, 'x')};
  EXPECT_THAT(why_not_carried(r), HasSubstr("too large"));
}

TEST(PoolRequest, IsMadeOfTheClientsSurroundings) {
  Request r;
  r.program = "p";
  r.cwd = "here";
  r.env = {{"SET", "1"}, {"USER", "me"}};
  r.env_pass = {"HOME", "USER", "LC_*"};
  const std::vector<std::string_view> environment = {"HOME=/h", "USER=you", "LC_ALL=C", "TMPDIR=/t",
                                                     "OTHER=no"};
  const Request sent = for_pool(r, {.memory_bytes = 5, .output_bytes = 6}, "/cwd", environment);
  EXPECT_EQ(sent.cwd, "/cwd/here");
  EXPECT_EQ(sent.limits, (Limits{.memory_bytes = 5}));
  EXPECT_THAT(sent.env_pass, ElementsAre("HOME"));
  std::vector<std::string> env;
  for (const EnvVar& v : sent.env) env.push_back(v.name + "=" + v.value);
  EXPECT_THAT(env, ElementsAre("SET=1", "USER=me", "LC_ALL=C"));
  r.cwd.clear();
  EXPECT_EQ(for_pool(r, {}, "/cwd", {}).cwd, "/cwd");
  r.cwd = "/there";
  EXPECT_EQ(for_pool(r, {}, "/cwd", {}).cwd, "/there");
}

// Whatever a supervisor has decided there is decided again here.
TEST(PoolOutcome, IsTheSameWhenTheClientDecides) {
  outcome::Ending e;
  e.backend = "linux";
  e.enforcement.syscalls.level = Guarantee::Level::enforced;
  e.usage.cpu_user = e.usage.cpu_system = std::chrono::seconds(1);
  e.usage.memory_peak_bytes = 77;
  e.usage.processes_peak = 3;
  e.limits = {.cpu_time = std::chrono::seconds(1),
              .memory_bytes = 99,
              .file_size_bytes = 5,
              .processes = 4};
  e.limits_hit = {{"processes", 4, 4, "pids.events max 1"}};
  std::vector<outcome::Ending> endings(8, e);
  endings[1].exit_code = 9;
  endings[2].signal = SIGSEGV;
  endings[3].signal = SIGKILL;
  endings[3].ended_by = Verdict::memory;
  endings[3].kernel_evidence = "oom_kill 1";
  endings[4].signal = SIGSYS;
  endings[5].signal = SIGXFSZ;
  endings[6].signal = SIGKILL;
  endings[6].first_action = Verdict::processes;
  endings[6].evidence = "pids.events max 3";
  endings[7].signal = SIGXCPU;
  for (const outcome::Ending& there : endings) {
    const Outcome decided = outcome::decide(there);
    const supervise::Ended seen = ended_of(*from_bytes<Outcome>(to_bytes(decided)));
    outcome::Ending here = e;
    here.exit_code = seen.exit_code;
    here.signal = seen.signal;
    here.status_lost = seen.status_lost;
    here.usage = seen.usage;
    here.ended_by = seen.ended_by;
    here.kernel_evidence = seen.evidence;
    here.limits_hit = seen.limits_hit;
    here.denials = seen.denials;
    EXPECT_EQ(to_json(outcome::decide(here)), to_json(decided));
  }
}

std::pair<Channel, Channel> channels() {
  int ends[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  return {Channel(base::Fd(ends[0])), Channel(base::Fd(ends[1]))};
}

TEST(PoolChannel, CarriesLargeMessagesAndDescriptors) {
  auto [a, b] = channels();
  const std::string large(kMostBytes, 'x');
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  std::thread sender([&, &from = a] {
    const std::array<int, 1> one = {ends[1]};
    EXPECT_TRUE(from.send(Kind::run, large, one, std::chrono::seconds(10)));
    EXPECT_TRUE(from.send(Kind::signal, Signal{.number = 2}, std::chrono::seconds(10)));
  });
  const auto first = b.receive(std::chrono::seconds(10));
  const auto second = b.receive(std::chrono::seconds(10));
  sender.join();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->bytes, large);
  ASSERT_EQ(first->descriptors.size(), 1U);
  EXPECT_EQ(::write(first->descriptors[0].get(), "hi", 2), 2);
  char got[2];
  EXPECT_EQ(::read(ends[0], got, 2), 2);
  ::close(ends[0]);
  ::close(ends[1]);
  ASSERT_TRUE(second);
  EXPECT_EQ(from_bytes<Signal>(second->bytes)->number, 2);
  EXPECT_EQ(b.receive(Duration{0}).error().code, ErrorCode::timed_out);
  EXPECT_EQ(a.send(Kind::run, large + "x", {}, Duration{0}).error().code,
            ErrorCode::invalid_argument);
}

TEST(PoolPeer, IsTheProcessThatConnected) {
  auto [a, b] = channels();
  const auto own = own_surroundings();
  ASSERT_TRUE(own);
  const auto peer = surroundings_of_peer(a.fd(), "pool");
  ASSERT_TRUE(peer) << peer.error().message;
  EXPECT_TRUE(check_permitted(*peer, *own));
  EXPECT_EQ(difference(*peer, *own), "");
  Surroundings other = *own;
  other.pid_namespace = "pid:[1]";
  EXPECT_FALSE(check_permitted(other, *own));
  other = *own;
  other.user_namespace = "user:[1]";
  EXPECT_FALSE(check_permitted(other, *own));
}

TEST(PoolPeer, GroupsOfTheServiceLieBelowThoseOfTheClient) {
  Surroundings service;
  service.cgroups = {"memory:/a/b", ":/x"};
  const auto with = [&](std::vector<std::string> groups) {
    Surroundings client = service;
    client.cgroups = std::move(groups);
    return difference(client, service);
  };
  EXPECT_EQ(with({"memory:/a/b", ":/x"}), "");
  EXPECT_EQ(with({"memory:/a", ":/"}), "");
  EXPECT_EQ(with({"memory:/", ":/x"}), "");
  EXPECT_THAT(with({"memory:/a/b/c", ":/x"}), HasSubstr("control group"));
  EXPECT_THAT(with({"memory:/a/bc", ":/x"}), HasSubstr("control group"));
  EXPECT_THAT(with({"cpu:/a/b", ":/x"}), HasSubstr("control group"));
  EXPECT_THAT(with({"memory:/a/b"}), HasSubstr("control group"));
}

}  // namespace
}  // namespace cordon::app::pool
