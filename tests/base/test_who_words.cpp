// Ids in files: seven words each, and what the three words of older files meant.
#include <gtest/gtest.h>

#include <array>

#include "base/who_words.hpp"

namespace stickslip {
namespace {

TEST(WhoWords, IdsComeBackFromTheirSevenWords) {
    const ContactId shapes{ContactKind::shapes, 7, 0xfffffffeu, {70000, 5}, {0xc0000003u, 0x80001000u}};
    const ContactId limit{ContactKind::limit, 3, 1, {}, {1, 0}};
    for (const ContactId& id : {shapes, limit, no_contact}) {
        EXPECT_FALSE(is_subject(words_of(id)));
        EXPECT_EQ(contact_of(who_at(words_of(id).data(), who_words, 0)), id);
    }
    for (const SubjectKind kind : {SubjectKind::body, SubjectKind::joint, SubjectKind::spring}) {
        const WhoWords words = words_of(Subject{kind, 9});
        EXPECT_TRUE(is_subject(words));
        EXPECT_EQ(subject_of(words), (Subject{kind, 9}));
        EXPECT_EQ(contact_of(words), no_contact);
    }
}

TEST(WhoWords, OldIdsOfThreeWordsMeanTheSame) {
    const auto old = [](std::uint32_t a, std::uint32_t b, std::uint32_t feature) {
        return std::array<std::uint32_t, 6>{0, 0, 0, a, b, feature};
    };
    const auto who = [&](std::uint32_t a, std::uint32_t b, std::uint32_t feature) {
        return who_at(old(a, b, feature).data(), old_who_words, 1);
    };
    // vertex 7 of shape 2 on face 5 of shape 4
    EXPECT_EQ(contact_of(who(2, 4, 0x30071005)),
              (ContactId{ContactKind::shapes, 2, 4, {}, {0xc0000007u, 0x40000005u}}));
    EXPECT_EQ(contact_of(who(0x80000003u, 1, 1)), (ContactId{ContactKind::limit, 3, 1, {}, {1, 0}}));
    EXPECT_EQ(contact_of(who(0xffffffffu, 0xffffffffu, 0xffffffffu)), no_contact);
    EXPECT_EQ(subject_of(who(0x40000005u, 2, 0)), (Subject{SubjectKind::spring, 5}));
    EXPECT_EQ(contact_of(who(6, 0, 0)), (ContactId{ContactKind::shapes, 6, 0, {}, {}}));  // of a Lagrangian system
}

}  // namespace
}  // namespace stickslip
