// SPDX-License-Identifier: Apache-2.0
#include "engine/walk/cuda/paths/trades_on_device.h"

#include <algorithm>
#include <span>

namespace tilewalk::cuda {

using kernels::trade_record;
using kernels::word32;
using kernels::word64;

trades_on_device::trades_on_device(loaded_device& on, const run_state& run, stream s)
    : on_(on),
      run_(run),
      row_space_(space_named(run.run.how.row_space)),
      words_(on.get(), run.packed.words.size() * sizeof(word32)),
      records_(on.get(), run.packed.records.size() * sizeof(trade_record)) {
    arrange();
    const std::vector<trade_record> records = records_in_order();
    staging through(on.get(), s);
    upload_numbers(through);
    through.put(words_.as<std::byte>(), std::as_bytes(std::span(run.packed.words)));
    through.put(records_.as<std::byte>(), std::as_bytes(std::span(records)));
    on.get().wait(s);
    if (row_space_.lives_in == residence::texture_object) open_texture();
}

void trades_on_device::arrange() {
    std::size_t first = 0;
    for (const job_group& g : run_.groups) {
        first_record_.push_back(first);
        lists_.push_back(sizes_.emplace_back(run_, g).lists());
        first += g.jobs.size();
    }
}

std::vector<trade_record> trades_on_device::records_in_order() const {
    const packed_trades& p = run_.packed;
    std::vector<trade_record> records;
    records.reserve(p.records.size());
    for (std::size_t k = 0; k < run_.groups.size(); ++k) {
        const job_group& g = run_.groups[k];
        const std::size_t first = records.size();
        for (const std::size_t j : g.jobs) records.push_back(p.records[j]);
        if (!numbers_are_constant()) continue;
        for (const job_list& list : lists_[k]) {
            word64 at = 0;
            for (std::size_t i = list.first; i < list.first + list.count; ++i) {
                records[first + i].numbers_at = at;
                at += p.numbers_of(g.jobs[i]).size() / p.number_bytes;
            }
        }
    }
    return records;
}

void trades_on_device::bring_changes(stream s) {
    const packed_changes& changed = run_.changes;
    device& d = on_.get();
    bring_numbers(s);
    const std::vector<word32>& words = run_.packed.words;
    if (changed.words) d.upload(words_.as<void>(), words.data(), words.size() * sizeof(word32), s);
    if (!changed.records) return;
    const std::vector<trade_record> records = records_in_order();
    d.upload(records_.as<void>(), records.data(), records.size() * sizeof(trade_record), s);
}

void trades_on_device::bring_numbers(stream s) {
    const packed_trades& p = run_.packed;
    const std::vector<std::size_t>& jobs = run_.changes.numbers;
    if (numbers_are_constant()) return;  // each launch uploads its own
    for (std::size_t i = 0; i < jobs.size();) {
        std::size_t next = i + 1;
        while (next < jobs.size() && jobs[next] == jobs[next - 1] + 1) ++next;
        const std::span<const std::byte> last = p.numbers_of(jobs[next - 1]);
        const std::byte* from = p.numbers_of(jobs[i]).data();
        const auto bytes = static_cast<std::size_t>(last.data() + last.size() - from);
        const auto at = static_cast<std::size_t>(from - p.numbers.data());
        if (mapped_numbers_) {
            std::copy_n(from, bytes, mapped_numbers_->as<std::byte>() + at);
        } else {
            on_.get().upload(numbers_->as<std::byte>() + at, from, bytes, s);
        }
        i = next;
    }
}

void trades_on_device::upload_numbers(staging& through) {
    const std::vector<std::byte>& numbers = run_.packed.numbers;
    device& d = on_.get();
    if (row_space_.lives_in == residence::mapped_memory) {
        mapped_numbers_.emplace(d, numbers.size());
        std::copy(numbers.begin(), numbers.end(), mapped_numbers_->as<std::byte>());
        numbers_at_ = mapped_numbers_->on_device<void>();
    } else if (!numbers_are_constant()) {
        numbers_.emplace(d, numbers.size());
        through.put(numbers_->as<std::byte>(), numbers);
        numbers_at_ = numbers_->as<void>();
    }
}

void trades_on_device::open_texture() {
    const packed_trades& p = run_.packed;
    check_fits(row_space_, p.numbers.size() / p.number_bytes, static_cast<int>(p.number_bytes));
    device& d = on_.get();
    numbers_texture_.emplace(
        d, d.open_texture(numbers_at_, p.numbers.size(),
                          p.number_bytes == sizeof(float) ? texel::single : texel::two_words));
}

const trade_record* trades_on_device::records(std::size_t group, const job_list& list) const {
    return records_.as<trade_record>() + first_record_[group] + list.first;
}

void trades_on_device::point(kernels::path_arguments& a) const {
    a.numbers = numbers_at_;
    if (numbers_texture_) a.numbers_texture = static_cast<word64>(numbers_texture_->get());
    a.words = words_.as<word32>();
}

void trades_on_device::upload_constants(const job_group& g, const job_list& list, stream s) {
    std::vector<std::byte> numbers;
    for (std::size_t i = list.first; i < list.first + list.count; ++i) {
        const auto own = run_.packed.numbers_of(g.jobs[i]);
        numbers.insert(numbers.end(), own.begin(), own.end());
    }
    const std::span<std::byte> rows = on_.variable(g.walk.cubin_for(on_), "tilewalk_rows");
    on_.get().upload(rows.data(), numbers.data(), numbers.size(), s);
}

void trades_on_device::keep_in_l2(launch& how) const {
    if (row_space_.lives_in != residence::persisting_memory) return;
    how.persisting = numbers_at_;
    how.persisting_bytes = run_.packed.numbers.size();
}

}  // namespace tilewalk::cuda
