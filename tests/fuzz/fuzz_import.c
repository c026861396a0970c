/*
 * Any text as a config, with several options each.  What is imported is a
 * geometry, the same one twice, and says how it came about; what is refused
 * leaves nothing behind.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kvplan/kvplan.h>

#include "fuzz/fuzz.h"

uint64_t fuzz_chunks = 20000;

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "fuzz_import: %s\n", what);
	abort();
}

struct outcome {
	char *geometry, *derivation;
	size_t geometry_len, derivation_len;
	int code;
};

static struct outcome import(const char *text, size_t size,
			     const struct kvp_import_options *options)
{
	struct kvp_error err = { 0 };
	struct outcome o;

	o.code = kvp_import(&o.geometry, &o.geometry_len, &o.derivation,
			    &o.derivation_len, "fuzz.json", text, size,
			    options, &err);
	if (!o.code)
		return o;
	must(!o.geometry && !o.geometry_len, "refused with a geometry");
	must(!o.derivation == (o.code != KVP_EINFEASIBLE),
	     "a derivation where there is none, or none");
	must(err.text[0] && strlen(err.text) < sizeof(err.text),
	     "refused without a text");
	must(o.code == KVP_ESYNTAX || o.code == KVP_EINPUT ||
	     o.code == KVP_ELIMIT || o.code == KVP_EINFEASIBLE,
	     "an unexpected code");
	return o;
}

static void check(const char *text, size_t size,
		  const struct kvp_import_options *options)
{
	struct outcome a = import(text, size, options);
	struct outcome b = import(text, size, options);
	struct kvp_geometry g = { 0 };

	must(a.code == b.code, "another code the second time");
	if (!a.code) {
		must(!strcmp(a.geometry, b.geometry), "another geometry");
		must(!strcmp(a.derivation, b.derivation),
		     "another derivation");
		must(strlen(a.geometry) == a.geometry_len &&
		     strlen(a.derivation) == a.derivation_len, "a length");
		must(!kvp_geometry_read_unsized(&g, "again", a.geometry,
						a.geometry_len, NULL),
		     "what was imported is no geometry");
		must(g.ranks == options->tp && g.nplanes > 0,
		     "another split than asked for");
	}
	kvp_geometry_release(&g);
	free(a.geometry);
	free(a.derivation);
	free(b.geometry);
	free(b.derivation);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct kvp_import_options o;

	kvp_import_options_init(&o);
	o.tp = 1;
	check(text, size, &o);
	o.tp = 2;
	o.kv_dtype = "fp8";
	o.conv_dtype = o.state_dtype = "bf16";
	o.mtp_layers = KVP_IMPORT_MTP_ALL;
	o.spec_tokens = 3;
	check(text, size, &o);
	o.conv_dtype = o.state_dtype = NULL;
	o.mtp_layers = 0;
	o.stage = 2;
	o.stages = 3;
	check(text, size, &o);
	o.family = "grouped";
	o.kv_dtype = "nvfp4";
	o.stages = KVP_IMPORT_UNSTATED;
	check(text, size, &o);
	return 0;
}
