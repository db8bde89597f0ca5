// SPDX-License-Identifier: Apache-2.0
#include "engine/study/session/gpus_ahead.h"

#include <algorithm>
#include <exception>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "engine/base/crew.h"
#include "engine/walk/cuda/compile/kernel_text.h"
#include "engine/walk/cuda/random/fill_kernels.h"

namespace tilewalk::studies {

gpus_of_run::gpus_of_run(cuda::backend& gpus, const std::string& device, bool may_walk, timings* times)
    : gpus_(gpus), device_(device), times_(times) {
    known_ = may_walk ? gpus.chosen(device) : cuda::backend::choice{};
    if (device != "auto" || gpus.tiles_before_gpus() == 0) begin();
}

void gpus_of_run::begin_for(double seconds_on_processor) {
    constexpr double least_seconds = 0.5;  // a driver takes 0.2 to 0.3 s to open
    if (!have_begun() && gpus_.seconds_on_processor() + seconds_on_processor > least_seconds) begin();
}

void gpus_of_run::begin() {
    if (have_begun()) return;
    auto promise = std::make_shared<std::promise<cuda::backend::choice>>();
    opening_ = promise->get_future().share();
    if (known_) {
        promise->set_value(*known_);
        return;
    }
    gpus_.beside([&gpus = gpus_, device = device_, clock = clock_, promise] {
        const auto begin = timings::clock::now();
        const auto note_time = [&] {
            const std::lock_guard guard(clock->lock);
            clock->taken = timings::clock::now() - begin;
        };
        try {
            cuda::backend::choice made = gpus.choose(device);
            note_time();
            promise->set_value(std::move(made));
        } catch (...) {
            note_time();
            promise->set_exception(std::current_exception());
        }
    });
}

gpus_of_run::~gpus_of_run() {
    const std::lock_guard guard(clock_->lock);
    if (times_ != nullptr) times_->add_beside(stage::opening_gpus, clock_->taken);
}

bool gpus_of_run::are_open() const {
    return known_ ||
           (have_begun() && opening_.wait_for(std::chrono::seconds(0)) == std::future_status::ready);
}

const cuda::backend::choice& gpus_of_run::get() {
    if (known_) return *known_;
    begin();
    const timings::during waiting(times_, stage::opening_gpus);
    known_ = opening_.get();
    return *known_;
}

gpus_ahead::gpus_ahead(cuda::backend& gpus, const settled& run, const run::walk& all,
                       std::vector<owned_job> jobs, const cuda::ways_back::decider& way_back)
    : gpus_(gpus),
      how_(run.how),
      how_of_points_(run.how_of_points),
      correlation_(run.correlation),
      sources_{&source_of(run, false), &source_of(run, true)},
      memory_bytes_(run.memory_bytes),
      threads_(run.threads),
      points_(all.points),
      unit_paths_(all.unit_paths),
      replays_(all.replay != nullptr),
      jobs_(std::move(jobs)),
      way_back_(way_back) {
    run::walk so = all;
    std::array<std::size_t, 3> counts{};
    for (const owned_job& one : jobs_) {
        const bool has_points = so.points_of(one.walked.job()).has_value();
        way_of_.push_back(one.back ? both_ways : has_points ? with_points : without_points);
        place_of_.push_back(counts[way_of_.back()]++);
    }
    group_of.assign(jobs_.size(), none);
}

void gpus_ahead::begin(const std::shared_future<cuda::backend::choice>& opening) {
    gpus_.beside([self = shared_from_this(), opening] {
        try {
            self->prepare(opening.get());
        } catch (const std::exception&) {
            // The walk goes on without GPUs; one that waits for them meets the same error.
            const std::lock_guard guard(self->lock);
            self->is_prepared = self->are_none = true;
            self->changed.notify_all();
        }
    });
}

void gpus_ahead::prepare(const cuda::backend::choice& on) {
    const auto begin = timings::clock::now();
    on_ = on;
    const bool is_any = !on.devices.empty();
    std::array<std::vector<std::size_t>, 3> jobs;
    std::optional<cuda::tuned_device> tuned;
    if (is_any) {
        ahead_ = &gpus_.ahead();
        for (std::size_t j = 0; j < jobs_.size(); ++j) jobs[way_of_[j]].push_back(j);
        for (const auto& d : on.devices) {
            const std::string one = d->get().properties().architecture();
            if (std::ranges::find(architectures_, one) == architectures_.end()) architectures_.push_back(one);
        }
        tuned.emplace(cuda::tuned_device{gpus_.tuned(), on.devices.front()->get().properties()});
    }
    for (const way of : {without_points, with_points})
        if (!jobs[of].empty() && !gpus_.is_closing()) make_groups_of_paths(of, jobs[of], tuned);
    if (!jobs[both_ways].empty() && !gpus_.is_closing()) make_groups_of_ways_back(jobs[both_ways], tuned);
    if (is_any) look_for_kernels();
    const std::lock_guard guard(lock);
    is_prepared = true;
    are_none = !is_any;
    preparing_ = timings::clock::now() - begin;
    settle();
    changed.notify_all();
}

std::size_t gpus_ahead::kernel_of(const std::string& text) {
    const auto known = std::ranges::find(kernels, text, &kernel::text);
    if (known != kernels.end()) return static_cast<std::size_t>(known - kernels.begin());
    kernels.emplace_back().text = text;
    return kernels.size() - 1;
}

void gpus_ahead::make_groups_of_paths(way of, std::span<const std::size_t> jobs,
                                      const std::optional<cuda::tuned_device>& tuned) {
    std::vector<walked_job> walked;
    for (const std::size_t j : jobs) walked.push_back(jobs_[j].walked);
    trades_[of] = std::make_shared<const gpu_trades>(std::move(walked), nullptr, threads_);
    const cuda::kernel_wish& how = of == with_points ? how_of_points_ : how_;
    std::vector<std::size_t> shared;
    if (of == with_points)
        for (const std::string& text :
             random::texts_of_points(program::shock_type(how.precision), program::is_fast(how.precision)))
            shared.push_back(kernel_of(text));
    std::vector<std::vector<std::size_t>> by_job(jobs.size());
    std::vector<std::size_t> first(jobs.size(), none);
    for (const cuda::needed_kernel& k :
         cuda::kernels_of(trades_[of]->jobs(), how, correlation_, tuned, points_, threads_)) {
        const std::size_t number = kernel_of(k.text);
        const bool is_path_kernel = k.name.starts_with("walk");
        for (const std::size_t p : k.jobs) {
            by_job[p].push_back(number);
            if (is_path_kernel) first[p] = number;
        }
    }
    std::map<std::vector<std::size_t>, std::size_t> known;
    for (std::size_t p = 0; p < jobs.size(); ++p) {
        if (first[p] == none) continue;  // it can't be packed
        std::vector<std::size_t> all{first[p]};
        for (const std::size_t k : by_job[p])
            if (k != first[p]) all.push_back(k);
        all.insert(all.end(), shared.begin(), shared.end());
        const auto [at, is_new] = known.try_emplace(all, groups.size());
        if (is_new) groups.push_back({std::move(all)});
        group_of[jobs[p]] = at->second;
    }
}

void gpus_ahead::make_groups_of_ways_back(std::span<const std::size_t> jobs,
                                          const std::optional<cuda::tuned_device>& tuned) {
    const std::size_t merge = kernel_of(cuda::merge_kernel_text());
    const int rounds = sources_[0]->rounds > 0 ? sources_[0]->rounds : kernels::philox_rounds;
    const auto decide = way_back_ ? way_back_ : cuda::ways_back::as_suits(how_.precision, rounds, tuned);
    run::walk all;
    all.unit_paths = unit_paths_;
    all.points = points_;
    std::map<std::tuple<const void*, const void*, bool>, std::size_t> known;
    for (const std::size_t j : jobs) {
        const run::job job = jobs_[j].job();
        if (!cuda::ways_back::can_walk(job)) continue;
        const bool reads_arrays = all.points_of(job).has_value() || replays_ || sources_[0]->rounds == 0;
        const auto [at, is_new] = known.try_emplace({job.code, job.back.code, reads_arrays}, groups.size());
        if (is_new)
            groups.push_back({{kernel_of(cuda::ways_back::text_of(job, decide(job), reads_arrays)), merge}});
        group_of[j] = at->second;
    }
}

void gpus_ahead::look_for_kernels() {
    cuda::kernel_store& store = gpus_.kernels();
    threads::for_each(kernels.size(), threads_, nullptr,
                      [&](int, std::uint64_t k) {
                          const bool is_there =
                              std::ranges::all_of(architectures_, [&](const std::string& a) {
                                  return store.known({kernels[k].text, a, {}}) != nullptr;
                              });
                          if (is_there) kernels[k].is = kernel::state::there;
                      },
                      {});
}

bool gpus_ahead::is_ready(std::size_t of) const {
    return std::ranges::all_of(groups[of].kernels,
                               [&](std::size_t k) { return kernels[k].is == kernel::state::there; });
}

std::optional<error> gpus_ahead::failure(std::size_t of) const {
    for (const std::size_t k : groups[of].kernels)
        if (kernels[k].failure) return kernels[k].failure;
    return std::nullopt;
}

bool gpus_ahead::has_all() const {
    if (are_none) return false;
    for (std::size_t g = 0; g < groups.size(); ++g)
        if (!is_ready(g)) return false;
    return true;
}

double gpus_ahead::cost(std::size_t of) const {
    const auto missing = std::ranges::count_if(
        groups[of].kernels, [&](std::size_t k) { return kernels[k].is == kernel::state::missing; });
    return static_cast<double>(missing) * ahead_->seconds_of_kernel() *
           static_cast<double>(architectures_.size());
}

int gpus_ahead::compiling() {
    {
        const std::lock_guard guard(lock);
        if (!is_prepared || are_none) return 0;
    }
    return ahead_->at_work();
}

double gpus_ahead::missed(std::size_t of) const {
    return ahead_->missed(kernels[groups[of].kernels.front()].text);
}

void gpus_ahead::compile(std::size_t of) {
    if (std::ranges::count(kernels, kernel::state::wanted, &kernel::is) == 0)
        compiling_since_ = timings::clock::now();
    for (const std::size_t k : groups[of].kernels) {
        if (kernels[k].is != kernel::state::missing) continue;
        kernels[k].is = kernel::state::wanted;
        const auto left = std::make_shared<std::size_t>(architectures_.size());
        const auto done = [self = shared_from_this(), k, left](const std::optional<error>& failure) {
            const std::lock_guard guard(self->lock);
            self->take_compiled(k, --*left == 0, failure);
        };
        for (const std::string& a : architectures_)
            if (!ahead_->want({kernels[k].text, a, {}}, threads_, done))
                take_compiled(k, false, error(error_kind::internal, "the system can't start a thread"));
    }
}

void gpus_ahead::take_compiled(std::size_t number, bool is_last, const std::optional<error>& failure) {
    kernel& made = kernels[number];
    if (failure) {
        made.is = kernel::state::failed;
        made.failure = failure;
    } else if (is_last && made.is == kernel::state::wanted) {
        made.is = kernel::state::there;
        made.was_compiled = true;
    }
    // The times of kernels that are compiled at once overlap.
    const auto now = timings::clock::now();
    compiling_ += now - std::exchange(compiling_since_, now);
    changed.notify_all();
}

void gpus_ahead::tell_times(timings* to) {
    const std::lock_guard guard(lock);
    if (to != nullptr) {
        to->add_beside(stage::packing, std::exchange(preparing_, {}));
        to->add_beside(stage::building_kernels, std::exchange(compiling_, {}));
    }
}

void gpus_ahead::end(std::vector<double> spent) {
    const std::lock_guard guard(lock);
    spent_ = std::move(spent);
    has_ended_ = true;
    settle();
}

void gpus_ahead::settle() {
    if (!is_prepared || !has_ended_ || is_settled_ || are_none) return;
    is_settled_ = true;
    std::vector<double> by_group(groups.size());
    for (std::size_t j = 0; j < spent_.size(); ++j)
        if (group_of[j] != none) by_group[group_of[j]] += spent_[j];
    for (std::size_t g = 0; g < groups.size(); ++g)
        if (!is_ready(g)) ahead_->add_missed(kernels[groups[g].kernels.front()].text, by_group[g]);
    for (const kernel& k : kernels)
        if (k.is == kernel::state::missing)
            for (const std::string& a : architectures_) ahead_->want_later({k.text, a, {}});
}

const random::catalogue_entry& gpus_ahead::source(way of) const {
    return *sources_[of == with_points ? 1 : 0];
}

cuda::gpu_settings gpus_ahead::settings(way of) const {
    return {of == with_points ? how_of_points_ : how_,
            correlation_,
            &source(of),
            memory_bytes_,
            threads_,
            &gpus_.tuned()};
}

run::outcome gpus_ahead::walk(const run::walk& of, std::span<const std::size_t> jobs) {
    run::outcome out;
    out.tallies.assign(jobs.size(), run::tally(1));
    out.failures.resize(jobs.size());
    for (const way w : {without_points, with_points, both_ways}) {
        std::vector<std::size_t> places;  // among `jobs`
        std::vector<run::job> asked;
        for (std::size_t k = 0; k < jobs.size(); ++k) {
            if (way_of_[jobs[k]] != w) continue;
            places.push_back(k);
            asked.push_back(w == both_ways ? jobs_[jobs[k]].job() : trades_[w]->jobs()[place_of_[jobs[k]]]);
        }
        if (places.empty()) continue;
        run::walk now = of;
        now.jobs = asked;
        cuda::gpu_facts walked;
        if (w == both_ways) {
            const cuda::tuned_device measured{gpus_.tuned(), on_.devices.front()->get().properties()};
            const int rounds = source(w).rounds > 0 ? source(w).rounds : kernels::philox_rounds;
            cuda::ways_back walks(
                on_.devices, gpus_.kernels(),
                way_back_ ? way_back_ : cuda::ways_back::as_suits(how_.precision, rounds, measured),
                memory_bytes_, threads_, source(w));
            std::mutex of_tallies;
            auto failed = walks.walk(now, [&](std::size_t k, const run::tally& found) {
                const std::lock_guard guard(of_tallies);
                out.tallies[places[k]] = found;
            });
            for (std::size_t k = 0; k < places.size(); ++k) out.failures[places[k]] = std::move(failed[k]);
            walked = walks.facts();
        } else {
            now.among = trades_[w]->jobs();
            now.owner = trades_[w];
            cuda::launcher launcher(on_.devices, gpus_.kernels(), settings(w));
            run::outcome got = launcher.walk_all(now);
            for (std::size_t k = 0; k < places.size(); ++k) {
                out.tallies[places[k]] = std::move(got.tallies[k]);
                out.failures[places[k]] = std::move(got.failures[k]);
            }
            walked = launcher.facts();
        }
        const std::lock_guard guard(lock);
        facts.add(walked);
    }
    return out;
}

}  // namespace tilewalk::studies
