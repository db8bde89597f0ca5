// SPDX-License-Identifier: Apache-2.0
// The suite `tiles`: makes the moves of correlated assets from shocks, a matrix product, by every kernel of
// kernels/correlation and by cuBLAS. Our kernels must give the bits of the plain one, which must give the
// host's on some paths. cuBLAS sums in orders of its own, and must be within a bound for any order.
#include "bench/suites/tiles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "bench/measure/attempt.h"
#include "bench/measure/cublas_library.h"
#include "bench/measure/same_bits.h"
#include "bench/measure/suites.h"
#include "bench/measure/timing.h"
#include "engine/walk/cuda/compile/correlation.h"
#include "engine/walk/cuda/device/memory.h"
#include "engine/walk/cuda/random/fill_kernels.h"
#include "kernels/tile.h"
#include "tilewalk/error.h"

namespace tilewalk::bench {

namespace tiles {

namespace {

constexpr std::array<std::size_t, 6> assets_measured{4, 16, 64, 256, 1024, 4096};

std::size_t root_at(std::size_t i, std::size_t j) {
    return i * (i + 1) / 2 + j;
}

}  // namespace

std::span<const std::size_t> all_assets() {
    return assets_measured;
}

product_size size_for(std::size_t assets, std::size_t bytes_of_real, std::size_t free_bytes) {
    // Limits of the work: at most 2^26 numbers in a cube, which counts for few assets, and at most 2^35 fused
    // multiply-adds of the full square, half of them useful, which counts for many.
    constexpr std::uint64_t most_elements = std::uint64_t{1} << 26, most_sums = std::uint64_t{1} << 35;
    constexpr std::uint64_t tile = kernels::paths_per_tile;
    const std::uint64_t wanted =
        std::max(tile, std::min(most_elements / assets, most_sums / (assets * assets)) / tile * tile);
    // Memory must hold shocks, moves, moves to compare with, and the roots as a triangle and as a square.
    const std::uint64_t of_path = 3 * assets * bytes_of_real, of_roots = 2 * assets * assets * bytes_of_real;
    const std::uint64_t room = free_bytes / 2;
    const std::uint64_t most = room > of_roots ? (room - of_roots) / of_path / tile * tile : 0;
    return {assets, std::min(wanted, most)};
}

std::string_view published_for(std::string_view variant, program::precision p, std::size_t assets) {
    // Published figures, of an early GPU, are for large square products in single.
    if (p != program::precision::single || assets != assets_measured.back()) return {};
    if (variant == "untiled") return "10.58 GFLOPS on a GeForce 8800";
    if (variant == "tiled_16_unrolled") return "46.49 GFLOPS on a GeForce 8800";
    return {};
}

program::move_numbers some_numbers(std::size_t assets) {
    program::move_numbers out;
    out.factors = assets;
    out.steps = 1;
    for (std::size_t i = 0; i < assets; ++i) {
        out.drifts.push_back(-0.001 * static_cast<double>(1 + i % 7));
        for (std::size_t j = 0; j <= i; ++j) {
            out.roots.push_back(0.01 + 0.001 * static_cast<double>((31 * i + 17 * j) % 13));
        }
    }
    return out;
}

template <class real>
std::vector<real> square_roots(const program::move_numbers& of) {
    std::vector<real> out(of.factors * of.factors);
    for (std::size_t i = 0; i < of.factors; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            out[i * of.factors + j] = static_cast<real>(of.roots[root_at(i, j)]);
        }
    }
    return out;
}

template <class real>
std::vector<real> moves_of_path(const program::move_numbers& of, std::span<const real> shocks) {
    std::vector<real> out;
    for (std::size_t i = 0; i < of.factors; ++i) {
        real sum = static_cast<real>(of.drifts[i]);
        for (std::size_t j = 0; j <= i; ++j) {
            sum = std::fma(shocks[j], static_cast<real>(of.roots[root_at(i, j)]), sum);
        }
        out.push_back(sum);
    }
    return out;
}

template <class real>
std::vector<bounded> product_of_path(const program::move_numbers& of, std::span<const real> shocks) {
    std::vector<bounded> out;
    // Error bound of a sum of n products in any order: n roundings of each product, to first order.
    const long double unit = std::numeric_limits<real>::epsilon();
    for (std::size_t i = 0; i < of.factors; ++i) {
        long double sum = 0, size = 0;
        for (std::size_t j = 0; j <= i; ++j) {
            const long double term =
                static_cast<long double>(shocks[j]) * static_cast<real>(of.roots[root_at(i, j)]);
            sum += term;
            size += std::abs(term);
        }
        out.push_back({sum, static_cast<long double>(i + 2) * unit * size});
    }
    return out;
}

template std::vector<float> square_roots(const program::move_numbers&);
template std::vector<double> square_roots(const program::move_numbers&);
template std::vector<float> moves_of_path(const program::move_numbers&, std::span<const float>);
template std::vector<double> moves_of_path(const program::move_numbers&, std::span<const double>);
template std::vector<bounded> product_of_path(const program::move_numbers&, std::span<const float>);
template std::vector<bounded> product_of_path(const program::move_numbers&, std::span<const double>);

namespace {

constexpr std::uint64_t seed = 42;
// The host checks this many paths at each end of the cube.
constexpr std::uint64_t sampled = 2;

template <class real>
class ladder {
  public:
    ladder(gpu_timer& on, const product_size& size)
        : on_(on),
          size_(size),
          pitch_(random::padded_paths(size.paths, element)),
          numbers_(some_numbers(size.assets)),
          packed_(on.uploaded(cuda::correlation_numbers(numbers_, precision))),
          shocks_(on.device(), cube_bytes()),
          moves_(on.device(), cube_bytes()),
          plain_(on.device(), cube_bytes()),
          waits_(on.device(), {on.stream()}) {
        const random::opening from{
            on.device(), [&](const std::string& text, const char* name) { return on.find(text, name); },
            seed,        size.paths,
            size.assets, element};
        random::draw_cube(from, {shocks_.as<void>(), pitch_, size.assets, random::shock_kind::normal}, 0,
                          size.paths, on.stream());
        for (std::uint64_t k = 0; k < sampled; ++k) {
            samples_.push_back({k, path_of(shocks_, k)});
            const std::uint64_t last = size.paths - 1 - k;
            samples_.push_back({last, path_of(shocks_, last)});
        }
    }

    static constexpr bool is_single = sizeof(real) == sizeof(float);
    static constexpr auto precision = is_single ? program::precision::single : program::precision::double_;
    static constexpr auto element = is_single ? arrays::element::single_ : arrays::element::double_;

    static json axes(std::size_t assets, std::string_view kernel) {
        return {{"kernel", kernel}, {"precision", is_single ? "single" : "double"}, {"assets", assets}};
    }

    void measure(const cuda::correlation_variant& v, row& r) {
        const bool is_plain = &v == &cuda::correlation_variants().front();
        const cuda::device_memory& into = is_plain ? plain_ : moves_;
        const cuda::correlation_job job{packed_.template as<void>(),
                                        shocks_.template as<void>(),
                                        into.template as<void>(),
                                        pitch_,
                                        pitch_,
                                        size_.paths,
                                        size_.assets,
                                        1};
        const cuda::kernel k = on_.find(cuda::correlation_text(v, precision), "correlate");
        const auto make = [&] { cuda::make_moves(on_.device(), k, v, precision, job, on_.stream()); };
        // Moves are filled with NaN first, to detect numbers that a kernel does not write.
        on_.device().fill(into.template as<void>(), 0xff, cube_bytes(), on_.stream());
        make();
        if (is_plain) {
            r.wrong = why_not_the_hosts(into);
            plain_is_right_ = r.wrong.empty();
        } else if (!plain_is_right_) {
            r.wrong = "there is no right result of the plain kernel to compare with";
        } else if (const auto differing = differing_words(on_, moves_.template as<void>(),
                                                          plain_.template as<void>(), cube_bytes())) {
            r.wrong = std::to_string(differing) + " words differ from those of the plain kernel";
        }
        if (!r.wrong.empty()) return;
        add_figures(r, on_.time(make));
        r.figures["registers"] =
            on_.device().attributes(k, {1, v.threads, v.shared_bytes(precision)}).registers;
        if (&v == &cuda::best_correlation_variant(size_.assets)) r.figures["chosen"] = true;
        const std::string_view published = published_for(v.name, precision, size_.assets);
        if (!published.empty()) r.figures["published"] = published;
    }

    void measure(cublas& with, bool triangular, row& r) {
        if (!square_) square_.emplace(on_.uploaded(square_roots<real>(numbers_)));
        const auto make = [&] {
            const auto* roots = square_->template as<real>();
            const auto* shocks = shocks_.template as<real>();
            auto* moves = moves_.template as<real>();
            const int assets = static_cast<int>(size_.assets), paths = static_cast<int>(size_.paths),
                      pitch = static_cast<int>(pitch_);
            if (triangular) {
                with.triangular(roots, shocks, moves, assets, paths, pitch);
            } else {
                with.general(roots, shocks, moves, assets, paths, pitch);
            }
        };
        on_.device().fill(moves_.template as<void>(), 0xff, cube_bytes(), on_.stream());
        make();
        r.wrong = why_not_within_bound(moves_);
        if (!r.wrong.empty()) return;
        add_figures(r, on_.time(make));
        r.figures["version"] = with.version();
    }

    void compare_with_plain(row& r) {
        if (!r.wrong.empty()) return;
        const double mine = r.figures["milliseconds"];
        if (plain_milliseconds_) {
            r.over = axes(size_.assets, cuda::correlation_variants().front().name);
            r.figures["ratio"] = *plain_milliseconds_ / mine;
        } else if (plain_is_right_) {
            plain_milliseconds_ = mine;
        }
    }

  private:
    struct sample {
        std::uint64_t path;
        std::vector<real> shocks;
    };

    std::size_t cube_bytes() const { return size_.assets * pitch_ * sizeof(real); }

    std::vector<real> path_of(const cuda::device_memory& cube, std::uint64_t path) {
        std::vector<real> column(size_.assets);
        for (std::size_t i = 0; i < size_.assets; ++i) {
            on_.device().download(&column[i], cube.template as<real>() + i * pitch_ + path, sizeof(real),
                                  on_.stream());
        }
        on_.device().wait(on_.stream());
        return column;
    }

    std::string why_not_the_hosts(const cuda::device_memory& moves) {
        for (const sample& s : samples_) {
            const auto expected = moves_of_path<real>(numbers_, s.shocks), got = path_of(moves, s.path);
            for (std::size_t i = 0; i < size_.assets; ++i) {
                if (kernels::to_bits(got[i]) == kernels::to_bits(expected[i])) continue;
                return place_of(i, s.path) + "is " + std::to_string(got[i]) + ", on the host " +
                       std::to_string(expected[i]);
            }
        }
        return {};
    }

    std::string why_not_within_bound(const cuda::device_memory& moves) {
        for (const sample& s : samples_) {
            const auto expected = product_of_path<real>(numbers_, s.shocks);
            const auto got = path_of(moves, s.path);
            for (std::size_t i = 0; i < size_.assets; ++i) {
                if (std::abs(got[i] - expected[i].exact) <= expected[i].bound) continue;
                return place_of(i, s.path) + "is " + std::to_string(got[i]) + ", exactly " +
                       std::to_string(expected[i].exact);
            }
        }
        return {};
    }

    static std::string place_of(std::size_t asset, std::uint64_t path) {
        return "the move of asset " + std::to_string(asset) + " on path " + std::to_string(path) + ' ';
    }

    void add_figures(row& r, const gpu_timer::timing& t) {
        r.figures = figures_of(t);
        const double seconds = t.milliseconds.median * 1e-3;
        const double rate = size_.bytes(sizeof(real)) / seconds;
        r.figures["paths"] = size_.paths;
        r.figures["gflops"] = size_.useful_flops() / seconds * 1e-9;
        r.figures["bytes_per_second"] = rate;
        r.figures["share_of_copy"] = rate / on_.copy_rate();
    }

    gpu_timer& on_;
    product_size size_;
    std::uint64_t pitch_;
    program::move_numbers numbers_;
    cuda::device_memory packed_, shocks_, moves_, plain_;
    std::optional<cuda::device_memory> square_;
    cuda::in_flight waits_;
    std::vector<sample> samples_;
    bool plain_is_right_ = false;
    std::optional<double> plain_milliseconds_;
};

constexpr std::pair<const char*, bool> products_of_cublas[] = {{"cublas_trmm", true}, {"cublas_gemm", false}};

template <class real>
void measure(gpu_timer& on, std::size_t assets, const sink& to) {
    const auto new_row = [&](std::string_view kernel) {
        row r;
        r.suite = "tiles";
        r.axes = ladder<real>::axes(assets, kernel);
        return r;
    };
    const product_size size = size_for(assets, sizeof(real), on.device().free_bytes());
    std::optional<ladder<real>> rungs;
    std::string why_not = "too little memory is free";
    if (size.paths > 0) {
        try {
            rungs.emplace(on, size);
        } catch (const cuda::device_error& e) {
            if (e.failure() != cuda::device_failure::out_of_memory) throw;
            why_not = e.what();
        }
    }
    for (const cuda::correlation_variant& v : cuda::correlation_variants()) {
        on.says("tiles: " + std::string(v.name) + ", " + std::to_string(assets) + " assets");
        if (!rungs) {
            skip(new_row(v.name), to, why_not);
            continue;
        }
        attempt(new_row(v.name), to, [&](row& r) {
            rungs->measure(v, r);
            rungs->compare_with_plain(r);
        });
    }
    std::optional<cublas> with;
    if (rungs) {
        try {
            with.emplace(cublas_of_machine(), on.device(), on.stream());
        } catch (const error& e) {
            why_not = e.what();
        }
    }
    for (const auto& [name, triangular] : products_of_cublas) {
        if (!with) {
            skip(new_row(name), to, why_not);
            continue;
        }
        attempt(new_row(name), to, [&, triangular = triangular](row& r) {
            rungs->measure(*with, triangular, r);
            rungs->compare_with_plain(r);
        });
    }
}

}  // namespace

}  // namespace tiles

void run_tiles(gpu_timer& on, const request&, const sink& to) {
    using namespace tiles;
    std::vector<std::string> texts{compare_text(),
                                   random::draw_text(arrays::element::single_, random::shock_kind::normal),
                                   random::draw_text(arrays::element::double_, random::shock_kind::normal)};
    for (const cuda::correlation_variant& v : cuda::correlation_variants()) {
        texts.push_back(cuda::correlation_text(v, program::precision::single));
        texts.push_back(cuda::correlation_text(v, program::precision::double_));
    }
    on.compile(texts);
    for (const std::size_t assets : all_assets()) {
        measure<float>(on, assets, to);
        measure<double>(on, assets, to);
    }
}

}  // namespace tilewalk::bench
