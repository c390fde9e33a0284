#include "cordon/tenant.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace cordon {
namespace {

static_assert(!std::is_default_constructible_v<Tenant>, "nobody is a tenant by accident");
static_assert(!std::is_convertible_v<std::string, Tenant>, "… nor is every text one");

TEST(TenantTest, IsKnownByItsName) {
  const Tenant tenant = Tenant::named("judge-7@site:eu_1.a").value();
  EXPECT_EQ(tenant.name(), "judge-7@site:eu_1.a");
  EXPECT_EQ(tenant, Tenant::named("judge-7@site:eu_1.a").value());
  EXPECT_NE(tenant, Tenant::named("judge-8").value());
}

TEST(TenantTest, NamesHaveALengthAndFewCharacters) {
  EXPECT_TRUE(Tenant::named(std::string(kLongestTenant, 'x')));
  for (const std::string& wrong :
       {std::string(), std::string(kLongestTenant + 1, 'x'), std::string("-a"), std::string("a b"),
        std::string("a/b"), std::string("\xc3\xa4"), std::string("a\0b", 3), std::string("a\n")}) {
    const auto refused = Tenant::named(wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(refused.error().message.find("names no tenant"), std::string::npos);
  }
}

}  // namespace
}  // namespace cordon
