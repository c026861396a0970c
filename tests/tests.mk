# The tests.  Every program and script prints what failed and closes with
# "N passed, N failed, N skipped".  Each is a target of its own, so that make
# runs them side by side; tests/run.sh keeps what one prints in $(B)/log,
# tests/sum.sh adds up.

TEST_OBJ = $(call obj,$(filter-out $(FAKE_SRC),$(call in,tests/fake)))
# The stand-in driver, found by LD_LIBRARY_PATH=$(B)/fake.
FAKE_SRC := $(filter tests/fake/libcuda%.c,$(call in,tests/fake))
FAKE     := $(if $(CUDA_INC),$(B)/fake/libcuda.so.1)
UNIT     := $(B)/tests/unit/unit
THREAD   := $(B)/tests/thread/thread
SIGNAL   := $(B)/tests/signal/signal
# One program per file; they share tests/fake and the library.
PROGRAMS := $(patsubst %.c,$(B)/%,$(call in,tests/random tests/mutant tests/fault))
SCRIPTS  := $(sort $(wildcard tests/*/run.sh))
# Those of tests/share take long and have one compiler enough: like scripts,
# not run where SCRIPTS is empty.
SHARE_OBJ := $(call obj,tests/share/joined.c tests/share/launch.c tests/share/trials.c)
SHARE    := $(if $(SCRIPTS),$(filter-out $(SHARE_OBJ:.o=),$(patsubst %.c,$(B)/%,$(call in,tests/share))))
FUZZERS  := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
GPU      := $(patsubst %.c,$(B)/%,$(call in,tests/gpu))
BENCH    := $(patsubst %.c,$(B)/%,$(call in,tests/bench))
# Of these, those that start processes which share.
LAUNCHES := $(filter %/share,$(GPU) $(BENCH))

# Names of tests: unit/ROOM/SUITE, as the program's path, as the script's
# folder.  Those that take long come first, so that none is waited for alone.
LONG     := mpi cli realize import model
SUITE_TESTS   := $(patsubst tests/unit/%.c,unit/%,$(subst /test_,/,$(call in,tests/unit/*)))
PROGRAM_TESTS := $(patsubst $(B)/tests/%,%,$(SHARE) $(PROGRAMS) $(FUZZERS))
SCRIPT_TESTS  := $(patsubst tests/%/run.sh,%,$(SCRIPTS))
TESTS    := $(filter $(LONG),$(SCRIPT_TESTS)) $(PROGRAM_TESTS) $(filter-out $(LONG),$(SCRIPT_TESTS)) $(SUITE_TESTS)
# make test T=realize: those with "realize" in their names; several words are
# several parts of names.
CHOSEN   := $(if $(T),$(sort $(foreach t,$(T),$(foreach n,$(TESTS),$(if $(findstring $(t),$(n)),$(n))))),$(TESTS))
LOGS     := $(CHOSEN:%=$(B)/log/%.log)
GATES    := headers layers symbols fields sizes man

.PHONY: unit thread gpu
test: $(if $(T),,all $(GPU) $(GATES)) $(LOGS)   ## everything that needs no GPU; with T=NAME the tests with NAME in their names
	$(Q)$(if $(LOGS),,echo 'no test has $(T) in its name' >&2; exit 1)
	$(Q)sh tests/sum.sh $(LOGS)
RUN_TEST  = $(Q)B=$(B) CC='$(CC)' SAN='$(SAN)' sh tests/run.sh $@
# A sanitizer sees everything in one process.
$(SUITE_TESTS:%=$(B)/log/%.log): $(UNIT) FORCE
	$(RUN_TEST) env $(if $(SAN),CK_FORK=no )CK_RUN_SUITE=$(basename $(notdir $@)) $(UNIT)
$(PROGRAM_TESTS:%=$(B)/log/%.log): $(B)/log/%.log: $(B)/tests/% $(FAKE) FORCE
	$(RUN_TEST) $<
$(SCRIPT_TESTS:%=$(B)/log/%.log): $(B)/log/%.log: tests/%/run.sh all $(FAKE) $(if $(SAN),,$(MPIS:%=$(B)/kvplan-%)) FORCE
	$(RUN_TEST) sh $<
$(B)/log/signal.log: $(SIGNAL)
$(B)/log/thread.log: $(THREAD)
unit: $(UNIT)                   ## the unit tests alone, one after the other
	$(Q)$(UNIT)
thread: $(FAKE) $(THREAD)       ## eight threads over the library; make SAN=thread thread looks for races
	$(Q)B=$(B) sh tests/thread/run.sh
gpu: all $(GPU) $(BENCH)                        ## the tests that need a GPU, tens of GiB of it
	$(Q)B=$(B) KVP_GPU=1 sh tests/gpu/run.sh
bench: all $(FAKE) $(BENCH)             ## speed, against jq in the same run
	$(Q)B=$(B) sh tests/bench/bench.sh

$(B)/fake/libcuda.so.1: $(call obj,$(FAKE_SRC)) tests/fake/libcuda.map
	@mkdir -p $(@D)
	$(call say,LD)$(CC) -shared $(CFLAGS) $(SANFLAGS) $(LDFLAGS) -Wl,-soname,libcuda.so.1 \
	  -Wl,--version-script,tests/fake/libcuda.map -o $@ $(filter %.o,$^)
$(call obj,$(FAKE_SRC) tests/fault/shared_node.c): KVP_CPPFLAGS += $(CUDA_CPP)
# Made anew whenever it would differ, that is with a new suite.
$(B)/tests/unit/suites.def: FORCE
	@mkdir -p $(@D)
	@printf 'SUITE(%s)\n' $(notdir $(SUITE_TESTS)) > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
$(call obj,$(call in,tests/unit tests/unit/*)): KVP_CPPFLAGS += -I$(B)
$(call obj,$(call in,tests/unit tests/unit/*)): | $(B)/tests/unit/suites.def
$(UNIT): $(call obj,$(call in,tests/unit tests/unit/*)) $(TEST_OBJ) $(LIB)
	$(call say,LD)$(LINK) $(CHECK_LIBS)
$(filter-out $(LAUNCHES),$(PROGRAMS) $(THREAD) $(GPU) $(BENCH)): $(B)/%: $(B)/%.o $(TEST_OBJ) $(LIB)
	$(call say,LD)$(LINK)
$(SHARE) $(LAUNCHES): $(B)/%: $(B)/%.o $(SHARE_OBJ) $(TEST_OBJ) $(LIB)
	$(call say,LD)$(LINK)
# The tool itself, run in children of the test.
$(SIGNAL): $(SIGNAL).o $(SIGNAL)_main.o $(call obj,$(filter-out src/cli/main.c,$(call in,src/cli))) $(LIB)
	$(call say,LD)$(LINK)
$(SIGNAL)_main.o: src/cli/main.c Makefile
	@mkdir -p $(@D)
	$(call say,CC)$(COMPILE) -Dmain=kvplan_main -Wno-missing-prototypes
$(FUZZERS): $(B)/%: $(B)/%.o $(call obj,tests/fuzz/replay.c) $(TEST_OBJ) $(LIB)
	$(call say,LD)$(LINK)
$(B)/tests/%.o: KVP_CPPFLAGS += -Itests $(CHECK_CFLAGS)
