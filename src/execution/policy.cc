#include "cordon/policy.h"

#include <utility>

#include "execution/apply_policy.h"
#include "execution/policy_files.h"

namespace cordon {

struct Policy::Data {
  policy::Policy policy;
};

Policy::Policy(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

Result<Policy> Policy::load(const std::vector<std::string>& files, const std::string& profile) {
  auto loaded = execution::load_policy(files, profile);
  if (!loaded) return std::unexpected(std::move(loaded).error());
  return Policy(std::make_shared<const Data>(*std::move(loaded)));
}

Result<Policy::Allowed> Policy::apply(const Request& request, const std::string& backend) const {
  struct Held {
    std::vector<base::Fd> files;
    execution::LiveRun slot;
  };
  execution::PolicyQuestion question{
      .request = request, .backend = backend, .isolates = backend != "posix"};
  auto slot = execution::take_slot(data_->policy, question);
  if (!slot) return std::unexpected(std::move(slot).error());
  auto answer = execution::ask_policy(data_->policy, question);
  if (!answer) return std::unexpected(std::move(answer).error());
  if (auto ok = permitted(answer->evaluation); !ok) return std::unexpected(std::move(ok).error());
  return Allowed{.request = std::move(answer->evaluation.request),
                 .held = std::make_shared<Held>(std::move(answer->held), *std::move(slot))};
}

const std::string& Policy::digest() const { return data_->policy.digest; }

}  // namespace cordon
