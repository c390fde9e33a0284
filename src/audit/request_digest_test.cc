#include "audit/request_digest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace cordon::audit {
namespace {

TEST(RequestDigest, EveryPartCountsAndEqualRequestsAreEqual) {
  const Request plain{.program = "p"};
  EXPECT_EQ(request_digest(plain), request_digest(Request{.program = "p"}));
  std::vector<Request> others(11, plain);
  others[0].args = {"a", "b"};
  others[1].args = {"ab"};
  others[2].cwd = "/x";
  others[3].env = {{"A", ""}};
  others[4].env_pass = {"A"};
  others[5].limits.memory_bytes = 1;
  others[6].grants = {Grant::read("/x")};
  others[7].network = Network::host;
  others[8].user = User{1, 2};
  others[9].timeout = std::chrono::seconds(1);
  others[10].pins = {{"/x", -1}};
  std::vector<std::string> digests = {request_digest(plain)};
  for (const Request& other : others) {
    EXPECT_THAT(digests, testing::Not(testing::Contains(request_digest(other))));
    digests.push_back(request_digest(other));
  }
}

struct Change {
  const char* name;  // of the field
  std::function<void(Request&)> make;
};

SecretValue value_of(const char* text) { return SecretValue::copy_of(text).value(); }

// One of each field at least, and of each field of those; request_digest.cc does not compile with a
// field that it does not name.
std::vector<Change> changes_that_count() {
  using R = Request;
  return {
      {"program", [](R& r) { r.program = "q"; }},
      {"program", [](R& r) { r.program = "p\xff"; }},
      {"program", [](R& r) { r.program = "p\xfe"; }},
      {"program", [](R& r) { r.program = "p\xef\xbf\xbd"; }},
      {"args", [](R& r) { r.args = {"a"}; }},
      {"args", [](R& r) { r.args = {""}; }},
      {"argv0", [](R& r) { r.argv0 = "p"; }},
      {"argv0", [](R& r) { r.argv0 = "busybox"; }},
      {"cwd", [](R& r) { r.cwd = "/x"; }},
      {"env.name", [](R& r) { r.env = {{"A", ""}}; }},
      {"env_pass", [](R& r) { r.env_pass = {"A"}; }},
      {"env_pass", [](R& r) { r.env_pass = {}; }},
      {"secrets.name", [](R& r) { r.secrets = {{.name = "A"}}; }},
      {"secrets.name", [](R& r) { r.secrets = {{.name = "B"}}; }},
      {"secrets", [](R& r) { r.secrets = {{.name = "A"}, {.name = "B"}}; }},
      {"secrets.delivery",
       [](R& r) { r.secrets = {{.name = "A", .delivery = Secret::Delivery::fd}}; }},
      {"secrets.delivery",
       [](R& r) { r.secrets = {{.name = "A", .delivery = Secret::Delivery::file}}; }},
      {"in.kind", [](R& r) { r.in = Input::bytes(""); }},
      {"out.kind", [](R& r) { r.out = Output::discard(); }},
      {"out.framing.mode", [](R& r) { r.out.framing.mode = OutputMode::line; }},
      {"out.framing.chunk_size", [](R& r) { r.out.framing.chunk_size = 1; }},
      {"out.framing.max_frame", [](R& r) { r.out.framing.max_frame = 1; }},
      {"out.framing.max_depth", [](R& r) { r.out.framing.max_depth = 1; }},
      {"err.kind", [](R& r) { r.err = Output::discard(); }},
      {"err.framing.mode", [](R& r) { r.err.framing.mode = OutputMode::line; }},
      {"err.framing.chunk_size", [](R& r) { r.err.framing.chunk_size = 1; }},
      {"err.framing.max_frame", [](R& r) { r.err.framing.max_frame = 1; }},
      {"err.framing.max_depth", [](R& r) { r.err.framing.max_depth = 1; }},
      {"terminal", [](R& r) { r.terminal.emplace(); }},
      {"terminal.rows", [](R& r) { r.terminal = {.rows = 1}; }},
      {"terminal.columns", [](R& r) { r.terminal = {.columns = 1}; }},
      {"timeout", [](R& r) { r.timeout = std::chrono::seconds(1); }},
      {"grace", [](R& r) { r.grace = std::chrono::seconds(1); }},
      {"limits.cpu_time", [](R& r) { r.limits.cpu_time = Duration(1); }},
      {"limits.cpu_millicores", [](R& r) { r.limits.cpu_millicores = 1; }},
      {"limits.memory_bytes", [](R& r) { r.limits.memory_bytes = 1; }},
      {"limits.memory_bytes", [](R& r) { r.limits.memory_bytes = 0; }},
      {"limits.file_size_bytes", [](R& r) { r.limits.file_size_bytes = 1; }},
      {"limits.open_files", [](R& r) { r.limits.open_files = 1; }},
      {"limits.processes", [](R& r) { r.limits.processes = 1; }},
      {"limits.output_bytes", [](R& r) { r.limits.output_bytes = 1; }},
      {"end_at_process_limit", [](R& r) { r.end_at_process_limit = true; }},
      {"cgroup_parent", [](R& r) { r.cgroup_parent = "/x"; }},
      {"root", [](R& r) { r.root = "/x"; }},
      {"grants", [](R& r) { r.grants = {Grant::read("/x")}; }},
      {"grants.kind", [](R& r) { r.grants = {Grant::write("/x")}; }},
      {"grants.source", [](R& r) { r.grants = {Grant::read("/y")}; }},
      {"grants.target", [](R& r) { r.grants = {Grant::bind("/x", "/z", Grant::Kind::read)}; }},
      {"grants.size", [](R& r) { r.grants = {{.source = "/x", .size = 1}}; }},
      {"pins.path", [](R& r) { r.pins = {{"/x", -1}}; }},
      {"links_resolved", [](R& r) { r.links_resolved = true; }},
      {"network", [](R& r) { r.network = Network::loopback; }},
      {"network", [](R& r) { r.network = Network::host; }},
      {"unix_sockets", [](R& r) { r.unix_sockets = false; }},
      {"user.uid", [](R& r) { r.user = {.uid = 1}; }},
      {"user.gid", [](R& r) { r.user = {.gid = 1}; }},
      {"explain", [](R& r) { r.explain = true; }},
      {"reuse", [](R& r) { r.reuse = Tenant::named("a").value(); }},
      {"reuse", [](R& r) { r.reuse = Tenant::named("b").value(); }},
      {"event_buffer", [](R& r) { r.event_buffer = 1; }},
      {"overflow", [](R& r) { r.overflow = Overflow::end_run; }},
  };
}

TEST(RequestDigest, NoTwoRequestsThatDifferInAFieldAreEqual) {
  std::vector<std::pair<std::string, std::string>> seen = {
      {request_digest(Request{.program = "p"}), "nothing"}};
  for (const Change& change : changes_that_count()) {
    Request changed{.program = "p"};
    change.make(changed);
    const std::string digest = request_digest(changed);
    for (const auto& [other, name] : seen) {
      EXPECT_NE(digest, other) << "a change of " << change.name << " is one of " << name;
    }
    seen.emplace_back(digest, change.name);
  }
}

TEST(RequestDigest, ValuesBytesOfInputAndNumbersOfDescriptorsDoNotCount) {
  const auto whole = [](const char* text, int fd) {
    Request request{.program = "p"};
    request.env = {{"A", text}};
    request.secrets = {{.name = "S", .value = value_of(text)}};
    request.in = {.kind = Input::Kind::bytes, .fd = fd, .data = text};
    request.out = Output::to_fd(fd);
    request.err = Output::to_fd(fd);
    request.pins = {{"/x", fd}};
    return request;
  };
  Request other = whole("hunter2", 7);
  std::stop_source cancel;
  other.cancel = cancel.get_token();
  EXPECT_EQ(request_digest(whole("s3cret", 5)), request_digest(other));
  EXPECT_THAT(canonical_request(other), testing::Not(testing::HasSubstr("hunter2")));
}

}  // namespace
}  // namespace cordon::audit
