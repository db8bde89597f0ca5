#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The workloads in JAX, each one function through jit, loops over steps inside."""
import functools
import math
import os

import peer


def open_jax(arguments):
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax

    jax.config.update("jax_enable_x64", True)
    device = jax.devices()[0]
    if not arguments.cpu and device.platform not in ("gpu", "cuda"):
        raise RuntimeError("JAX sees no GPU")
    return jax_peer(jax, device)


class jax_peer:
    def __init__(self, jax, device):
        self.jax, self.np, self.lax = jax, jax.numpy, jax.lax
        self.version, self.device = jax.__version__, getattr(device, "device_kind", device.platform)
        self.runs = 0

    def pricers(self, precision):
        self.dtype = getattr(self.np, precision)
        return {("jit", name): functools.partial(self.run, getattr(self, name))
                for name in ("asian", "heston", "autocallable", "bermudan_put")}

    def run(self, payoffs_of, w):
        dtype = self.dtype  # this pricer's, even if later ones differ

        @self.jax.jit
        def estimate(key):
            payoffs = payoffs_of(w, key, dtype).astype(self.np.float64)
            return payoffs.mean(), payoffs.std(ddof=1) / math.sqrt(w["paths"])

        def price():
            self.runs += 1
            mean, error = estimate(self.jax.random.PRNGKey(42 + self.runs))
            # float() waits for the device.
            return float(mean), float(error)
        return price

    def normals(self, key, step, shape, dtype):
        return self.jax.random.normal(self.jax.random.fold_in(key, step), shape, dtype)

    def asian(self, w, key, dtype):
        def step(k, state):
            x, total = state
            x = x + w["drift"] + w["step_volatility"] * self.normals(key, k, (w["paths"],), dtype)
            return x, total + self.np.exp(x)
        zero = self.np.zeros(w["paths"], dtype)
        _, total = self.lax.fori_loop(0, w["steps"], step, (zero, zero))
        return w["discount"] * self.np.maximum(total * (w["spot"] / w["steps"]) - w["strike"], 0)

    def heston(self, w, key, dtype):
        dt, rho = w["dt"], w["correlation"]

        def step(k, state):
            x, v = state
            z, u = self.normals(key, k, (2, w["paths"]), dtype)
            positive = self.np.maximum(v, 0)
            root = self.np.sqrt(positive * dt)
            x = x + (w["rate"] - 0.5 * positive) * dt + root * z
            v = v + w["reversion"] * (w["mean_variance"] - positive) * dt + \
                w["volatility_of_variance"] * root * (rho * z + math.sqrt(1 - rho * rho) * u)
            return x, v
        start = self.np.zeros(w["paths"], dtype), self.np.full(w["paths"], w["variance"], dtype)
        x, _ = self.lax.fori_loop(0, w["steps"], step, start)
        return w["discount"] * self.np.maximum(w["spot"] * self.np.exp(x) - w["strike"], 0)

    def autocallable(self, w, key, dtype):
        np, count = self.np, len(w["drifts"])
        payments = np.array(w["payments"], dtype)

        def step(k, state):
            x, paid, called = state
            z = self.normals(key, k, (count, w["paths"]), dtype)
            moves = [w["drifts"][i] + sum(w["root"][i][j] * z[j] for j in range(i + 1)) for i in range(count)]
            x = x + np.stack(moves)
            now = (x.min(0) >= math.log(w["call_level"])) & ~called
            return x, np.where(now, payments[k], paid), called | now
        zero = np.zeros(w["paths"], dtype)
        start = np.zeros((count, w["paths"]), dtype), zero, np.zeros(w["paths"], bool)
        x, paid, called = self.lax.fori_loop(0, w["steps"], step, start)
        performance = np.exp(x.min(0))
        at_the_end = np.where(performance >= w["protection"], np.ones_like(performance), performance)
        return np.where(called, paid, w["notional"] * w["discount"] * at_the_end)

    def bermudan_put(self, w, key, dtype):
        """Longstaff and Schwartz: the rule from one set of paths, the price from another."""
        np, lax = self.np, self.lax
        discount = math.exp(-w["rate"] * w["dt"])

        def spots(of):
            z = self.normals(key, of, (w["steps"], w["paths"]), dtype)
            return w["spot"] * np.exp(np.cumsum(w["drift"] + w["step_volatility"] * z, 0))

        def basis(s):
            x = (s - w["strike"]) / (0.2 * w["strike"])
            return np.stack((np.ones_like(x), x, x * x, x * x * x))

        def times(a, b):  # in all the digits of the precision
            return np.matmul(a, b, precision=lax.Precision.HIGHEST)

        def back(s, later, rule, k):
            later = discount * later
            inner = np.maximum(w["strike"] - s[k], 0)
            columns = basis(s[k]) * (inner > 0)
            matrix = times(columns, columns.T).astype(np.float64) + 1e-9 * np.eye(4)
            fitted = np.linalg.solve(matrix, times(columns, later).astype(np.float64)).astype(dtype)
            exercised = (inner > 0) & (inner > times(fitted, columns))
            return np.where(exercised, inner, later), rule.at[k].set(fitted)

        def forward(s, rule, k, paid, alive):
            inner = np.maximum(w["strike"] - s[k], 0)
            is_last = k == w["steps"] - 1
            now = alive & (inner > 0) & (is_last | (inner > times(rule[k], basis(s[k]))))
            return np.where(now, inner * np.power(discount, k + 1.0).astype(dtype), paid), alive & ~now

        last = w["steps"] - 1
        s = spots(0)
        start = np.maximum(w["strike"] - s[last], 0), np.zeros((w["steps"], 4), dtype)
        _, rule = lax.fori_loop(0, last, lambda i, state: back(s, *state, last - 1 - i), start)
        s = spots(1)
        start = np.zeros(w["paths"], dtype), np.ones(w["paths"], bool)
        paid, _ = lax.fori_loop(0, w["steps"], lambda k, state: forward(s, rule, k, *state), start)
        return paid


if __name__ == "__main__":
    raise SystemExit(peer.main("jax", open_jax))
