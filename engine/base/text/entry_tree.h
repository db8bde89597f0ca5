// SPDX-License-Identifier: Apache-2.0
// Builds the trees of plain entries and of table rows. Several threads may read entries of one list, each
// with its own entry_tree; what they share does not change meanwhile.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "engine/base/text/document.h"

namespace tilewalk::config {

// Aligned to its own cache lines, since each thread writes to its own all the time.
class alignas(128) entry_tree {
  public:
    // Reads entries of the list `in`. Nodes point at `keys`, which must outlive them.
    entry_tree(const node::scope& in, std::unordered_set<std::string>& keys);

    // False if entry number `index` of its list has a duplicate key and must be refused.
    bool read(std::string_view text, int line, int column, int index, node& into);

    // A tree for each thread, for a list whose entries are the rows of a table under the key `list`.
    static std::vector<entry_tree> of_rows(const std::string& table, const std::string& list, int threads);
    // A row arrives piece by piece; offsets of a piece count from stands_at(). Its values are plain.
    void row_begins(int line, int column, int index, node& into);
    void stands_at(int line, int column);
    void row_ends();
    // Adds a value that was read apart, with its first character here.
    void tell(const node& value, int first_line, int first_column);

    void nothing() { add(begun(0, node::shape::null)); }

    // Called by plain_entry.
    void key(std::size_t at, std::string_view text);
    void word(std::size_t at, std::string_view text);
    void mapping_starts(std::size_t at) { open(at, node::shape::mapping); }
    void mapping_ends();
    void sequence_starts(std::size_t at) { open(at, node::shape::sequence); }
    void sequence_ends();

  private:
    // An open container. Its content is stored behind that of the container around it and moved out on
    // closing, so that memory is allocated once, to size.
    struct level {
        node container;
        std::shared_ptr<const node::scope> scope;
        std::size_t first = 0;             // index of its first content
        const std::string* key = nullptr;  // key of the next value
        int key_line = 0, key_column = 0;
    };
    node begun(std::size_t at, node::shape kind) const;
    void open(std::size_t at, node::shape kind);
    void add(node&& value);
    level closed();

    // A copy, so that threads do not contend for one reference count.
    const std::shared_ptr<const node::scope> in_;
    std::unordered_set<std::string>& keys_;
    std::string key_;  // buffer for look-up
    int line_ = 0, column_ = 0, index_ = 0;
    bool has_key_twice_ = false;
    node::style style_ = node::style::plain;  // for the next word
    std::vector<level> open_;
    std::vector<node> items_;
    std::vector<node::member> members_;
    node* into_ = nullptr;
};

}  // namespace tilewalk::config
