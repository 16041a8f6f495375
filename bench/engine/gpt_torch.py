"""The transformer in PyTorch, from the definition of its two forms: GPT-2's
(Radford et al. 2019; layer norm, GELU, learned positions, a tied head) and
LLaMA's (Touvron et al. 2023; RMSNorm, SwiGLU, rotary positions, no biases).
Weights come from the file that tests/models/gpt_curve.c writes, or are drawn.

Used as the reference of loss curves (tests/models/gpt_curve.py) and as the peer
of a benchmark (run.py)."""
import math

import torch
import torch.nn.functional as F


def drawn(layers, hidden, vocab, T, seed=1):
    """Initial weights of GPT-2's form."""
    torch.manual_seed(seed)
    normal = lambda *shape: torch.randn(*shape) * 0.02
    w = {"wte": normal(vocab, hidden), "wpe": normal(T, hidden),
         "normf.g": torch.ones(hidden), "normf.b": torch.zeros(hidden)}
    for k in range(layers):
        at = "layer.%d." % k
        for norm in "norm1", "norm2":
            w[at + norm + ".g"] = torch.ones(hidden)
            w[at + norm + ".b"] = torch.zeros(hidden)
        for name, out, into in (("qkv", 3, 1), ("proj", 1, 1), ("up", 4, 1),
                                ("down", 1, 4)):
            w[at + name + ".w"] = normal(out * hidden, into * hidden)
            w[at + name + ".b"] = torch.zeros(out * hidden)
    return w


class Transformer:
    """`weights`: name -> tensor, as they are named by the engine."""

    def __init__(self, weights, heads, T):
        hidden = weights["wte"].shape[1]
        self.w = {name: x.clone().requires_grad_() for name, x in
                  weights.items()}
        self.layers = len([n for n in weights if n.endswith("proj.w")])
        self.heads, self.width, self.hidden = heads, hidden // heads, hidden
        for name, x in self.w.items():  # linear layers are out x in
            if name.endswith(("qkv.w", "qkv.b", "up.w", "up.b")):
                flat = (-1, hidden) if name.endswith(".w") else (-1,)
                self.w[name] = x.detach().reshape(flat).requires_grad_()
        dtype = weights["wte"].dtype
        self.mask = torch.full((T, T), -math.inf, dtype=dtype).triu(1)
        self.llama = "wpe" not in weights
        angle = torch.arange(T, dtype=torch.float64)[:, None] * torch.pow(
            10000.0, -torch.arange(0, self.width, 2, dtype=torch.float64)
            / self.width)
        self.cos, self.sin = angle.cos().to(dtype), angle.sin().to(dtype)

    def norm(self, x, name):
        g = self.w[name + ".g"]
        if self.llama:
            return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * g
        return F.layer_norm(x, (self.hidden,), g, self.w[name + ".b"], 1e-5)

    def linear(self, x, name):
        return F.linear(x, self.w[name + ".w"], self.w.get(name + ".b"))

    def turn(self, x):
        a, b = x.chunk(2, -1)
        return torch.cat((a * self.cos - b * self.sin,
                          a * self.sin + b * self.cos), -1)

    def attention(self, x):
        B, T, _ = x.shape
        q, k, v = (y.reshape(B, T, self.heads, self.width).transpose(1, 2)
                   for y in x.split(self.hidden, 2))
        if self.llama:
            q, k = self.turn(q), self.turn(k)
        q, k, v = (y.reshape(B * self.heads, T, self.width) for y in (q, k, v))
        p = torch.baddbmm(self.mask, q, k.transpose(1, 2),
                          alpha=1 / math.sqrt(self.width))
        y = torch.bmm(torch.softmax(p, -1), v)
        return y.view(B, self.heads, T, self.width).transpose(1, 2).reshape(
            B, T, self.hidden)

    def mlp(self, x, at):
        x = self.linear(x, at + "up")
        if self.llama:
            gate, value = x.chunk(2, -1)
            x = F.silu(gate) * value
        else:
            x = F.gelu(x, approximate="tanh")
        return self.linear(x, at + "down")

    def loss(self, tokens):
        """tokens: B x (T + 1)"""
        x = F.embedding(tokens[:, :-1], self.w["wte"])
        if not self.llama:
            x = x + self.w["wpe"]
        for k in range(self.layers):
            at = "layer.%d." % k
            y = self.attention(self.linear(self.norm(x, at + "norm1"),
                                           at + "qkv"))
            x = x + self.linear(y, at + "proj")
            x = x + self.mlp(self.norm(x, at + "norm2"), at)
        x = self.norm(x, "normf").view(-1, self.hidden)
        logits = F.linear(x, self.w["head" if "head" in self.w else "wte"])
        return F.cross_entropy(logits, tokens[:, 1:].reshape(-1))

    def parameters(self):
        return list(self.w.values())


class Training:
    """AdamW with clipping at norm 1, as the engine's."""

    def __init__(self, model, decays, lr=2e-3, decay=0.1, foreach=True):
        groups = [[x for n, x in model.w.items() if decays(n) == on]
                  for on in (True, False)]
        self.model = model
        self.optimizer = torch.optim.AdamW(
            [{"params": groups[0], "weight_decay": decay},
             {"params": groups[1], "weight_decay": 0.0}],
            lr=lr, betas=(0.9, 0.95), eps=1e-8, foreach=foreach)

    def gradient(self, tokens):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.model.loss(tokens)
        loss.backward()
        return loss

    def update(self):
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()

    def step(self, tokens):
        loss = self.gradient(tokens)
        self.update()
        return loss.item()


def read(path):
    """Weights, which of them decay, tokens and losses of a curve."""
    import h5py

    with h5py.File(path, "r") as f:
        weights = {n: torch.from_numpy(x[()]) for n, x in f["params"].items()}
        decays = {n: bool(x.attrs["decays"]) for n, x in f["params"].items()}
        return (weights, decays, torch.from_numpy(f["tokens"][()]).long(),
                f["loss"][()])


def curve(path, heads):
    """Losses of the same training, ours (the file's) and PyTorch's."""
    weights, decays, tokens, ours = read(path)
    model = Transformer(weights, heads, tokens.shape[2] - 1)
    training = Training(model, decays.__getitem__)
    return ours, [training.step(t) for t in tokens]
