// Files and folders that users name: which may be read, what may be written where.
#pragma once

#include <string>
#include <string_view>

#include "stickslip/error.hpp"

namespace stickslip {

// What was to be written could not be: the disk is full, the folder is gone. The input may be right.
class WriteError : public Error {
public:
    using Error::Error;
};

// The text with its control characters as \x1b, so that a name out of a file cannot steer the terminal it is shown on.
// Every Error does this to its message.
std::string printable(std::string_view text);

// Throws Error where `path` is there and is not a regular file: opening a pipe waits for ever, a device may have no end.
// Errors name `shown` instead if it is given.
void require_regular(const std::string& path, const std::string& shown = {});

// Both are there and are one file, whatever links lead to it.
bool same_file(const std::string& a, const std::string& b);

// Throws Error, naming the option, where writing `output` would overwrite `input`. Empty names are no files.
void require_other(const std::string& output, const std::string& input, const char* option);

// Replaces the file. Throws Error where it cannot be opened, WriteError where the text does not reach it.
void write_text_file(const std::string& path, std::string_view text);

// Keeps a folder for one run. Ends with the object or the process, so that a killed run leaves nothing behind; where the
// file system has no locks it holds nothing. Throws Error while another run holds it.
class FolderLock {
public:
    FolderLock() = default;
    explicit FolderLock(const std::string& folder);
    FolderLock(FolderLock&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
    FolderLock& operator=(FolderLock&& other) noexcept;
    ~FolderLock();

private:
    int descriptor_ = -1;
};

}  // namespace stickslip
