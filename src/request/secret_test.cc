#include "cordon/secret.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <type_traits>

#include "cordon/request.h"
#include "request/environment.h"

namespace cordon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

SecretValue value(std::string_view bytes) { return SecretValue::copy_of(bytes).value(); }

// Printing one, or turning it into text by accident, does not compile.
template <typename T>
concept Printable = requires(std::ostream& out, const T& value) { out << value; };
static_assert(!Printable<SecretValue>);
static_assert(!Printable<Secret>);
static_assert(!std::is_convertible_v<SecretValue, std::string_view>);

Request with(std::vector<Secret> secrets) {
  Request request;
  request.program = "true";
  request.secrets = std::move(secrets);
  return request;
}

std::string refusal(const Request& request) {
  const auto valid = validate(request);
  return valid ? "" : valid.error().message;
}

TEST(Secret, CopiesShareTheirBytes) {
  const SecretValue first = value("hush");
  const SecretValue second = first;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(second.reveal(), "hush");
  EXPECT_EQ(first.reveal().data(), second.reveal().data());
  EXPECT_EQ(SecretValue().size(), 0U);
}

TEST(Secret, HasAtMost64KiB) {
  EXPECT_TRUE(SecretValue::copy_of(std::string(kMostSecretBytes, 'x')));
  const auto refused = SecretValue::copy_of(std::string(kMostSecretBytes + 1, 'x'));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
}

TEST(Secret, NamesAreThoseOfVariables) {  // C63
  for (const char* name : {"A", "_", "api_key", "API_KEY_2", "_9"}) {
    EXPECT_TRUE(valid_secret_name(name)) << name;
    EXPECT_EQ(secret_name_warning(name), "");
  }
  for (const char* name : {"", "9A", "A-B", "A B", "A/B", "A=B", "A\n", "../A", "Ä"}) {
    EXPECT_FALSE(valid_secret_name(name)) << name;
    EXPECT_THAT(refusal(with({{name, value("hush"), {}}})), HasSubstr("secret name")) << name;
  }
  EXPECT_FALSE(valid_secret_name(std::string("A\0B", 3)));
  EXPECT_FALSE(valid_secret_name(std::string(201, 'A')));
}

TEST(Secret, WarningsHaveTheNameOnOneLine) {  // C64
  EXPECT_EQ(secret_name_warning("a\nb"),
            "secret \"a\\nb\" was skipped: its name is not made of letters, digits and _");
  EXPECT_LT(secret_name_warning(std::string(10000, '-')).size(), 200U);
}

TEST(Secret, ARefusedNameShowsNoValue) {  // C65
  EXPECT_THAT(refusal(with({{"TOKEN=hunter2", value("hush"), {}}})), Not(HasSubstr("hunter2")));
}

TEST(Secret, NothingIsNoSecret) {
  EXPECT_THAT(refusal(with({{"A", SecretValue(), {}}})), HasSubstr("secret A is empty"));
}

TEST(Secret, NulCannotBeInAVariable) {
  const std::string_view bytes("hu\0sh", 5);
  EXPECT_THAT(refusal(with({{"A", value(bytes), Secret::Delivery::env}})), HasSubstr("NUL"));
  EXPECT_EQ(refusal(with({{"A", value(bytes), Secret::Delivery::fd}})), "");
  EXPECT_EQ(refusal(with({{"A", value(bytes), Secret::Delivery::file}})), "");
}

TEST(Secret, NewlinesAreAllowed) { EXPECT_EQ(refusal(with({{"A", value("a\nb\n"), {}}})), ""); }

TEST(Secret, NoVariableIsSetTwice) {
  const SecretValue hush = value("hush");
  EXPECT_THAT(refusal(with({{"A", hush, {}}, {"A", hush, Secret::Delivery::fd}})),
              HasSubstr("twice"));
  EXPECT_THAT(refusal(with({{"A", hush, Secret::Delivery::fd}, {"A_FD", hush, {}}})),
              HasSubstr("A_FD"));
  Request request = with({{"A", hush, Secret::Delivery::file}});
  request.env = {{"A_FILE", "/elsewhere"}};
  EXPECT_THAT(refusal(request), HasSubstr("A_FILE"));
}

TEST(Secret, ThereAreNotTooMany) {
  std::vector<Secret> many;
  for (std::size_t i = 0; i <= kMostSecrets; ++i) {
    many.push_back({"S" + std::to_string(i), value("hush"), {}});
  }
  EXPECT_THAT(refusal(with(many)), HasSubstr("more than 64"));
  many.pop_back();
  EXPECT_EQ(refusal(with(many)), "");
}

TEST(Secret, IsNotInTheEnvironmentThatOthersSee) {
  Request request = with({{"A", value("hush"), {}}, {"B", value("hush"), Secret::Delivery::fd}});
  request.env_pass = {"*"};
  const std::string_view host[] = {"A=the caller's", "B_FD=9", "C=1"};
  EXPECT_THAT(request::resolve_environment(request, host), ElementsAre("C=1"));
}

}  // namespace
}  // namespace cordon
