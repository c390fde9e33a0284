// Arbitrary bytes as a head and a file of an audit log: verification, and what repairs a log, never
// break, and never take for good what is not sealed.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "audit/chain_check.h"
#include "audit/filter.h"
#include "audit/record.h"
#include "audit/tail.h"

using namespace cordon;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

// The same, whatever the parts are that the bytes come in.
audit::ChainCheck checked(const audit::Head& head, const audit::Sealer& sealer,
                          std::string_view bytes, std::size_t part) {
  audit::ChainCheck chain(head, sealer);
  chain.begin_file(1);
  for (; !bytes.empty(); bytes.remove_prefix(std::min(part, bytes.size()))) {
    chain.add(bytes.substr(0, part));
  }
  chain.end_file();
  chain.finish();
  return chain;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as bytes
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  // The first line may be a head.
  const std::size_t first = input.find('\n');
  const auto head = first == std::string_view::npos ? std::nullopt
                                                    : audit::parse_head(input.substr(0, first + 1));
  const std::string_view bytes = head ? input.substr(first + 1) : input;
  for (const audit::Sealer& sealer : {audit::Sealer(), audit::Sealer("key")}) {
    const auto whole = checked(head.value_or(audit::Head{}), sealer, bytes, size + 1);
    const auto parts = checked(head.value_or(audit::Head{}), sealer, bytes, 7);
    check(whole.records() == parts.records());
    check(whole.defect_count() == parts.defect_count());
    check(whole.unfinished() == parts.unfinished());

    const audit::Tail tail = audit::examine_tail(audit::Head{}, bytes, sealer);
    check(tail.accepted <= bytes.size());
    // What the repair takes in, verification finds right.
    const auto good = checked(tail.head, sealer, bytes.substr(0, tail.accepted), size + 1);
    check(good.defect_count() == 0 && good.unfinished() == 0);
    check(good.records() == tail.head.sequence);
  }
  (void)audit::read_record(bytes.substr(0, bytes.find('\n')));
  return 0;
}
