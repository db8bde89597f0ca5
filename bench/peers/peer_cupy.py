#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The workloads in CuPy: operations on arrays, and raw kernels.

For speed the raw kernels walk a path in registers on normals of cuRAND's device functions: Philox, which
needs no state in memory, with all four numbers of a draw used. The numbers of a workload are constants of
its kernels, float32 is compiled with -use_fast_math, and the device sums the payoffs, so that two numbers
leave it. The put's regressions are sums over paths in double; every block solves for the four coefficients
by itself, so that a date is one kernel and the host never waits in between."""
import functools
import glob
import math
import os
import sys

import peer

THREADS = 256
COMMON = r"""
#include <curand_kernel.h>

using generator = curandStatePhilox4_32_10_t;

__device__ int own_path() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ generator started(unsigned long long run) {
    generator g;
    curand_init(42, run * paths + own_path(), 0, &g);
    return g;
}

__device__ void draw(generator& from, float* z) {
    const float4 n = curand_normal4(&from);
    z[0] = n.x, z[1] = n.y, z[2] = n.z, z[3] = n.w;
}

__device__ void draw(generator& from, double* z) {
    const double2 n = curand_normal2_double(&from), m = curand_normal2_double(&from);
    z[0] = n.x, z[1] = n.y, z[2] = m.x, z[3] = m.y;
}

// Adds the values of all threads; all of a block call it.
template <int count>
__device__ void add(const double (&values)[count], double* sums) {
    __shared__ double of_warps[count][32];
    for (int i = 0; i < count; ++i) {
        double value = values[i];
        for (int apart = 16; apart > 0; apart /= 2) value += __shfl_down_sync(~0u, value, apart);
        if (threadIdx.x % 32 == 0) of_warps[i][threadIdx.x / 32] = value;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        double total = 0;
        for (int warp = 0; warp * 32 < blockDim.x; ++warp) total += of_warps[i][warp];
        atomicAdd(sums + i, total);
    }
}

__device__ void add_payoff(real payoff, double* sums) {
    const double of_path = own_path() < paths ? payoff : 0, values[] = {of_path, of_path * of_path};
    add(values, sums);
}

__device__ real positive(real x) {
    return x > 0 ? x : 0;
}
"""
KERNELS = {
    "asian": r"""
extern "C" __global__ void price(double* sums, unsigned long long run) {
    real x = 0, total = 0;
    generator from = started(run);
    for (int k = 0; k < steps; k += 4) {
        real z[4];
        draw(from, z);
        #pragma unroll
        for (int i = 0; i < 4 && k + i < steps; ++i) {
            x += drift + step_volatility * z[i];
            total += exp(x);
        }
    }
    add_payoff(discount * positive(total * (spot / steps) - strike), sums);
}
""",
    "heston": r"""
extern "C" __global__ void price(double* sums, unsigned long long run) {
    const real other = sqrt(1 - correlation * correlation);
    real x = 0, v = variance;
    generator from = started(run);
    for (int k = 0; k < steps; k += 2) {
        real z[4];
        draw(from, z);
        #pragma unroll
        for (int i = 0; i < 4 && k + i / 2 < steps; i += 2) {
            const real level = positive(v), root = sqrt(level * dt);
            x += (rate - level / 2) * dt + root * z[i];
            v += reversion * (mean_variance - level) * dt +
                 volatility_of_variance * root * (correlation * z[i] + other * z[i + 1]);
        }
    }
    add_payoff(discount * positive(spot * exp(x) - strike), sums);
}
""",
    "autocallable": r"""
__device__ real payoff(unsigned long long run) {
    real x[assets] = {}, worst = 0;
    generator from = started(run);
    for (int k = 0; k < steps; k += 4) {
        real z[4 * assets];
        #pragma unroll
        for (int i = 0; i < assets; ++i) draw(from, z + 4 * i);
        #pragma unroll
        for (int step = 0; step < 4 && k + step < steps; ++step) {
            #pragma unroll
            for (int i = 0; i < assets; ++i) {
                x[i] += drifts[i];
                #pragma unroll
                for (int j = 0; j <= i; ++j) x[i] += root[i * assets + j] * z[step * assets + j];
                worst = i == 0 || x[i] < worst ? x[i] : worst;
            }
            if (worst >= log(call_level)) return payments[k + step];
        }
    }
    const real performance = exp(worst);
    return notional * discount * (performance >= protection ? 1 : performance);
}

extern "C" __global__ void price(double* sums, unsigned long long run) {
    add_payoff(payoff(run), sums);
}
""",
    "bermudan_put": r"""
constexpr int moments = 11;  // of x, to its sixth power, and of the value later times x, to its third

template <class function>
__device__ void for_each_spot(unsigned long long run, function&& at) {
    real x = 0;
    generator from = started(run);
    for (int k = 0; k < steps; k += 4) {
        real z[4];
        draw(from, z);
        #pragma unroll
        for (int i = 0; i < 4 && k + i < steps; ++i) {
            x += drift + step_volatility * z[i];
            at(k + i, spot * exp(x));
        }
    }
}

// The coefficients of a date, from the sums over its paths in the money: the root of the matrix, then forth and back.
__device__ void solve(const double* sums, real* coefficients) {
    double root[4][4], b[4];
    for (int i = 0; i < 4; ++i) {
        b[i] = sums[7 + i];
        for (int j = 0; j <= i; ++j) {
            double left = sums[i + j] + (i == j ? 1e-9 : 0);
            for (int k = 0; k < j; ++k) left -= root[i][k] * root[j][k];
            root[i][j] = i == j ? sqrt(left) : left / root[j][j];
        }
        for (int k = 0; k < i; ++k) b[i] -= root[i][k] * b[k];
        b[i] /= root[i][i];
    }
    for (int i = 3; i >= 0; --i) {
        for (int k = i + 1; k < 4; ++k) b[i] -= root[k][i] * b[k];
        b[i] /= root[i][i];
        coefficients[i] = b[i];
    }
}

__device__ real variable(real s) {
    return (s - strike) / (real(0.2) * strike);
}

__device__ bool exercised(real s, const real* coefficients) {
    const real x = variable(s);
    const real waiting = coefficients[0] + x * (coefficients[1] + x * (coefficients[2] + x * coefficients[3]));
    return s < strike && strike - s > waiting;
}

extern "C" __global__ void draw_paths(real* spots, unsigned long long run) {
    if (own_path() >= paths) return;
    for_each_spot(run, [&](int k, real s) { spots[(size_t)k * paths + own_path()] = s; });
}

// From date k + 1, where the holder exercises by the sums of that date, back to the sums of date k.
extern "C" __global__ void step_back(const real* spots, real* later, double* sums, int k) {
    __shared__ real coefficients[4];
    const bool is_last = k == steps - 2;
    if (threadIdx.x == 0 && !is_last) solve(sums + (k + 1) * moments, coefficients);
    __syncthreads();
    double values[moments] = {};
    for (int path = own_path(); path < paths; path += gridDim.x * blockDim.x) {
        const real after = spots[(size_t)(k + 1) * paths + path], s = spots[(size_t)k * paths + path];
        const bool is_paid = is_last || exercised(after, coefficients);
        const real value = discount_of_step * (is_paid ? positive(strike - after) : later[path]);
        later[path] = value;
        if (s >= strike) continue;
        const double x = variable(s);
        double power = 1;
        #pragma unroll
        for (int i = 0; i < 7; ++i, power *= x) {
            values[i] += power;
            if (i < 4) values[7 + i] += power * value;
        }
    }
    add(values, sums + k * moments);
}

extern "C" __global__ void price(const double* of_dates, double* sums, unsigned long long run) {
    __shared__ real rule[steps][4];
    for (int k = threadIdx.x; k < steps - 1; k += blockDim.x) solve(of_dates + k * moments, rule[k]);
    __syncthreads();
    real payoff = 0, discounted = 1;
    bool is_alive = true;
    for_each_spot(run, [&](int k, real s) {
        discounted *= discount_of_step;
        if (is_alive && (k == steps - 1 ? s < strike : exercised(s, rule[k]))) {
            payoff = discounted * (strike - s);
            is_alive = false;
        }
    });
    add_payoff(payoff, sums);
}
""",
}


def open_cupy(arguments):
    import cupy

    if arguments.cpu:
        raise RuntimeError("CuPy runs on GPUs alone")
    name = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"].decode()
    return cupy_peer(cupy, name)


def kernels_text(w, precision):
    """The kernels of a workload, after its numbers."""
    numbers = [f"using real = {'double' if precision == 'float64' else 'float'};"]
    for name, x in w.items():
        if isinstance(x, list):
            flat = [y for row in x for y in (row if isinstance(row, list) else [row])]
            numbers.append(f"__device__ constexpr real {name}[] = {{{', '.join(f'real({y!r})' for y in flat)}}};")
        elif not isinstance(x, str):
            numbers.append(f"constexpr {'int' if name in ('paths', 'steps') else 'real'} {name} = {x!r};")
    numbers.append(f"constexpr int assets = {len(w.get('drifts', []))};")
    numbers.append(f"constexpr real discount_of_step = {math.exp(-w['rate'] * w['dt'])!r};")
    return "\n".join(numbers) + COMMON + KERNELS[w["name"]]


def include_options(cuda_path):
    """The folders of cuRAND's headers, in the toolkit or in a package, and of the CUDA C++ library's
    beside them."""
    roots = [cuda_path or "", *(root for path in sys.path for root in glob.glob(path + "/nvidia/*")), "/usr/local/cuda"]
    for root in roots:
        if os.path.exists(root + "/include/curand_kernel.h"):
            return f"-I{root}/include", f"-I{root}/include/cccl"
    raise FileNotFoundError("curand_kernel.h, of cuRAND's device functions, is neither in the toolkit nor in a package")


class cupy_peer:
    def __init__(self, cupy, device):
        self.np, self.version, self.device = cupy, cupy.__version__, device
        cupy.random.seed(42)

    def pricers(self, precision):
        self.dtype = getattr(self.np, precision)
        all_of_them = {("arrays", name): functools.partial(self.run, getattr(self, name))
                       for name in ("asian", "heston", "autocallable", "bermudan_put")}
        all_of_them.update({("raw_kernel", name): self.raw for name in ("asian", "heston", "autocallable")})
        all_of_them["raw_kernel", "bermudan_put"] = self.raw_put
        return all_of_them

    def run(self, payoffs_of, w):
        def price():
            payoffs = payoffs_of(w).astype(self.np.float64)
            # Converting to float waits until the device has finished.
            return float(payoffs.mean()), float(payoffs.std(ddof=1)) / math.sqrt(w["paths"])
        return price

    def normals(self, *shape):
        return self.np.random.standard_normal(shape, dtype=self.dtype)

    def array(self, numbers):
        return self.np.asarray(numbers, dtype=self.dtype)

    def spots(self, w):
        x = self.np.cumsum(w["drift"] + w["step_volatility"] * self.normals(w["steps"], w["paths"]), axis=0)
        return w["spot"] * self.np.exp(x)

    def asian(self, w):
        return w["discount"] * self.np.maximum(self.spots(w).mean(0) - w["strike"], 0)

    def heston(self, w):
        np, dt, rho = self.np, w["dt"], w["correlation"]
        x = np.zeros(w["paths"], self.dtype)
        v = np.full(w["paths"], w["variance"], self.dtype)
        for _ in range(w["steps"]):
            z, u = self.normals(w["paths"]), self.normals(w["paths"])
            positive = np.maximum(v, 0)
            root = np.sqrt(positive * dt)
            x = x + (w["rate"] - 0.5 * positive) * dt + root * z
            v = v + w["reversion"] * (w["mean_variance"] - positive) * dt + \
                w["volatility_of_variance"] * root * (rho * z + math.sqrt(1 - rho * rho) * u)
        return w["discount"] * np.maximum(w["spot"] * np.exp(x) - w["strike"], 0)

    def autocallable(self, w):
        np, count = self.np, len(w["drifts"])
        moves = np.matmul(self.array(w["root"]), self.normals(w["steps"], count, w["paths"]))
        worst = np.cumsum(moves + self.array(w["drifts"])[:, None], axis=0).min(1)
        above = worst >= math.log(w["call_level"])
        performance = np.exp(worst[-1])
        at_the_end = np.where(performance >= w["protection"], np.ones_like(performance), performance)
        return np.where(above.any(0), self.array(w["payments"])[above.argmax(0)],
                        w["notional"] * w["discount"] * at_the_end)

    def bermudan_put(self, w):
        """Longstaff and Schwartz: the rule from one set of paths, the price from another."""
        np = self.np
        discount = math.exp(-w["rate"] * w["dt"])

        def basis(s):
            x = (s - w["strike"]) / (0.2 * w["strike"])
            return np.stack((np.ones_like(x), x, x * x, x * x * x))

        s = self.spots(w)
        later = np.maximum(w["strike"] - s[-1], 0)
        rule = [None] * w["steps"]
        for k in range(w["steps"] - 2, -1, -1):
            later = discount * later
            inner = np.maximum(w["strike"] - s[k], 0)
            columns = basis(s[k]) * (inner > 0)
            matrix = (columns @ columns.T).astype(np.float64) + 1e-9 * np.eye(4)
            rule[k] = np.linalg.solve(matrix, (columns @ later).astype(np.float64)).astype(self.dtype)
            later = np.where((inner > 0) & (inner > rule[k] @ columns), inner, later)
        s = self.spots(w)
        paid, alive = np.zeros(w["paths"], self.dtype), np.ones(w["paths"], bool)
        for k in range(w["steps"]):
            inner = np.maximum(w["strike"] - s[k], 0)
            now = alive & (inner > 0)
            if k < w["steps"] - 1:
                now = now & (inner > rule[k] @ basis(s[k]))
            paid = np.where(now, inner * discount ** (k + 1), paid)
            alive = alive & ~now
        return paid

    def module(self, w):
        precision = self.np.dtype(self.dtype).name
        options = ("-std=c++17", *include_options(self.np.cuda.get_cuda_path()))
        fast = ("-use_fast_math",) if precision == "float32" else ()
        return self.np.RawModule(code=kernels_text(w, precision), options=options + fast)

    def raw(self, w):
        """Prices by one kernel."""
        kernel, blocks = self.module(w).get_function("price"), (w["paths"] + THREADS - 1) // THREADS

        def sums(run):
            out = self.np.zeros(2)
            kernel((blocks,), (THREADS,), (out, self.np.uint64(run)))
            return out
        return self.run_raw(w, sums)

    def raw_put(self, w):
        """Longstaff and Schwartz: the paths, a kernel a date, and the price from other paths."""
        np, module, blocks = self.np, self.module(w), (w["paths"] + THREADS - 1) // THREADS
        draw_paths, step_back, price = (module.get_function(name) for name in ("draw_paths", "step_back", "price"))
        spots, later = np.empty((w["steps"], w["paths"]), self.dtype), np.empty(w["paths"], self.dtype)

        def sums(run):
            of_dates, out = np.zeros((w["steps"] - 1, 11)), np.zeros(2)
            draw_paths((blocks,), (THREADS,), (spots, np.uint64(2 * run)))
            for k in range(w["steps"] - 2, -1, -1):
                step_back((min(blocks, 512),), (THREADS,), (spots, later, of_dates, np.int32(k)))
            price((blocks,), (THREADS,), (of_dates, out, np.uint64(2 * run + 1)))
            return out
        return self.run_raw(w, sums)

    def run_raw(self, w, sums):
        runs = iter(range(1 << 30))

        def price():
            total, squares = sums(next(runs)).get()  # waits for the device
            mean = total / w["paths"]
            return float(mean), math.sqrt(max(squares - total * mean, 0) / (w["paths"] - 1) / w["paths"])
        return price


if __name__ == "__main__":
    raise SystemExit(peer.main("cupy", open_cupy))
