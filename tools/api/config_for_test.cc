#include "tools/api/config_for.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/base/error.h"
#include "reference/case/operations.h"

namespace sextant::tools {
namespace {

using fixtures::Model;
using testing::HasSubstr;

constexpr const char* kRotation = "rope";

// Two kinds of layers: windows with a base of their own, and layers that do not rotate.
Model TwoKinds() {
  const Facts common = {{"pairing", "half"}, {"scaling", "none"}, {"D", "8"},
                        {"M", "16"},         {"eps", "1e-05"},    {"unit_offset", "false"}};
  Model model{.model_type = "two",
              .kinds = {{.name = "window", .layers = {0, 2}, .facts = common},
                        {.name = "nope", .layers = {1}, .facts = common}}};
  model.kinds[0].facts["base"] = "500";
  model.kinds[0].facts["R"] = "4";
  model.kinds[1].facts["R"] = "0";
  return model;
}

Facts FactsFor(const std::string& operation, const Model& model, const std::string& layer = "",
               const std::vector<std::string>& words = {}) {
  const auto made = MakeOperationNamed(operation);
  return ConfigFor{*made, words}.FactsFor(model, layer);
}

std::string ErrorOfModel(const std::string& operation, const Model& model,
                         const std::string& layer = "",
                         const std::vector<std::string>& words = {}) {
  try {
    FactsFor(operation, model, layer, words);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(ConfigFor, RequiresALayerIfLayersDiffer) {
  EXPECT_EQ(ErrorOfModel(kRotation, TwoKinds()),
            "layers of two differ; expected the layer, one of: window (0, 2), nope (1)");
  EXPECT_EQ(FactsFor(kRotation, TwoKinds(), "window").at("base"), "500");
  EXPECT_EQ(FactsFor(kRotation, TwoKinds(), "2"), FactsFor(kRotation, TwoKinds(), "window"));
  EXPECT_EQ(FactsFor(kRotation, TwoKinds(), "1").at("R"), "0");
  const Facts tables = FactsFor("rope_cos_sin", TwoKinds(), "window", {"layout=halves"});
  EXPECT_EQ(tables, (Facts{{"R", "4"}, {"base", "500"}, {"scaling", "none"}}));
  EXPECT_THAT(ErrorOfModel(kRotation, TwoKinds(), "3"),
              HasSubstr("the model has no layer 3; it has: window"));
  // Facts that all layers share need no choice.
  EXPECT_EQ(FactsFor("rms_norm", TwoKinds()).at("eps"), "1e-05");
}

TEST(ConfigFor, TakesANumberOfALayerIfAllAreAlike) {
  Model model = TwoKinds();
  model.kinds.resize(1);
  model.kinds[0].name.clear();
  model.kinds[0].layers.clear();
  model.kinds[0].facts["L"] = "12";
  EXPECT_EQ(FactsFor(kRotation, model, "11"), FactsFor(kRotation, model));
  for (const char* const layer : {"12", "-1", "01", "window"})
    EXPECT_THAT(ErrorOfModel(kRotation, model, layer), HasSubstr("the model has no layer "));
}

TEST(ConfigFor, NeedsNoChoiceIfWordsOverrideWhatDiffers) {
  const Facts facts = FactsFor(kRotation, TwoKinds(), "", {"base=7", "R=2"});
  EXPECT_FALSE(facts.contains("base"));
  EXPECT_EQ(facts.at("pairing"), "half");
}

TEST(ConfigFor, RequiresALayerIfKindsAreUncertain) {
  Model model = TwoKinds();
  model.kinds[1].facts = model.kinds[0].facts;
  EXPECT_EQ(ErrorOfModel(kRotation, model), "no error");
  model.kinds[0].certain = model.kinds[1].certain = false;
  EXPECT_THAT(ErrorOfModel(kRotation, model), HasSubstr("layers of two may differ"));
  EXPECT_EQ(ErrorOfModel(kRotation, model, "nope"), "no error");
  EXPECT_EQ(ErrorOfModel("rms_norm", model), "no error");
}

TEST(ConfigFor, NamesFactsThatAreNotKnown) {
  Model model = TwoKinds();
  model.kinds.pop_back();
  fixtures::ModelLayers& layers = model.kinds.front();
  layers.facts.erase("R");
  layers.unknown["R"] = "not in the file";
  EXPECT_EQ(ErrorOfModel(kRotation, model), "R is not known: not in the file; give R=");
  EXPECT_EQ(ErrorOfModel(kRotation, model, "", {"R=4"}), "no error");
  layers.facts.erase("pairing");
  EXPECT_EQ(ErrorOfModel(kRotation, model),
            "the model has no pairing; R is not known: not in the file; give pairing= R=");
  layers.facts.erase("unit_offset");
  EXPECT_EQ(ErrorOfModel("rms_norm", model), "the model has no unit_offset; give unit_offset=");
  EXPECT_EQ(ErrorOfModel("rms_norm", model, "", {"unit_offset=true"}), "no error");
}

TEST(ConfigFor, RefusesModelsThatTheOperationCannotExpress) {
  Model model = TwoKinds();
  model.kinds.pop_back();
  EXPECT_THAT(ErrorOfModel("rope_matrix", model), HasSubstr("rotates R=4 of D=8 channels"));
  EXPECT_THAT(ErrorOfModel("sinusoidal", model),
              HasSubstr("the model's base is not the base of sinusoidal; give base="));
  EXPECT_THAT(ErrorOfModel("rope_given", model), HasSubstr("give @inv_freq="));
  model.kinds[0].facts["sections"] = "[1,1]";
  model.kinds[0].facts["order"] = "contiguous";
  EXPECT_THAT(ErrorOfModel(kRotation, model),
              HasSubstr("several axes, sections=[1,1], and rope has one"));
  EXPECT_EQ(FactsFor("rope_sections", model).at("sections"), "[1,1]");
  EXPECT_EQ(ErrorOfModel("rope_frequencies", model), "no error");
  const std::vector<std::string> layout = {"layout=halves"};
  EXPECT_THAT(ErrorOfModel("rope_cos_sin", model, "", layout),
              HasSubstr("several axes, sections=[1,1], and rope_cos_sin has one"));
  model.kinds[0].facts.erase("sections");
  model.kinds[0].unknown["sections"] = "not in the file";
  EXPECT_THAT(ErrorOfModel(kRotation, model), HasSubstr("have several axes: not in the file"));
  EXPECT_THAT(ErrorOfModel("rope_cos_sin", model, "", layout),
              HasSubstr("have several axes: not in the file"));
  model.kinds[0].unknown.clear();
  EXPECT_EQ(ErrorOfModel("rope_cos_sin", model, "", layout), "no error");
  model.kinds[0].facts["arrangement"] = "blocks";
  EXPECT_THAT(ErrorOfModel("rope_frequencies", model),
              HasSubstr("several axes, arrangement=blocks"));
}

TEST(ConfigFor, NamesTheSchemeThatReplacesRotation) {
  Model model = TwoKinds();
  model.non_rotary = "learned positions";
  for (const char* name : {"rope", "rope_frequencies", "rope_rotate", "rope_table", "rope_given"}) {
    EXPECT_EQ(
        ErrorOfModel(name, model, "window"),
        std::string("two has learned positions, no rotary embedding: ") + name + " does not apply");
  }
  EXPECT_EQ(ErrorOfModel("rms_norm", model), "no error");
  EXPECT_THAT(ErrorOfModel("relative_bias", model, "window"),
              HasSubstr("the model has no bidirectional; the model has no max_distance; the model "
                        "has no P; give bidirectional= max_distance= P="));
  model.kinds[0].facts.insert({{"bidirectional", "true"}, {"max_distance", "128"}, {"P", "32"}});
  EXPECT_EQ(FactsFor("relative_bias", model, "window").at("P"), "32");
  EXPECT_THAT(ErrorOfModel(kRotation, model, "window"),
              HasSubstr("rope does not apply; operations that apply: relative_bias"));
}

// `beta` and `start` of temperature_scale have other meanings in other operations.
TEST(ConfigFor, TakesAFactOnlyForOperationsWithTheSameMeaning) {
  Model model = TwoKinds();
  model.kinds.pop_back();
  for (const char* key : {"beta", "floor_scale", "start"}) model.kinds[0].facts[key] = "2";
  EXPECT_EQ(FactsFor("temperature_scale", model).at("beta"), "2");
  EXPECT_THAT(ErrorOfModel("log_n_scale", model),
              HasSubstr("give original_max_position_embeddings="));
  model.kinds[0].facts["original_max_position_embeddings"] = "16";
  EXPECT_EQ(FactsFor("log_n_scale", model).count("beta"), 0U);
  EXPECT_THAT(ErrorOfModel("layer_norm", model), HasSubstr("the model's eps is not the eps of"));
  EXPECT_EQ(ErrorOfModel("layer_norm", model, "", {"eps=1e-5"}), "no error");
  EXPECT_THAT(ErrorOfModel("alibi", model), HasSubstr("@slope= (alibi_slopes computes it)"));
  EXPECT_THAT(ErrorOfModel("rope_given", model),
              HasSubstr("@inv_freq= (rope_frequencies computes it)"));
}

// The default of an activation, a placement or a cap is never taken silently.
TEST(ConfigFor, RequiresAttributesThatAreNotRead) {
  Model model = TwoKinds();
  model.kinds.pop_back();
  EXPECT_EQ(ErrorOfModel("feed_forward", model),
            "not all attributes are read from configurations; give kind= "
            "(an empty value means unset)");
  EXPECT_EQ(ErrorOfModel("feed_forward", model, "", {"kind=geglu"}), "no error");
  EXPECT_THAT(ErrorOfModel("gated", model), HasSubstr("give kind= beta= limit= alpha= plus_one="));
  const std::vector<std::string> of_attention = {"scale=", "soft_cap=50", "mask=causal",
                                                 "window=", "chunk="};
  EXPECT_THAT(ErrorOfModel("attention", model),
              HasSubstr("give scale= soft_cap= mask= window= chunk="));
  EXPECT_EQ(ErrorOfModel("attention", model, "", of_attention), "no error");
  for (const char* name : {"decoder_block", "decoder"}) {
    EXPECT_THAT(ErrorOfModel(name, model), HasSubstr("kind= placement= ")) << name;
  }
}

// "attention.scale" is no scale of an embedding, and "gated.kind" no kind of an activation.
TEST(ConfigFor, TakesFactsOfAFamilyForItsOperations) {
  Model model = TwoKinds();
  model.kinds.pop_back();
  model.kinds[0].facts.insert({{"attention.scale", "0.5"},
                               {"attention.soft_cap", ""},
                               {"attention.mask", "causal"},
                               {"attention.window", "[1,-1]"},
                               {"attention.chunk", ""},
                               {"gated.kind", "geglu"},
                               {"activation.kind", "gelu"}});
  const Facts facts = FactsFor("attention", model);
  EXPECT_EQ(facts.at("scale"), "0.5");
  EXPECT_EQ(facts.at("window"), "[1,-1]");
  EXPECT_EQ(facts.at("soft_cap"), "");  // the model has none
  EXPECT_FALSE(FactsFor("attention", model, "", {"scale=2"}).contains("scale"));
  EXPECT_EQ(FactsFor("feed_forward", model).at("kind"), "geglu");
  EXPECT_EQ(FactsFor("activation", model, "", {"beta=1"}).at("kind"), "gelu");
  EXPECT_FALSE(FactsFor("embedding", model, "", {"scale=1"}).contains("scale"));
  EXPECT_THAT(ErrorOfModel("embedding", model), HasSubstr("give scale="));
}

TEST(ConfigFor, ScalingDependsOnTheGivenSeqLen) {
  Model model = TwoKinds();
  model.kinds.pop_back();
  model.kinds[0].facts[fixtures::kDoublingContext] = "16";
  EXPECT_EQ(FactsFor(kRotation, model).at("scaling"), "none");
  EXPECT_EQ(FactsFor(kRotation, model, "", {"seq_len=17"}).at("scaling"), "ntk(factor=3)");
  EXPECT_FALSE(FactsFor(kRotation, model, "", {"seq_len=17", "scaling=none"}).contains("scaling"));
}

}  // namespace
}  // namespace sextant::tools
