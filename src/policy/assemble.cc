#include <algorithm>
#include <set>
#include <utility>

#include "base/errors.h"
#include "base/printable.h"
#include "base/sha256.h"
#include "base/suggest.h"
#include "policy/builtin_profiles.h"
#include "policy/contradictions.h"
#include "policy/document.h"
#include "policy/policy.h"

namespace cordon::policy {
namespace {

std::unexpected<Error> wrong(std::string message) {
  return base::fail(ErrorCode::invalid_argument, "policy", std::move(message));
}

class Assembler {
 public:
  Assembler(const std::string& profile, const ReadPolicy& read, const PathContext& context)
      : profile_(profile), read_(read), context_(context) {}

  Result<void> add(const std::string& path, bool is_root) {
    auto file = read_(path);
    if (!file) return std::unexpected(std::move(file).error());
    if (auto ok = check_chain(file->path); !ok) return ok;
    if (policy_.files.size() >= kMostFiles) {
      return wrong("more than " + std::to_string(kMostFiles) +
                   " policy files are included: include fewer");
    }
    auto document = read_document(file->text, file->path, context_);
    if (!document) return std::unexpected(std::move(document).error());
    remember(*file);

    document->ceiling.is_root = is_root;
    policy_.ceilings.push_back(std::move(document->ceiling));
    take_profile(document->profiles);

    chain_.push_back(file->path);
    for (const auto& include : document->includes) {
      if (auto added = add(beside(file->path, include.value), false); !added) {
        Error error = std::move(added).error();
        // What the file itself has to say has a place of its own.
        if (error.code != ErrorCode::invalid_argument) {
          error.message = to_string(include.place) + ": " + error.message;
        }
        return std::unexpected(std::move(error));
      }
    }
    chain_.pop_back();
    return {};
  }

  // A profile that needs no file. One of the same name in a file holds besides.
  Result<void> add_builtin() {
    const BuiltinProfile* const builtin = find_builtin_profile(profile_);
    if (builtin == nullptr) return {};
    const PolicyText file{std::string(builtin->place), std::string(builtin->text)};
    auto document = read_document(file.text, file.path, context_);
    if (!document) return std::unexpected(std::move(document).error());
    remember(file);
    document->ceiling.is_root = false;
    policy_.ceilings.push_back(std::move(document->ceiling));
    found_ = true;
    return {};
  }

  Result<Policy> finish() {
    if (!profile_.empty() && !found_) {
      std::vector<std::string_view> known(profiles_.begin(), profiles_.end());
      for (const BuiltinProfile& one : builtin_profiles()) known.push_back(one.name);
      const std::string_view near = base::nearest(profile_, known);
      std::string all;
      for (const std::string_view name : known)
        all += (all.empty() ? "" : ", ") + std::string(name);
      return wrong("no policy file has the profile \"" + base::printable(profile_) + "\"" +
                   (near.empty() ? ": there are " + base::printable(all)
                                 : ": did you mean \"" + base::printable(near) + "\"?"));
    }
    if (auto ok = check_contradictions(policy_); !ok) return std::unexpected(ok.error());
    policy_.profiles.assign(profiles_.begin(), profiles_.end());
    if (!policy_.files.empty()) policy_.digest = base::to_hex(digest_.finish());
    return std::move(policy_);
  }

 private:
  Result<void> check_chain(const std::string& path) const {
    const bool again = std::ranges::find(chain_, path) != chain_.end();
    if (!again && chain_.size() <= kMostIncludes) return {};
    std::string names;
    for (const std::string& file : chain_) names += base::printable(file) + " → ";
    names += base::printable(path);
    return wrong((again ? "policy files include each other in a circle: "
                        : "policy files include each other too deeply (the most is " +
                              std::to_string(kMostIncludes) + "): ") +
                 names + (again ? ": remove one include" : ": include less deeply"));
  }

  static std::string beside(const std::string& file, const std::string& include) {
    if (include.starts_with('/')) return include;
    const std::size_t slash = file.rfind('/');
    return slash == std::string::npos ? include : file.substr(0, slash + 1) + include;
  }

  // Lengths first, so that two files cannot be taken for two others.
  void remember(const PolicyText& file) {
    policy_.files.push_back(file.path);
    digest_.add(std::to_string(file.path.size()) + ":" + file.path + ":" +
                std::to_string(file.text.size()) + ":");
    digest_.add(file.text);
  }

  void take_profile(std::map<std::string, Ceiling>& profiles) {
    for (auto& [name, ceiling] : profiles) {
      profiles_.insert(name);
      if (profile_.empty() || name != profile_) continue;
      found_ = true;
      policy_.ceilings.push_back(std::move(ceiling));
    }
  }

  const std::string& profile_;
  const ReadPolicy& read_;
  const PathContext& context_;
  Policy policy_;
  base::Sha256 digest_;
  std::vector<std::string> chain_;
  std::set<std::string> profiles_;
  bool found_ = false;
};

}  // namespace

Result<Policy> assemble(std::span<const std::string> roots, const std::string& profile,
                        const ReadPolicy& read, const PathContext& context) {
  Assembler assembler(profile, read, context);
  for (const std::string& root : roots) {
    if (auto added = assembler.add(root, true); !added) return std::unexpected(added.error());
  }
  if (auto added = assembler.add_builtin(); !added) return std::unexpected(added.error());
  return assembler.finish();
}

}  // namespace cordon::policy
