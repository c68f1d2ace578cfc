"""The operations in which deviations are planted, in families for reports. Their formulas are those
of tools/adapters/native/. "attention:sink" is attention in cases with this optional input."""

from stages import NATIVE

FAMILIES = {
    "rotation": "rope rope_sections xpos",
    "table": "rope_frequencies rope_cos_sin sinusoidal",
    "attention": "attention attention:sink attention:bias",
    "composed": "attention_scores relative_attention cross_attention attention_merge",
    "position": "alibi alibi_slopes temperature_scale log_n_scale",
    "softmax": "softmax soft_cap",
    "norm": "rms_norm add_rms_norm layer_norm",
    "activation": "activation gated",
    "linear": "linear feed_forward embedding",
}
FAMILY_OF = {name: family for family, names in FAMILIES.items() for name in names.split()}


def operation_of(name):
    """attention, of "attention:sink"."""
    return name.partition(":")[0]


OPERATIONS = {operation_of(name): NATIVE[operation_of(name)] for name in FAMILY_OF}
