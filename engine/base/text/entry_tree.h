// SPDX-License-Identifier: Apache-2.0
// Builds the trees of plain entries and of rows of tables. Several threads may read entries of one list, each
// with its own entry_tree. Nothing that they share changes meanwhile.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "engine/base/text/document.h"

namespace tilewalk::config {

// Aligned so that two threads' trees share no cache line: each thread writes to its own all the time.
class alignas(128) entry_tree {
  public:
    // Reads entries of the list whose scope is `in`. `keys`, at which nodes point, must outlive them.
    entry_tree(const node::scope& in, std::unordered_set<std::string>& keys);

    // Reads entry number `index` of its list. Returns false if it has a duplicate key, and must be refused.
    bool read(std::string_view text, int line, int column, int index, node& into);

    // Makes a tree for each thread, to read a table's rows as entries of a list under the key `list`.
    static std::vector<entry_tree> of_rows(const std::string& table, const std::string& list, int threads);
    // Begin and end a row. It is scanned in pieces: offsets in a piece count from the place given to
    // stands_at(). Its values count as unquoted.
    void row_begins(int line, int column, int index, node& into);
    void stands_at(int line, int column);
    void row_ends();
    // Adds a copy of a value that was read elsewhere, with its first character at the place given.
    void tell(const node& value, int first_line, int first_column);

    void nothing() { add(begun(0, node::shape::null)); }

    // Events of plain_entry, which scans an entry.
    void key(std::size_t at, std::string_view text);
    void word(std::size_t at, std::string_view text);
    void mapping_starts(std::size_t at) { open(at, node::shape::mapping); }
    void mapping_ends();
    void sequence_starts(std::size_t at) { open(at, node::shape::sequence); }
    void sequence_ends();

  private:
    // An open container. Its content lies in items_ or members_ behind that of the container around it. On
    // closing it moves out, so that memory is allocated once and to size.
    struct level {
        node container;
        std::shared_ptr<const node::scope> scope;
        std::size_t first = 0;             // index of its first item or member
        const std::string* key = nullptr;  // key of the value that comes next
        int key_line = 0, key_column = 0;
    };
    node begun(std::size_t at, node::shape kind) const;
    void open(std::size_t at, node::shape kind);
    void add(node&& value);
    level closed();

    // A copy of the pointer, so that threads do not contend for one reference count.
    const std::shared_ptr<const node::scope> in_;
    std::unordered_set<std::string>& keys_;
    std::string key_;  // buffer in which keys are looked up
    int line_ = 0, column_ = 0, index_ = 0;
    bool has_key_twice_ = false;
    node::style style_ = node::style::plain;  // style of the next scalar
    std::vector<level> open_;
    std::vector<node> items_;
    std::vector<node::member> members_;
    node* into_ = nullptr;
};

}  // namespace tilewalk::config
