# kvplan.  GNU make 4.x.  "make help" lists the targets.
comma   := ,
empty   :=
space   := $(empty) $(empty)
PREFIX  ?= /usr/local
DESTDIR ?=
# CC, CPPFLAGS, CFLAGS, LDFLAGS, LDLIBS and AR are yours: what you set is added
# to what kvplan needs.
CFLAGS  ?= -O2 -g
VERSION := 0.1.0
SOVERSION := 0
# make SAN=address,undefined test   builds in its own directory.
# So does another compiler: make CC=clang.
CC      := $(if $(filter default,$(origin CC)),gcc,$(CC))
B       := build$(if $(filter-out gcc,$(notdir $(CC))),-$(notdir $(CC)))$(if $(SAN),-$(subst $(comma),-,$(SAN)))
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes \
	-Wmissing-prototypes -Wwrite-strings -Wvla -Wswitch-enum -Wundef $(if $(STRICT),-Werror)
# Sections, so that kvcheck leaves out of base and model what it does not call.
SECTIONS := -ffunction-sections -fdata-sections
# Without optimization glibc warns of it.
FORTIFY := $(if $(SAN)$(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)),,$(if $(filter -O%,$(filter-out -O0,$(CFLAGS))),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))
HARDEN := -fPIC -fstack-protector-strong $(FORTIFY)
HARDEN_LINK := -Wl,-z,relro,-z,now -Wl,-z,noexecstack
KVP_CPPFLAGS := -Iinclude -Isrc -D_XOPEN_SOURCE=700 -DKVP_VERSION='"$(VERSION)"'
COMPILE  = $(CC) -std=c11 $(KVP_CPPFLAGS) $(CPPFLAGS) $(WARN) $(HARDEN) $(SECTIONS) $(CFLAGS) $(SANFLAGS) -MMD -MP -c -o $@ $<
LINK     = $(CC) -pie $(CFLAGS) $(SANFLAGS) $(HARDEN_LINK) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(KVP_LDLIBS) $(LDLIBS)
Q       := $(if $(V),,@)
say      = $(if $(V),,@printf '  %-4s %s\n' '$(1)' '$@';)

# cJSON holds whole documents (src/base/json_tree.c).  Programs that print none
# do not ask for it.
CJSON_CFLAGS ?= $(patsubst -I%,-isystem %,$(shell pkg-config --cflags libcjson 2>/dev/null))
CJSON_LIBS   ?= $(or $(strip $(shell pkg-config --libs libcjson 2>/dev/null)),-lcjson)
KVP_LDLIBS = -Wl,--as-needed $(CJSON_LIBS) -ldl
# As many jobs as processors, unless -j says another number.
MAKEFLAGS += $(if $(filter 0,$(MAKELEVEL)),-j$(shell nproc))
# The CUDA Toolkit's headers, types only: libcuda.so.1 is looked up at run
# time.  Without them everything but --gpus is built.
CUDA_DIRS := $(CUDA_HOME) /usr/local/cuda /usr .cuda
CUDA_INC := $(firstword $(foreach d,$(CUDA_DIRS),$(if $(wildcard $(d)/include/cuda.h),$(d)/include)))
CUDA_CPP := $(if $(CUDA_INC),$(if $(filter /usr/include,$(CUDA_INC)),,-isystem $(CUDA_INC)) -DKVP_HAVE_CUDA)
CHECK_CFLAGS ?= $(patsubst -I%,-isystem %,$(shell pkg-config --cflags check 2>/dev/null))
CHECK_LIBS   ?= $(shell pkg-config --libs check 2>/dev/null)

in       = $(foreach d,$(1),$(sort $(wildcard $(d)/*.c)))
obj      = $(patsubst %.c,$(B)/%.o,$(1))
ROOMS   := base model plan size check backend realize share cache probe import
LIB_SRC := $(call in,$(ROOMS:%=src/%))
LIB     := $(B)/libkvplan.a
SO      := $(B)/libkvplan.so.$(SOVERSION)
MAP     := src/libkvplan.map
MAN     := $(sort $(wildcard man/*))

.PHONY: FORCE all deps deps-test deps-mpi mpi demo test bench headers layers symbols fields sizes man install uninstall clean help mpi-programs
.DELETE_ON_ERROR:
all: $(B)/kvplan $(B)/kvcheck $(LIB) $(B)/libkvplan.so $(B)/kvplan.pc   ## the tool, the lone checker, the library
ifeq ($(CUDA_INC),)
	@echo '  --gpus IS NOT BUILT: no cuda.h in $(CUDA_DIRS:%=%/include); "make deps" fetches it'
endif

apt_install = $(Q)$(if $(filter 0,$(shell id -u)),,sudo) sh -c 'apt-get update -q && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends $(1)'
deps:                           ## install the Debian packages that "make demo" needs
	$(call apt_install,gcc libc6-dev libcjson-dev)
	$(Q)$(if $(CUDA_INC),,sh src/backend/cuda-headers.sh .cuda/include)
deps-test: deps                 ## and those that "make test" needs
	$(call apt_install,clang libclang-rt-dev pkg-config check mandoc jq \
	  universal-ctags git python3 spin)
deps-mpi: deps                  ## and those that "make mpi" needs
	$(call apt_install,libopenmpi-dev openmpi-bin libmpich-dev mpich)

$(B)/kvplan: $(call obj,$(call in,src/cli)) $(LIB)
	$(call say,LD)$(LINK)
# Linked from base + model + check and nothing else.  The day the checker
# leans on the planner, this link fails.  It prints no tree.
$(B)/kvcheck: HARDEN_LINK += -Wl,--gc-sections
$(B)/kvcheck: $(call obj,$(filter-out src/base/json_tree.c,$(call in,src/base src/model src/check src/kvcheck)))
	$(call say,LD)$(LINK)
# One program for each MPI that is there: kvplan-mpi for what mpicc names, and
# Debian's two.  One file includes mpi.h; the wrapper shows where that is.
MPIS     := $(strip $(foreach m,mpi mpi.openmpi mpi.mpich,$(if $(shell command -v $(m:mpi%=mpicc%)),$(m))))
MPI_OBJ  := $(call obj,$(filter-out src/mpi/job.c,$(call in,src/mpi)))
mpi_show  = $(shell $(*:mpi%=mpicc%) -show)
# Made anew, since "make deps-mpi mpi" installs them first.
mpi: $(filter deps-mpi,$(MAKECMDGOALS)) ## kvplan-mpi for every MPI that is installed
	$(Q)$(MAKE) --no-print-directory mpi-programs
mpi-programs: $(MPIS:%=$(B)/kvplan-%)
	$(Q)$(if $(MPIS),,echo 'no mpicc; "make deps-mpi" installs two' >&2; exit 1)
$(MPIS:%=$(B)/kvplan-%): HARDEN_LINK += -Wl,--gc-sections
$(MPIS:%=$(B)/kvplan-%): $(B)/kvplan-%: $(B)/%/src/mpi/job.o $(MPI_OBJ) $(call obj,$(filter-out src/cli/main.c,$(call in,src/cli))) $(LIB)
	$(call say,LD)$(LINK) $(filter-out -I%,$(wordlist 2,99,$(mpi_show)))
$(MPIS:%=$(B)/%/src/mpi/job.o): $(B)/%/src/mpi/job.o: src/mpi/job.c Makefile
	@mkdir -p $(@D)
	$(call say,CC)$(COMPILE) $(patsubst -I%,-isystem %,$(filter -I%,$(mpi_show)))
$(LIB): $(call obj,$(LIB_SRC))
	$(call say,AR)rm -f $@ && $(AR) rcs $@ $^
$(SO): $(call obj,$(LIB_SRC)) $(MAP)
	$(call say,LD)$(CC) -shared $(CFLAGS) $(SANFLAGS) $(HARDEN_LINK) $(LDFLAGS) \
	  -Wl,-soname,$(notdir $@) -Wl,--version-script,$(MAP) -o $@ $(filter %.o,$^) $(KVP_LDLIBS) $(LDLIBS)
$(B)/libkvplan.so: $(SO)
	$(Q)ln -sf $(notdir $<) $@
# Made anew whenever it would differ: PREFIX may be another one now.
$(B)/kvplan.pc: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' 'prefix=$(PREFIX)' 'Name: kvplan' \
	  'Description: plans, proves and realizes the memory layout of LLM KV caches' \
	  'Version: $(VERSION)' 'Libs: -L$${prefix}/lib -lkvplan' \
	  'Libs.private: $(CJSON_LIBS) -ldl' 'Cflags: -I$${prefix}/include' > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
FORCE:
$(B)/src/backend/%.o $(B)/src/probe/%.o: KVP_CPPFLAGS += $(CUDA_CPP)
$(B)/src/base/json_tree.o: KVP_CPPFLAGS += $(CJSON_CFLAGS)
$(B)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC)$(COMPILE)

include tests/tests.mk

demo: all                       ## plan, verify and realize the published layout
	$(B)/kvplan plan -o $(B)/demo.plan.json layouts/kimi-k3.1-pro-tp16-dcp16.json
	$(B)/kvplan verify --geometry=layouts/kimi-k3.1-pro-tp16-dcp16.json $(B)/demo.plan.json
	$(B)/kvcheck $(B)/demo.plan.json
	$(B)/kvplan realize --ranks=0 --check=quick $(B)/demo.plan.json

headers:                        ## every header compiles alone
	$(Q)set -e; for h in include/kvplan/*.h $(wildcard src/*/*.h); do \
	  $(CC) -std=c11 $(KVP_CPPFLAGS) $(CUDA_CPP) $(CPPFLAGS) $(WARN) -Wno-unused-function -Werror -fsyntax-only -x c $$h; done
# What the objects of a room may have read (from the .d files, so includes of
# includes count too), below include/ and src/.  All else is refused, also a
# header that is new.  The umbrella header is for users.
room       = $(1)/[a-z_0-9]*\.(h|def)
public     = kvplan/($(subst $(space),|,$(strip $(1))))\.h
on_base   := $(call room,base)|$(call public,error)
on_model  := $(on_base)|$(call room,model)|$(call public,geometry span plan headroom limits)
on_backend := $(on_base)|$(call public,backend)
may_base  := $(on_base)
may_model := $(on_model)
may_plan  := $(on_model)|$(call room,plan)|$(call public,plan_make)
may_size  := $(on_model)|$(call room,size)|plan/layout\.h|$(call public,plan_make size)
may_check := $(on_model)|$(call room,check)|$(call public,verify)
may_backend := $(on_backend)|$(call room,backend)
may_realize := $(on_model)|$(on_backend)|$(call room,realize)|backend/backend_watch\.h|$(call public,addresses capacity owners realize verify)
may_share := $(on_model)|$(on_backend)|$(call room,share)|backend/backend_watch\.h|realize/(realization|alias_check|addresses|undo)\.h|$(call public,addresses realize share verify)
may_cache := $(on_backend)|$(call room,cache)|backend/pools\.h|$(call public,alloc_cache headroom geometry)
may_probe := $(on_model)|$(on_backend)|$(call room,probe)|backend/[a-z_]*\.(h|def)|$(call public,probe)
may_import := $(on_model)|$(call room,import)|$(call public,import)
may_kvcheck := $(on_model)|$(call public,verify)
# Of private headers only these.
may_cli   := $(on_base)|$(call room,cli)|kvplan/[a-z_]*\.h|cache/decode_workload\.h|size/(search|sizing)\.h|realize/obstacles\.h
may_mpi   := $(may_cli)|$(call room,mpi)|backend/visible\.h
layers: all $(MPI_OBJ) $(MPIS:%=$(B)/%/src/mpi/job.o) ## no room includes what it may not or writes JSON by hand
	$(Q)sh tests/gates/layers.sh $(B) $(foreach r,$(ROOMS) kvcheck cli mpi,$(r) '$(may_$(r))')
	$(Q)$(if $(MPIS),sh tests/gates/layers.sh $(B)/$(firstword $(MPIS)) mpi '$(may_mpi)')
	$(Q)sh tests/gates/json.sh
	$(Q)bad=0; grep -rl 'cJSON\.h' src include | grep -vE '^src/base/json(_tree)?\.c$$' && bad=1; \
	  grep -rlE --include='*.[ch]' '[<"/]cuda(Typedefs)?\.h' src include | grep -v '^src/backend/\(backend_cuda[a-z_]*\.[ch]\|cuda_api\.[ch]\)$$' && bad=1; \
	  test $$bad = 0 || { echo 'layers: the files above include against the arrows' >&2; exit 1; }
symbols: all                    ## the shared library exports the public headers, no more, and keeps to itself
	$(Q)sh tests/gates/symbols.sh $(SO) $(MAP)
	$(Q)sh tests/gates/process.sh $(SO) $(LIB)
fields:                         ## tests cover all members and functions of the plan
	$(Q)sh tests/gates/fields.sh
sizes:                          ## report file and function sizes, refuse the too large
	$(Q)sh tests/gates/sizes.sh
man:                            ## lint the manual
	$(Q)mandoc -Tlint -Wwarning $(MAN)
MPI_BUILT := $(wildcard $(MPIS:%=$(B)/kvplan-%))
install: all $(MPI_BUILT)       ## honours PREFIX and DESTDIR
	install -Dm755 -t $(DESTDIR)$(PREFIX)/bin $(B)/kvplan $(B)/kvcheck $(MPI_BUILT)
	install -Dm644 -t $(DESTDIR)$(PREFIX)/lib $(LIB)
	install -Dm755 -t $(DESTDIR)$(PREFIX)/lib $(SO)
	ln -sf $(notdir $(SO)) $(DESTDIR)$(PREFIX)/lib/libkvplan.so
	install -Dm644 -t $(DESTDIR)$(PREFIX)/include/kvplan include/kvplan/*.h
	install -Dm644 -t $(DESTDIR)$(PREFIX)/lib/pkgconfig $(B)/kvplan.pc
	install -Dm644 -t $(DESTDIR)$(PREFIX)/share/man/man1 $(filter %.1,$(MAN))
	install -Dm644 -t $(DESTDIR)$(PREFIX)/share/man/man3 $(filter %.3,$(MAN))
	install -Dm644 -t $(DESTDIR)$(PREFIX)/share/man/man5 $(filter %.5,$(MAN))
	install -Dm644 -t $(DESTDIR)$(PREFIX)/share/man/man7 $(filter %.7,$(MAN))
uninstall:                      ## remove what install put there
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,bin/kvplan bin/kvcheck $(MPIS:%=bin/kvplan-%) lib/libkvplan.a \
	  lib/libkvplan.so lib/$(notdir $(SO)) lib/pkgconfig/kvplan.pc \
	  $(patsubst man/%,share/man/man1/%,$(filter %.1,$(MAN))) \
	  $(patsubst man/%,share/man/man3/%,$(filter %.3,$(MAN))) \
	  $(patsubst man/%,share/man/man5/%,$(filter %.5,$(MAN))) \
	  $(patsubst man/%,share/man/man7/%,$(filter %.7,$(MAN))))
	rm -rf $(DESTDIR)$(PREFIX)/include/kvplan
clean:                          ## remove every build directory
	rm -rf build build-*
help:                           ## this list
	@awk -F':|##' '/^[a-z-]+:.*##/ {printf "  make %-10s %s\n", $$1, $$NF}' Makefile tests/tests.mk

-include $(shell find $(B) -name '*.d' 2>/dev/null)
