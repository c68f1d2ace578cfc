"""Operation name -> function of (question, stages); families for reports."""

from . import attention, composed, layer, rotation

FAMILIES = {
    "rotation": (rotation, "rope rope_sections xpos"),
    "table": (rotation, "rope_frequencies rope_cos_sin sinusoidal"),
    "attention": (attention, "attention attention_sink attention_bias"),
    "composed": (composed, "attention_scores relative_attention cross_attention attention_merge"),
    "position": (attention, "alibi alibi_slopes temperature_scale log_n_scale"),
    "softmax": (attention, "softmax soft_cap"),
    "norm": (layer, "rms_norm add_rms_norm layer_norm"),
    "activation": (layer, "activation gated"),
    "linear": (layer, "linear linear_bias feed_forward embedding"),
}
OPERATIONS = {name: getattr(module, name)
              for module, names in FAMILIES.values() for name in names.split()}
FAMILY_OF = {name: family for family, (_, names) in FAMILIES.items() for name in names.split()}
