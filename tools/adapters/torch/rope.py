"""The rotary operations of the systems; `python3 rope.py NAME` serves one."""

import torch

import rotary_forms as forms
import rotary_library as library
import rotary_models as models
import rotary_modules as modules
from subject import DTYPES, WIDE, Unsupported, as_tensor, serve


def rotary(pairing, rotation):
    """An operation on x: `rotation` changes the rotary channels, the others stay unchanged."""

    def answer(x, R, offset, direction, dtype, **given):
        if given.get("pairing", pairing) != pairing:
            raise Unsupported(f"pairing is {pairing}")
        x = as_tensor(x, dtype)
        if R == 0 or x.numel() == 0:
            return x
        sign = -1 if direction == "transpose" else 1
        before, rotary, after = x.split((offset, R, x.shape[-1] - offset - R), -1)
        return torch.cat((before, rotation(rotary, sign, **given), after), -1)

    return answer


def build(form, width, base, scaling):
    if getattr(form, "scales", False):
        return form(width, base, scaling)
    if scaling["type"] != "none":
        raise Unsupported(f"scaling {scaling['type']}")
    return form(width, base)


BUILT = {}


def cached_build(form, width, base, scaling):
    """One module for all questions of a configuration, which keeps its state."""
    configuration = form, width, base, repr(scaling)
    if configuration not in BUILT:
        BUILT[configuration] = build(form, width, base, scaling)
    return BUILT[configuration]


def rope(form, build=build):
    def rotation(x, sign, position, base, scaling, **_):
        return build(form, x.shape[-1], base, scaling)(x, as_tensor(position), sign)

    return rotary(form.pairing, rotation)


def rope_frequencies(form):
    def answer(base, scaling, R, dtype, seq_len=None, **_):
        wide = DTYPES[WIDE[dtype]]
        frequencies, amplitude = torch.ones(0), 1.0
        if R and issubclass(form, modules.Qwen2):
            system = form(R, base, scaling)
            system.follow(seq_len or 0)
            frequencies, amplitude = system.inv_freq, system.attention_scaling
        elif R:
            frequencies = build(form, R, base, scaling).frequencies(wide)
        amplitude = torch.tensor(amplitude, dtype=wide)
        return {"inv_freq": frequencies.to(wide), "attention_factor": amplitude}

    return answer


def rope_matrix(position, base, scaling, pairing, D, dtype, **_):
    if pairing != forms.Matrix.pairing:
        raise Unsupported(f"pairing is {forms.Matrix.pairing}")
    if len(position) * D == 0:
        return torch.zeros(len(position), D, D, dtype=DTYPES[dtype])
    matrix = build(forms.Matrix, D, base, scaling).matrix(as_tensor(position), DTYPES[WIDE[dtype]])
    return matrix.to(DTYPES[dtype])


def with_frequencies(inv_freq, attention_factor):
    """Qwen2 with given frequencies."""
    system = modules.Qwen2(2 * len(inv_freq), 1.0)
    system.types.current = as_tensor(inv_freq), attention_factor
    system.follow(0)
    return system


def rope_table(position, inv_freq, attention_factor, dtype, **_):
    system = with_frequencies(inv_freq, attention_factor)
    cos, sin = system.table(as_tensor(position), DTYPES[dtype])
    return {"cos": cos.squeeze(1), "sin": sin.squeeze(1)}


def rotation_by_table(x, sign, cos, sin, **_):
    cos, sin = (as_tensor(table).to(x.dtype)[:, None] for table in (cos, sin))
    return modules.Qwen2.rotate(x, cos, sign * sin)


def rotation_by_learned_frequencies(x, sign, position, inv_freq, attention_factor, **_):
    if attention_factor != 1:
        raise Unsupported("there is no attention factor")
    return library.LearnedFrequencies(as_tensor(inv_freq))(x, as_tensor(position), sign)


def rotation_by_frequencies(x, sign, position, inv_freq, attention_factor, **_):
    return with_frequencies(inv_freq, attention_factor)(x, as_tensor(position), sign)


SYSTEMS = {
    "matrix": {"rope": rope(forms.Matrix), "rope_matrix": rope_matrix},
    "elementwise": {"rope": rope(forms.Elementwise)},
    "one_frequency_per_channel": {"rope": rope(forms.OneFrequencyPerChannel)},
    "indexed_from_zero": {"rope": rope(forms.IndexedFromZero)},
    "complex": {"rope": rope(forms.Complex), "rope_complex": rope(forms.Complex)},
    "llama": {"rope": rope(modules.Llama)},
    "llama_cast": {"rope": rope(modules.CastLlama)},
    "llama_2_long_forgotten": {"rope": rope(modules.LlamaOfOldBase)},
    "mixed_rotate_half": {"rope": rope(forms.MixedRotateHalf)},
    "qwen2": {
        "rope": rope(modules.Qwen2),
        "rope_given": rotary(modules.Qwen2.pairing, rotation_by_frequencies),
        "rope_frequencies": rope_frequencies(modules.Qwen2),
        "rope_table": rope_table,
        "rope_rotate": rotary(modules.Qwen2.pairing, rotation_by_table),
    },
    "qwen2_dynamic": {"rope": rope(modules.Qwen2, cached_build)},
    "qwen2_never_restored": {"rope": rope(modules.Qwen2NeverRestored, cached_build)},
    "qwen2_compounding": {"rope": rope(modules.Qwen2Compounding, cached_build)},
    "qwen2_cast": {"rope": rope(modules.CastQwen2)},
    "library": {
        "rope": rope(library.Library),
        "rope_given": rotary(library.Library.pairing, rotation_by_learned_frequencies),
    },
    "library_positions_in_input_dtype": {"rope": rope(library.PositionsInInputDtype)},
    "library_rescaled_by_factor": {"rope": rope(library.RescaledByFactor)},
    "library_cached_keys": {"rope": rope(library.CachedKeys)},
    "library_cached_keys_forgotten": {"rope": rope(library.CachedKeysForgotten)},
    "gpt_j": {"rope": rope(models.GptJ)},
    "gpt_j_table_swapped": {"rope": rope(models.GptJTableSwapped)},
    "gpt_j_by_halves": {"rope": rope(models.GptJByHalves)},
    "baichuan": {"rope": rope(models.Baichuan)},
    "rotator": {"rope": rope(forms.Rotator), "rope_frequencies": rope_frequencies(forms.Rotator)},
}

if __name__ == "__main__":
    serve(SYSTEMS)
