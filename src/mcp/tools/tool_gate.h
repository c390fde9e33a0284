// The gate that keeps a tool policy, and tells of each call.
//
// What a policy does not allow the server never sees: the client gets an error. Tools that may not
// be called are left out of the lists that the server gives. A message that two readers could
// understand differently is not passed on, nor an answer to what nobody asked.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "cordon/audit.h"
#include "cordon/clock.h"
#include "mcp/gate.h"
#include "mcp/tools/tool_policy.h"

namespace cordon::mcp {

// Who is told of calls. Thread-safe.
class CallSink {
 public:
  CallSink() = default;
  virtual ~CallSink() = default;
  CallSink(const CallSink&) = delete;
  CallSink& operator=(const CallSink&) = delete;

  virtual void add(audit::Call call) = 0;
  // False: calls cannot be recorded any more, and so there are to be none.
  [[nodiscard]] virtual bool works() const = 0;
};

// Thread-safe. For one conversation: the ids of one client.
class ToolGate final : public Gate {
 public:
  // `clock` and `sink` (null: nobody is told) must outlive the gate.
  ToolGate(ToolPolicy policy, Clock& clock, CallSink* sink);
  ~ToolGate() override;

  [[nodiscard]] std::optional<std::string> from_client(const Message& message) override;
  [[nodiscard]] std::optional<std::string> from_server(const Message& message) override;

  // The conversation is over: what has no answer by now gets none.
  void finish();

 private:
  enum class Filter : std::uint8_t { none, tools };
  struct Asked {
    audit::Call call{};
    TimePoint since{};
    Filter filter = Filter::none;
  };
  struct Verdict {
    int code = 0;
    std::string why{};
  };

  [[nodiscard]] std::optional<Verdict> judge(const Message& message, const std::string& tool) const;
  [[nodiscard]] std::optional<Verdict> judge_call(const Message& message,
                                                  const std::string& tool) const;
  [[nodiscard]] std::optional<std::string> refuse(const Message& message, audit::Call call,
                                                  const Verdict& verdict);
  [[nodiscard]] std::optional<Verdict> remember(const Message& message, const audit::Call& call);
  void cancel(const Message& message);
  void tell(Asked asked, audit::Call::End end);
  [[nodiscard]] std::optional<std::string> without_denied_tools(const Message& message) const;

  const ToolPolicy policy_;
  Clock& clock_;
  CallSink* const sink_;
  std::mutex mutex_;
  std::map<Id, Asked> asked_;
  std::map<Id, Filter> cancelled_;  // their answers may still be on the way
  std::deque<Id> cancelled_order_;
};

}  // namespace cordon::mcp
