// SPDX-License-Identifier: Apache-2.0
// The source and scopes that a tree's nodes point at, for readers that build trees.
#pragma once

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "engine/base/text/document.h"

namespace tilewalk::config {

struct node::source {
    std::string name;
    // Keys that nodes point at; keys_of_entries has a set for each thread that reads entries.
    std::unordered_set<std::string> keys;
    std::vector<std::unordered_set<std::string>> keys_of_entries;
    bool has_end_marker = false;
    bool ends_in_line = false;           // the text does not end with a line break
    int last_line = 0, last_column = 0;  // place of the last value
};

struct node::scope {
    const source* from = nullptr;        // kept alive by `held` of the top scope
    std::shared_ptr<const scope> outer;  // null at the top
    std::shared_ptr<const source> held;  // keeps the source alive; set at the top
    const std::string* key = nullptr;    // key of this container in the container around it
    int index = -1;

    void write_path(std::string& path) const {
        if (outer) {
            outer->write_path(path);
            write_step(path, key, index);
        }
    }
    static void write_step(std::string& path, const std::string* key, int index) {
        if (key) {
            if (!path.empty()) path += '.';
            path += shortened(*key);
        } else if (index >= 0) {
            path += '[' + std::to_string(index) + ']';
        }
    }
};

}  // namespace tilewalk::config
