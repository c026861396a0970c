# The tests.  Every program and script prints what failed and closes with
# "N passed, N failed, N skipped"; tests/run.sh adds the lines up.

TEST_OBJ = $(call obj,$(filter-out $(FAKE_SRC),$(call in,tests/fake)))
# The stand-in driver, found by LD_LIBRARY_PATH=$(B)/fake.
FAKE_SRC := $(filter tests/fake/libcuda%.c,$(call in,tests/fake))
FAKE     := $(if $(CUDA_INC),$(B)/fake/libcuda.so.1)
UNIT     := $(B)/tests/unit/unit
THREAD   := $(B)/tests/thread/thread
SIGNAL   := $(B)/tests/signal/signal
# One program per file; they share tests/fake and the library.
PROGRAMS := $(patsubst %.c,$(B)/%,$(call in,tests/random tests/mutant tests/fault))
FUZZERS  := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
GPU      := $(patsubst %.c,$(B)/%,$(call in,tests/gpu))
BENCH    := $(patsubst %.c,$(B)/%,$(call in,tests/bench))
SCRIPTS  := $(sort $(wildcard tests/*/run.sh))

.PHONY: unit thread gpu
test: all $(FAKE) $(UNIT) $(THREAD) $(SIGNAL) $(PROGRAMS) $(FUZZERS) $(GPU) headers layers symbols fields sizes man   ## everything that needs no GPU
	$(Q)B=$(B) CC='$(CC)' SAN='$(SAN)' sh tests/run.sh $(UNIT) $(PROGRAMS) $(FUZZERS) $(SCRIPTS)
unit: $(UNIT)                   ## the unit tests alone
	$(Q)$(UNIT)
thread: $(FAKE) $(THREAD)       ## eight threads over the library; make SAN=thread thread looks for races
	$(Q)B=$(B) sh tests/thread/run.sh
gpu: all $(GPU) $(BENCH)                        ## the tests that need a GPU, tens of GiB of it
	$(Q)B=$(B) KVP_GPU=1 sh tests/gpu/run.sh
bench: all $(FAKE) $(BENCH)             ## speed, against jq in the same run
	$(Q)B=$(B) sh tests/bench/bench.sh

$(B)/fake/libcuda.so.1: $(call obj,$(FAKE_SRC)) tests/fake/libcuda.map
	@mkdir -p $(@D)
	$(call say,LD)$(CC) -shared $(CFLAGS) $(SANFLAGS) -Wl,-soname,libcuda.so.1 \
	  -Wl,--version-script,tests/fake/libcuda.map -o $@ $(filter %.o,$^)
$(call obj,$(FAKE_SRC)): CPP += $(CUDA_CPP)
$(UNIT): $(call obj,$(call in,tests/unit tests/unit/*)) $(TEST_OBJ) $(LIB)
	$(call say,LD)$(LINK) $(CHECK_LIBS)
$(PROGRAMS) $(THREAD) $(GPU) $(BENCH): $(B)/%: $(B)/%.o $(TEST_OBJ) $(LIB)
	$(call say,LD)$(LINK)
# The tool itself, run in children of the test.
$(SIGNAL): $(SIGNAL).o $(SIGNAL)_main.o $(call obj,$(filter-out src/cli/main.c,$(call in,src/cli))) $(LIB)
	$(call say,LD)$(LINK)
$(SIGNAL)_main.o: src/cli/main.c Makefile
	@mkdir -p $(@D)
	$(call say,CC)$(COMPILE) -Dmain=kvplan_main -Wno-missing-prototypes
$(FUZZERS): $(B)/%: $(B)/%.o $(call obj,tests/fuzz/replay.c) $(TEST_OBJ) $(LIB)
	$(call say,LD)$(LINK)
$(B)/tests/%.o: CPP += -Itests $(CHECK_CFLAGS)
