// The children of one server: started ahead, handed out, and kept until they are no more.
#pragma once

#include <deque>
#include <memory>
#include <set>

#include "mcp/bridge/child_link.h"
#include "mcp/bridge/core.h"

namespace cordon::mcp {

class Children : public std::enable_shared_from_this<Children> {
 public:
  Children(BridgeCore& core, const ServedServer& server) : core_(core), server_(server) {}

  // One that nobody has spoken to. Never none: whether it can be started shows later.
  [[nodiscard]] std::shared_ptr<ChildLink> take();
  // Starts as many as are to be there ahead.
  void refill();
  void end_all();

  [[nodiscard]] std::size_t alive() const { return all_.size(); }
  [[nodiscard]] std::size_t spare() const;
  [[nodiscard]] std::size_t starting() const;

 private:
  [[nodiscard]] std::shared_ptr<ChildLink> make();
  void gone(ChildLink& child);

  BridgeCore& core_;
  const ServedServer& server_;
  std::set<std::shared_ptr<ChildLink>> all_;
  std::deque<std::shared_ptr<ChildLink>> spare_;
};

}  // namespace cordon::mcp
