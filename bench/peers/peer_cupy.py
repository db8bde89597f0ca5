#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The workloads in CuPy: operations on arrays, and raw kernels that walk a cube of normals. Making the cube is part of
the time."""
import functools
import math

import peer

KERNELS = r"""
extern "C" __global__ void asian(const real* z, real* payoffs, int paths, int steps, double drift, double volatility,
                                 double spot, double strike, double discount) {
    const int path = blockIdx.x * blockDim.x + threadIdx.x;
    if (path >= paths) return;
    real x = 0, total = 0;
    for (int k = 0; k < steps; ++k) {
        x += real(drift) + real(volatility) * z[(size_t)k * paths + path];
        total += exp(x);
    }
    const real over = total * real(spot / steps) - real(strike);
    payoffs[path] = real(discount) * (over > 0 ? over : real(0));
}

extern "C" __global__ void heston(const real* z, real* payoffs, int paths, int steps, double dt, double rate,
                                  double variance, double mean_variance, double reversion, double xi, double rho,
                                  double spot, double strike, double discount) {
    const int path = blockIdx.x * blockDim.x + threadIdx.x;
    if (path >= paths) return;
    const real other = real(sqrt(1 - rho * rho));
    real x = 0, v = real(variance);
    for (int k = 0; k < steps; ++k) {
        const real a = z[(size_t)(2 * k) * paths + path], b = z[(size_t)(2 * k + 1) * paths + path];
        const real positive = v > 0 ? v : real(0), root = sqrt(positive * real(dt));
        x += (real(rate) - real(0.5) * positive) * real(dt) + root * a;
        v += real(reversion) * (real(mean_variance) - positive) * real(dt) +
             real(xi) * root * (real(rho) * a + other * b);
    }
    const real over = real(spot) * exp(x) - real(strike);
    payoffs[path] = real(discount) * (over > 0 ? over : real(0));
}

// root: row by row, count x count; payments: discounted, by step.
extern "C" __global__ void autocallable(const real* z, real* payoffs, int paths, int steps, const real* drifts,
                                        const real* root, const real* payments, double log_call_level,
                                        double protection, double redemption) {
    const int path = blockIdx.x * blockDim.x + threadIdx.x;
    if (path >= paths) return;
    real x[assets] = {};
    for (int k = 0; k < steps; ++k) {
        real shocks[assets], worst = 0;
        #pragma unroll
        for (int i = 0; i < assets; ++i) shocks[i] = z[((size_t)k * assets + i) * paths + path];
        #pragma unroll
        for (int i = 0; i < assets; ++i) {
            real move = drifts[i];
            #pragma unroll
            for (int j = 0; j <= i; ++j) move += root[i * assets + j] * shocks[j];
            x[i] += move;
            worst = i == 0 || x[i] < worst ? x[i] : worst;
        }
        if (worst >= real(log_call_level)) {
            payoffs[path] = payments[k];
            return;
        }
    }
    real worst = x[0];
    for (int i = 1; i < assets; ++i) worst = x[i] < worst ? x[i] : worst;
    const real performance = exp(worst);
    payoffs[path] = real(redemption) * (performance >= real(protection) ? real(1) : performance);
}
"""


def open_cupy(arguments):
    import cupy

    if arguments.cpu:
        raise RuntimeError("CuPy runs on GPUs alone")
    name = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"].decode()
    return cupy_peer(cupy, name)


class cupy_peer:
    def __init__(self, cupy, device):
        self.np, self.version, self.device = cupy, cupy.__version__, device
        cupy.random.seed(42)

    def pricers(self, precision):
        self.dtype = getattr(self.np, precision)
        all_of_them = {("arrays", name): functools.partial(self.run, getattr(self, name))
                       for name in ("asian", "heston", "autocallable", "bermudan_put")}
        all_of_them.update({("raw_kernel", name): functools.partial(self.run, getattr(self, name + "_kernel"))
                            for name in ("asian", "heston", "autocallable")})
        return all_of_them

    def run(self, payoffs_of, w):
        def price():
            payoffs = payoffs_of(w).astype(self.np.float64)
            # float() waits for the device.
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

    def walk(self, name, w, shocks_per_step, *numbers):
        z = self.normals(w["steps"], shocks_per_step, w["paths"])
        payoffs = self.np.empty(w["paths"], self.dtype)
        scalars = [self.np.float64(x) if isinstance(x, float) or isinstance(x, int) else x for x in numbers]
        threads = 256
        self.kernel(name)(((w["paths"] + threads - 1) // threads,), (threads,),
                          (z, payoffs, self.np.int32(w["paths"]), self.np.int32(w["steps"]), *scalars))
        return payoffs

    def kernel(self, name):
        return compiled_kernel(self.np, name, self.dtype is self.np.float64)

    def asian_kernel(self, w):
        return self.walk("asian", w, 1, w["drift"], w["step_volatility"], w["spot"], w["strike"], w["discount"])

    def heston_kernel(self, w):
        return self.walk("heston", w, 2, w["dt"], w["rate"], w["variance"], w["mean_variance"], w["reversion"],
                         w["volatility_of_variance"], w["correlation"], w["spot"], w["strike"], w["discount"])

    def autocallable_kernel(self, w):
        return self.walk("autocallable", w, len(w["drifts"]), self.array(w["drifts"]), self.array(w["root"]),
                         self.array(w["payments"]), math.log(w["call_level"]), w["protection"],
                         w["notional"] * w["discount"])


@functools.cache
def compiled_kernel(cupy, name, is_double):
    assets = len(peer.read_workloads()["autocallable"]["volatilities"])
    head = f"typedef {'double' if is_double else 'float'} real;\nconstexpr int assets = {assets};\n"
    return cupy.RawKernel(head + KERNELS, name)


if __name__ == "__main__":
    raise SystemExit(peer.main("cupy", open_cupy))
