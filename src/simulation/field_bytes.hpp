// Fields that live on between steps as bytes, and back: for snapshots, and for steps that are taken back. Numbers are copied bit by
// bit. Writing into memory that was used before allocates nothing once it is large enough.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "stickslip/error.hpp"
#include "stickslip/scheme.hpp"

namespace stickslip {

class FieldWriter final : public FieldVisitor {
public:
    std::vector<std::uint8_t> written;

    // From the beginning, over what is there; end() takes away what is left of that.
    void begin() { at_ = 0; }
    void end() { written.resize(at_); }

private:
    void bytes(void* data, std::size_t size) override {
        if (written.size() < at_ + size) written.resize(at_ + size);
        if (size > 0) std::memcpy(written.data() + at_, data, size);
        at_ += size;
    }
    std::size_t count(std::size_t now, std::size_t) override {
        auto n = static_cast<std::uint64_t>(now);
        bytes(&n, sizeof n);
        return now;
    }

    std::size_t at_ = 0;
};

class FieldReader final : public FieldVisitor {
public:
    explicit FieldReader(const std::vector<std::uint8_t>& bytes) : bytes_(bytes) {}

private:
    void bytes(void* data, std::size_t size) override {
        if (bytes_.size() - at_ < size) throw Error("the snapshot is cut short");
        if (size > 0) std::memcpy(data, bytes_.data() + at_, size);
        at_ += size;
    }
    std::size_t count(std::size_t, std::size_t entry_size) override {
        std::uint64_t n = 0;
        bytes(&n, sizeof n);
        if (n > (bytes_.size() - at_) / entry_size) throw Error("the snapshot is cut short");
        return static_cast<std::size_t>(n);
    }
    const std::vector<std::uint8_t>& bytes_;
    std::size_t at_ = 0;
};

}  // namespace stickslip
