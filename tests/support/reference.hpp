// Reference values of tests/data/reference.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "stickslip/error.hpp"

namespace stickslip::testing {

// Reference values: `word number number ...` per line, # begins a comment that says what they are.
class Reference {
public:
    explicit Reference(const std::string& name) {
        std::ifstream file(STICKSLIP_TEST_DATA "/reference/" + name + ".txt");
        EXPECT_TRUE(file.good()) << name;
        for (std::string line; std::getline(file, line);) {
            if (line.empty() || line[0] == '#') continue;
            std::istringstream words(line);
            std::string word;
            words >> word;
            std::vector<double>& row = rows_[word].emplace_back();
            for (double x = 0; words >> x;) row.push_back(x);
        }
    }
    const std::vector<std::vector<double>>& rows(const std::string& word) const { return rows_.at(word); }
    // The row that begins with these numbers.
    const std::vector<double>& row(const std::string& word, std::initializer_list<double> start) const {
        for (const std::vector<double>& row : rows(word))
            if (std::equal(start.begin(), start.end(), row.begin())) return row;
        throw Error("no such reference: " + word);
    }

private:
    std::map<std::string, std::vector<std::vector<double>>> rows_;
};

}  // namespace stickslip::testing
