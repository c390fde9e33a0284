// Keeps the record of calls to an MCP server: writes them to the audit log many at a time, in a
// thread of its own, so that no call waits for it. Thread-safe.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "mcp/tools/tool_gate.h"
#include "recorded_run.h"

namespace cordon::app {

class CallBook final : public mcp::CallSink {
 public:
  // `run` must outlive this object.
  explicit CallBook(RecordedRun& run);
  // Returns once everything is written.
  ~CallBook() override;

  // Waits only when the log is far behind.
  void add(audit::Call call) override;
  [[nodiscard]] bool works() const override { return works_; }

 private:
  void write();

  RecordedRun& run_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<audit::Call> calls_;  // not yet written
  bool over_ = false;
  std::atomic<bool> works_ = true;
  std::thread thread_;
};

}  // namespace cordon::app
