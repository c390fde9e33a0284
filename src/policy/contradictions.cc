#include "policy/contradictions.h"

#include <utility>

#include "base/errors.h"
#include "base/printable.h"

namespace cordon::policy {
namespace {

std::unexpected<Error> contradiction(const Place& later, const std::string& what,
                                     const Place& earlier) {
  return base::fail(ErrorCode::invalid_argument, "policy",
                    to_string(later) + ": " + what + " " + to_string(earlier) +
                        ": make them agree, or remove the later one");
}

Result<void> check_variables(const Ceiling& earlier, const Ceiling& later) {
  for (const auto& [name, value] : later.env.set) {
    for (const auto& [other, before] : earlier.env.set) {
      if (name == other && value.value != before.value) {
        return contradiction(value.place, "sets " + name + " to another value than", before.place);
      }
    }
  }
  return {};
}

Result<void> check_audit(const Ceiling& earlier, const Ceiling& later) {
  if (!earlier.audit || !later.audit) return {};
  const auto differ = [](const Ask<std::string>& a, const Ask<std::string>& b) {
    return a && b && a->value != b->value;
  };
  if (differ(earlier.audit->directory, later.audit->directory)) {
    return contradiction(later.audit->directory->place, "another audit directory than that of",
                         earlier.audit->directory->place);
  }
  if (differ(earlier.audit->key_file, later.audit->key_file)) {
    return contradiction(later.audit->key_file->place, "another audit key than that of",
                         earlier.audit->key_file->place);
  }
  return {};
}

bool same_source(const SecretRule& a, const SecretRule& b) {
  return a.kind == b.kind && a.from == b.from && a.command == b.command && a.delivery == b.delivery;
}

Result<void> check_secrets(const Ceiling& earlier, const Ceiling& later) {
  if (!earlier.secrets || !later.secrets) return {};
  for (const auto& [name, rule] : *later.secrets) {
    const auto before = earlier.secrets->find(name);
    if (before == earlier.secrets->end()) {
      return contradiction(rule.place,
                           "the secret " + base::printable(name) + " is not among those of",
                           earlier.secrets_place);
    }
    if (!same_source(before->second, rule)) {
      return contradiction(
          rule.place,
          "the secret " + base::printable(name) + " has another source or delivery than that of",
          before->second.place);
    }
  }
  return {};
}

}  // namespace

Result<void> check_contradictions(const Policy& policy) {
  for (std::size_t later = 1; later < policy.ceilings.size(); ++later) {
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      const Ceiling& a = policy.ceilings[earlier];
      const Ceiling& b = policy.ceilings[later];
      for (const auto check : {check_variables, check_audit, check_secrets}) {
        if (auto ok = check(a, b); !ok) return ok;
      }
    }
  }
  return {};
}

std::optional<AuditSettings> audit_of(const Policy& policy) {
  std::optional<AuditSettings> all;
  for (const Ceiling& ceiling : policy.ceilings) {
    if (!ceiling.audit) continue;
    const AuditSettings& one = *ceiling.audit;
    if (!all) {
      all = one;
      if (!all->on_failure) all->on_failure = Placed<std::string>{"refuse", one.place};
      continue;
    }
    if (!all->directory) all->directory = one.directory;
    if (!all->key_file) all->key_file = one.key_file;
    if (one.durable && (!all->durable || one.durable->value)) all->durable = one.durable;
    if (one.required && (!all->required || one.required->value)) all->required = one.required;
    if (one.on_failure && one.on_failure->value == "refuse") all->on_failure = one.on_failure;
    const bool smaller =
        one.max_file_size &&
        (!all->max_file_size || one.max_file_size->value < all->max_file_size->value);
    if (smaller) all->max_file_size = one.max_file_size;
  }
  return all;
}

// Later files have been found to name no others than earlier ones: the last list is the shortest.
std::optional<std::map<std::string, SecretRule>> secrets_of(const Policy& policy) {
  std::optional<std::map<std::string, SecretRule>> all;
  for (const Ceiling& ceiling : policy.ceilings) {
    if (!ceiling.secrets) continue;
    if (!all) {
      all = ceiling.secrets;
      continue;
    }
    std::erase_if(*all, [&](const auto& entry) { return !ceiling.secrets->contains(entry.first); });
  }
  return all;
}

}  // namespace cordon::policy
