#include "mcp/bridge/children.h"

#include <algorithm>
#include <utility>

namespace cordon::mcp {

std::shared_ptr<ChildLink> Children::take() {
  std::shared_ptr<ChildLink> child;
  while (!child && !spare_.empty()) {
    child = std::move(spare_.front());
    spare_.pop_front();
    if (!child->usable()) child = nullptr;
  }
  if (!child) child = make();
  // After this one: it is the one that somebody waits for.
  core_.loop->post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->refill();
  });
  return child;
}

void Children::refill() {
  if (core_.stopping) return;
  while (spare_.size() < server_.spare) spare_.push_back(make());
}

std::shared_ptr<ChildLink> Children::make() {
  const auto weak = weak_from_this();
  auto child = std::make_shared<ChildLink>(
      core_.loop, ChildSettings{.name = server_.name,
                                .make = server_.make_child,
                                .ended = server_.child_ended,
                                .log =
                                    [weak](std::string_view line) {
                                      const auto self = weak.lock();
                                      if (self) self->core_.say(self->server_.name, line);
                                    },
                                .over =
                                    [weak](ChildLink& ended) {
                                      if (const auto self = weak.lock()) self->gone(ended);
                                    },
                                .limits = core_.limits.server,
                                .grace = core_.limits.grace});
  all_.insert(child);
  child->start(core_.starter);
  return child;
}

void Children::gone(ChildLink& child) {
  if (!child.ending()) ++core_.counts.child_deaths;
  const auto self = child.shared_from_this();
  std::erase(spare_, self);  // not replaced at once: a server that ends at once would be for ever
  all_.erase(self);
  if (core_.child_gone) core_.child_gone();
}

void Children::end_all() {
  spare_.clear();
  const auto all = all_;
  for (const auto& child : all) child->end();
}

std::size_t Children::spare() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(spare_, [](const auto& child) { return child->running(); }));
}

std::size_t Children::starting() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(all_, [](const auto& child) { return child->starting(); }));
}

}  // namespace cordon::mcp
