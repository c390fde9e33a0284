// The part of cell_pool.h about what runs of tenants leave.
#include <algorithm>
#include <utility>

#include "backend/linux/cell_pool.h"
#include "backend/linux/linux_backend.h"

namespace cordon::linux_backend {

CellPool::Loan CellPool::lend(Place& place, const SharedPlan& plan) {
  const std::lock_guard lock(mutex_);
  Kind* const kind = closing_ ? nullptr : find(place, plan);
  if (kind == nullptr) return {};
  ++kind->out;
  return {.kind = kind->id, .remains = take_remains(*kind)};
}

Remains CellPool::take_remains(Kind& kind) {
  if (kind.remains.empty()) return {};
  Remains oldest = std::move(kind.remains.front());
  kind.remains.pop_front();
  return oldest;
}

void CellPool::leave(std::uint64_t kind, std::unique_ptr<Cell> cell) {
  const std::lock_guard lock(mutex_);
  if (closing_) return;  // here and now: the thread may have looked for the last time
  left_.push_back({.kind = kind, .cell = std::move(cell)});
  const auto found = std::ranges::find(kinds_, kind, &Kind::id);
  if (found != kinds_.end() && found->ready.size() * 2 < found->wanted) {
    wake();
  } else {
    refill_soon();
  }
}

bool CellPool::can_wait(const std::vector<Left>& left) const {
  if (!busy() || left.size() * 2 >= options_.size) return false;
  return std::ranges::none_of(left, [&](const Left& one) {
    const auto kind = std::ranges::find(kinds_, one.kind, &Kind::id);
    return kind != kinds_.end() && kind->ready.size() * 2 < kind->wanted;
  });
}

void CellPool::end_cells(std::vector<Left>& left) {
  for (Left& one : left) {
    if (!one.cell) continue;
    one.remains = one.cell->leave();
    one.cell.reset();
    one.remains.drop_rest();
  }
}

void CellPool::keep(std::vector<Left> left) {
  for (auto& [id, cell, remains] : left) {
    const auto kind = std::ranges::find(kinds_, id, &Kind::id);
    if (kind == kinds_.end()) {
      throw_away(std::move(remains));
      continue;
    }
    if (kind->out > 0) --kind->out;
    if (!remains.any()) continue;
    if (this->remains() < options_.size && !memory_used_up()) {
      kind->remains.push_back(std::move(remains));
      keep_fewer(*kind, kind->wanted);
    } else {
      throw_away(std::move(remains));
    }
  }
}

std::size_t CellPool::remains() const {
  std::size_t sum = 0;
  for (const Kind& kind : kinds_) sum += kind.remains.size();
  return sum;
}

void CellPool::keep_fewer(Kind& kind, std::size_t most) {
  while (kind.remains.size() > most) {
    throw_away(std::move(kind.remains.front()));
    kind.remains.pop_front();
  }
}

// The kernel takes its time, and a sandbox that is wanted now need not wait for that.
void CellPool::throw_away(Remains remains) {
  if (!remains.any()) return;
  backend_.keeper().post([rest = std::make_shared<Remains>(std::move(remains))] {});
}

}  // namespace cordon::linux_backend
