// SPDX-License-Identifier: Apache-2.0
// The trees of plain entries, one after the other, and of the rows of tables. Entries of one list may be read
// by several threads, each with an entry_tree of its own: what they share does not change meanwhile.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "engine/base/text/document.h"

namespace tilewalk::config {

// In cache lines of its own, since it is written to all the time beside those of other threads.
class alignas(128) entry_tree {
  public:
    // Reads entries of the list `in`. Nodes point at `keys`, which live as long as they do.
    entry_tree(const node::scope& in, std::unordered_set<std::string>& keys);

    // Reads the entry that is `text` and number `index` of its list, from its first character on. False for
    // one that has a key twice, which is to be refused.
    bool read(std::string_view text, int line, int column, int index, node& into);

    // One for each thread, for a list that stands in a table under the key `list`: its rows are the entries.
    static std::vector<entry_tree> of_rows(const std::string& table, const std::string& list, int threads);
    // A row is told piece by piece: what is told after stands_at() counts from there. Its values are plain.
    void row_begins(int line, int column, int index, node& into);
    void stands_at(int line, int column);
    // Ends it, and whatever in it is open still.
    void row_ends();
    // All of a value that was read apart and whose first character stands here.
    void tell(const node& value, int first_line, int first_column);

    // A value that is nothing.
    void nothing() { add(begun(0, node::shape::null)); }

    // Called by plain_entry.
    void key(std::size_t at, std::string_view text);
    void word(std::size_t at, std::string_view text);
    void mapping_starts(std::size_t at) { open(at, node::shape::mapping); }
    void mapping_ends();
    void sequence_starts(std::size_t at) { open(at, node::shape::sequence); }
    void sequence_ends();

  private:
    // A container that is not closed yet. Its content stands behind that of the one around it until it is,
    // so that it gets memory once, and no more than it needs.
    struct level {
        node container;
        std::shared_ptr<const node::scope> scope;
        std::size_t first = 0;             // of its content
        const std::string* key = nullptr;  // of the value that comes next
        int key_line = 0, key_column = 0;
    };
    node begun(std::size_t at, node::shape kind) const;
    void open(std::size_t at, node::shape kind);
    void add(node&& value);
    level closed();

    // Its own, so that threads do not count the users of one.
    const std::shared_ptr<const node::scope> in_;
    std::unordered_set<std::string>& keys_;
    std::string key_;  // that is looked up
    int line_ = 0, column_ = 0, index_ = 0;
    bool has_key_twice_ = false;
    node::style style_ = node::style::plain;  // of the next word
    std::vector<level> open_;
    std::vector<node> items_;
    std::vector<node::member> members_;
    node* into_ = nullptr;
};

}  // namespace tilewalk::config
