// SPDX-License-Identifier: Apache-2.0
#include "engine/base/text/entry_tree.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/base/text/plain_entry.h"
#include "engine/base/text/tree_parts.h"

namespace tilewalk::config {

namespace {

template <class value>
std::vector<value> taken_from(std::vector<value>& all, std::size_t first) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
    std::vector<value> out(std::make_move_iterator(begin), std::make_move_iterator(all.end()));
    all.erase(begin, all.end());
    return out;
}

}  // namespace

entry_tree::entry_tree(const node::scope& in, std::unordered_set<std::string>& keys)
    : in_(std::make_shared<const node::scope>(in)), keys_(keys) {}

bool entry_tree::read(std::string_view text, int line, int column, int index, node& into) {
    line_ = line;
    column_ = column;
    index_ = index;
    into_ = &into;
    has_key_twice_ = false;
    plain_entry(text, *this).scan();
    return !has_key_twice_;
}

std::vector<entry_tree> entry_tree::of_rows(const std::string& table, const std::string& list, int threads) {
    auto source = std::make_shared<node::source>();
    source->name = table;
    source->keys_of_entries.resize(static_cast<std::size_t>(std::max(threads, 1)));
    node::scope rows;
    rows.from = source.get();
    rows.key = &*source->keys.insert(list).first;
    auto& keys = source->keys_of_entries;
    auto top = std::make_shared<node::scope>();
    top->from = source.get();
    top->held = std::move(source);
    rows.outer = std::move(top);
    std::vector<entry_tree> out;
    for (auto& of_thread : keys) out.emplace_back(rows, of_thread);
    return out;
}

void entry_tree::row_begins(int line, int column, int index, node& into) {
    index_ = index;
    into_ = &into;
    stands_at(line, column);
    mapping_starts(0);
}

void entry_tree::row_ends() {
    while (!open_.empty()) open_.back().container.is_sequence() ? sequence_ends() : mapping_ends();
}

void entry_tree::stands_at(int line, int column) {
    line_ = line;
    column_ = column;
}

void entry_tree::tell(const node& value, int first_line, int first_column) {
    const auto moved_to = [&](int line, int column) {
        stands_at(first_line + line - 1, line == 1 ? first_column + column - 1 : column);
    };
    moved_to(value.line_, value.column_);
    switch (value.kind_) {
        case node::shape::null:
            nothing();
            break;
        case node::shape::scalar:
            style_ = value.style_;
            word(0, std::get<std::string>(value.content_));
            style_ = node::style::plain;
            break;
        case node::shape::sequence:
            sequence_starts(0);
            for (const node& item : value.items()) tell(item, first_line, first_column);
            sequence_ends();
            break;
        case node::shape::mapping:
            mapping_starts(0);
            for (const node::member& m : value.members()) {
                moved_to(m.line, m.column);
                key(0, m.key);
                tell(m.value, first_line, first_column);
            }
            mapping_ends();
            break;
    }
}

void entry_tree::key(std::size_t at, std::string_view text) {
    level& in = open_.back();
    key_ = text;
    in.key = &*keys_.insert(key_).first;
    in.key_line = line_;
    in.key_column = column_ + static_cast<int>(at);
    for (std::size_t m = in.first; m < members_.size(); ++m)
        has_key_twice_ = has_key_twice_ || members_[m].value.key_ == in.key;
}

void entry_tree::word(std::size_t at, std::string_view text) {
    node scalar = begun(at, node::shape::scalar);
    scalar.style_ = style_;
    std::get<std::string>(scalar.content_) = text;
    add(std::move(scalar));
}

void entry_tree::mapping_ends() {
    level done = closed();
    done.container.content_ = taken_from(members_, done.first);
    add(std::move(done.container));
}

void entry_tree::sequence_ends() {
    level done = closed();
    done.container.content_ = taken_from(items_, done.first);
    add(std::move(done.container));
}

node entry_tree::begun(std::size_t at, node::shape kind) const {
    node made;
    made.kind_ = kind;
    made.line_ = line_;
    made.column_ = column_ + static_cast<int>(at);
    if (open_.empty()) {
        made.scope_ = in_;
        made.index_ = index_;
        return made;
    }
    const level& in = open_.back();
    made.scope_ = in.scope;
    made.key_ = in.key;
    if (in.container.is_sequence()) made.index_ = static_cast<int>(items_.size() - in.first);
    return made;
}

void entry_tree::open(std::size_t at, node::shape kind) {
    node container = begun(at, kind);
    container.is_closed_ = true;
    auto inside = std::make_shared<node::scope>();
    inside->from = in_->from;
    inside->outer = container.scope_;
    inside->key = container.key_;
    inside->index = container.index_;
    const std::size_t first = kind == node::shape::mapping ? members_.size() : items_.size();
    open_.push_back({std::move(container), std::move(inside), first});
}

void entry_tree::add(node&& value) {
    if (open_.empty()) {
        *into_ = std::move(value);
        return;
    }
    level& in = open_.back();
    if (in.container.is_sequence()) {
        items_.push_back(std::move(value));
    } else {
        members_.push_back({*in.key, std::move(value), in.key_line, in.key_column});
        in.key = nullptr;
    }
}

entry_tree::level entry_tree::closed() {
    level done = std::move(open_.back());
    open_.pop_back();
    return done;
}

}  // namespace tilewalk::config
