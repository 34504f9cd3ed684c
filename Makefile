# quern: small programs that grind a program's run into profiles
#
#   make           all programs, into build/bin
#   make demo      from nothing to the annotated profile of a real program
#   make check     from nothing to all tests (SAN=1: with sanitizers)
#   make check-long  those that take minutes, likewise
#   make bench     compare with Valgrind, into build/bench.txt
#   make install   DESTDIR, PREFIX, P (put before each name, qn-), STRIP=-s
#   make uninstall with the same DESTDIR, PREFIX, P
#   make deb       a Debian package, in build
#   make fuzz      each fuzz target for FUZZTIME seconds (needs clang)
#
# cmd/NAME.c, or all of cmd/NAME/ and its folders, is the program NAME. It is
# linked with lib.a (lib/*/*.c), OBJS_NAME and LDLIBS_NAME. A name in SCRIPTS is
# the program scripts/NAME. t/unit/NAME.c is a test driver.

# Debian packages: to build, and for make demo
DEBS	= gcc libc6-dev make pkg-config perl binutils gzip \
	zlib1g-dev libzstd-dev libdeflate-dev libelf-dev libdw-dev \
	libzydis-dev libhts-dev libiberty-dev libpcre2-dev libjansson-dev \
	libprotobuf-c-dev protobuf-c-compiler

# for the tests; where a viewer is missing they skip what it would say
ifneq ($(filter check check-long bench deps,$(MAKECMDGOALS)),)
DEBS	+= g++ bzip2 elfutils dwz mandoc universal-ctags valgrind \
	python3 sqlite3 clang llvm libclang-rt-dev xz-utils zstd pigz \
	openssl git \
	kcachegrind dbus-daemon dbus-bin xvfb xdotool imagemagick \
	fonts-dejavu-core librsvg2-bin chromium procps
endif

# and what the long ones build with
ifneq ($(filter check-long,$(MAKECMDGOALS)),)
DEBS	+= musl-tools
endif

# and what make bench runs
ifneq ($(filter bench,$(MAKECMDGOALS)),)
DEBS	+= lua5.4 time
endif

SAN	=
ifeq ($(SAN),)
BUILD	= build
else
BUILD	= build/san
SANFLAGS = -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	-fno-omit-frame-pointer
endif

CC	= gcc
AR	= ar
CFLAGS	= -O2 -g
WARN	= -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wwrite-strings -Werror=int-conversion
CPPFLAGS = -D_GNU_SOURCE -Ilib
# With it set, builds in different folders give the same bytes
ifdef SOURCE_DATE_EPOCH
REMAP	= -ffile-prefix-map=$(CURDIR)=.
endif
COMPILE	= $(CC) $(REMAP) -std=gnu11 $(CPPFLAGS) $(WARN) $(CFLAGS) $(SANFLAGS)
LINK	= $(CC) $(CFLAGS) $(SANFLAGS) $(LDFLAGS)

PREFIX	= /usr/local
P	= qn-
BINDIR	= $(PREFIX)/bin
MANDIR	= $(PREFIX)/share/man
LIBEXECDIR = $(PREFIX)/libexec
BASHDIR	= $(PREFIX)/share/bash-completion/completions
ZSHDIR	= $(PREFIX)/share/zsh/site-functions
FISHDIR	= $(PREFIX)/share/fish/vendor_completions.d
STRIP	=

# What programs are linked with beside lib.a; each keeps what it needs of it
LIBS	= -Wl,--as-needed -ldw -lelf -ldeflate -liberty -lz -lzstd -lpthread
LDLIBS_trace = -lZydis
# trace is started for each run that is traced, and to load what only names of
# functions need takes half a millisecond: that is linked in where it can be
STATIC_trace = -Wl,--start-group -Wl,-Bstatic $(filter-out -lpthread,\
	$(shell pkg-config --static --libs-only-l libdw libelf 2>/dev/null)) \
	-ldeflate -lzstd -liberty -Wl,--end-group -Wl,-Bdynamic -lpthread
LDLIBS_annotate = -lZydis
LDLIBS_simpoint = -ljansson -lm -lpthread
LDLIBS_account = -ljansson
LDLIBS_reuse = -lm
LDLIBS_mix = -lZydis
LDLIBS_diff = -lpcre2-8 -ljansson
OBJS_fmt-pprof = $(BUILD)/cmd/fmt-pprof/pprof.pb-c.o
LDLIBS_merge = -lm
LDLIBS_fmt-pprof = -lprotobuf-c

OBJS_t_lacks = $(patsubst %,$(BUILD)/cmd/trace/code/%.o,lacks decode classify \
	operands)
LDLIBS_t_lacks = -lZydis
OBJS_t_template = $(patsubst %,$(BUILD)/cmd/trace/code/%.o,template decode \
	classify operands)
LDLIBS_t_template = -lZydis
LDLIBS_t_emit = -lZydis
LDLIBS_t_written = -lZydis
OBJS_t_rivals = $(patsubst %,$(BUILD)/cmd/trace/base/%.o,rivals process)
OBJS_cachesim = $(BUILD)/cmd/cachesim/hotloop.o
OBJS_t_geometry = $(BUILD)/cmd/cachesim/geometry.o
OBJS_t_misses = $(BUILD)/cmd/cachesim/ll.o
LDLIBS_t_fuzz_simpoint = -Wl,--wrap=die,--wrap=warn,--wrap=sysconf \
	-Wl,--wrap=in_open,--wrap=in_close -lm
LDLIBS_t_fuzz_svg = -Wl,--wrap=die,--wrap=warn,--wrap=in_open,--wrap=in_close
LDLIBS_t_fuzz_in = -Wl,--wrap=die,--wrap=warn
LDLIBS_t_fuzz_cost = -Wl,--wrap=die,--wrap=warn,--wrap=malloc,--wrap=calloc \
	-Wl,--wrap=realloc,--wrap=free

# ---------------------------------------------------------------- programs

PROGS	:= $(sort $(basename $(notdir $(wildcard cmd/*.c))) \
	$(notdir $(patsubst %/,%,$(dir $(wildcard cmd/*/main.c)))))
LIBSRCS	:= $(wildcard lib/*/*.c)
LIBHEADERS := $(wildcard lib/*.h lib/*/*.h)
LIBOBJS	:= $(LIBSRCS:%.c=$(BUILD)/%.o)
UNITS	:= $(patsubst t/unit/%.c,$(BUILD)/t/%,$(wildcard t/unit/*.c))
FUZZERS	:= $(patsubst t/fuzz/%.c,%,$(wildcard t/fuzz/fuzz_*.c))
SCRIPTS	= array callgrind_control ci valgrind
BINS	:= $(PROGS:%=$(BUILD)/bin/%) $(SCRIPTS:%=$(BUILD)/bin/%)

all: $(BINS)

# These begin with what is missing on this machine, and build on all of it
ifneq ($(filter check check-long demo bench deps,$(MAKECMDGOALS)),)
FIRST	= deps
MAKEFLAGS := $(MAKEFLAGS) -j$(shell nproc)
endif

# Any other processor is told so in one line, before all else
FIRST	+= $(BUILD)/machine.ok
$(BUILD)/machine.ok: scripts/machine.c
	@mkdir -p $(@D)
	@$(CC) -fsyntax-only $<
	@touch $@

# Commands are shown in short; VERBOSE=1 shows them whole
short	= $(if $(VERBOSE),,@echo '  $(1)	$@';)

deps:
	@sh scripts/deps $(DEBS)

# a program of many folders includes its headers as folder/header.h
own	= $(addprefix -Icmd/,$(word 2,$(subst /, ,$(filter cmd/%,$(dir $<)))))

$(BUILD)/%.o: %.c | $(FIRST)
	@mkdir -p $(@D)
	$(call short,CC)$(COMPILE) $(own) -MMD -MP -c -o $@ $<

$(BUILD)/%.o: %.S | $(FIRST)
	@mkdir -p $(@D)
	$(call short,CC)$(COMPILE) $(own) -MMD -MP -c -o $@ $<

# the page's style and script are in the program
$(BUILD)/cmd/annotate/htmlhead.o: cmd/annotate/page.css cmd/annotate/page.js

# simpoint's results are to the last bit: each product is rounded by itself
$(BUILD)/cmd/simpoint/%.o: CFLAGS += -ffp-contract=off

# fmt-pprof's messages, from their description; their code is not ours
PB	= $(BUILD)/cmd/fmt-pprof/pprof.pb-c
$(PB).c: cmd/fmt-pprof/pprof.proto | $(FIRST)
	@mkdir -p $(@D)
	$(call short,PROTOC)protoc-c --proto_path=$(<D) --c_out=$(@D) $<
$(PB).h: $(PB).c
$(PB).o: $(PB).c
	$(call short,CC)$(CC) $(REMAP) -std=gnu11 -I$(BUILD)/cmd/fmt-pprof $(CFLAGS) $(SANFLAGS) \
	    -MMD -MP -c -o $@ $<
$(BUILD)/cmd/fmt-pprof/%.o: CPPFLAGS += -I$(BUILD)/cmd/fmt-pprof
$(patsubst %.c,$(BUILD)/%.o,$(wildcard cmd/fmt-pprof/*.c)): $(PB).h

$(BUILD)/cmd/fmt-svg/draw.o $(BUILD)/t/fuzz/fuzz_svg.o: \
    cmd/fmt-svg/flame.css cmd/fmt-svg/flame.js

$(BUILD)/lib.a: $(LIBOBJS)
	@rm -f $@
	$(call short,AR)$(AR) rcs $@ $(LIBOBJS)

# $(call program,NAME): its sources are one file, or a folder's and those of
# its folders; cmd/trace/runtime is none of them, see below
sources	= $(filter-out cmd/trace/runtime/%,\
	$(wildcard cmd/$(1).c cmd/$(1)/*.c cmd/$(1)/*/*.c))
objects	= $(patsubst %.c,$(BUILD)/%.o,$(call sources,$(1)))
define program
link_$(1) = $$(LINK) -o $$(BUILD)/bin/$(1) $$(call objects,$(1)) \
	$$(OBJS_$(1)) $$(BUILD)/lib.a $$(LDLIBS_$(1))
$$(BUILD)/bin/$(1): $$(call objects,$(1)) $$(OBJS_$(1)) $$(BUILD)/lib.a
	@mkdir -p $$(@D)
	$$(call short,LINK)$$(if $$(STATIC_$(1)),$$(link_$(1)) \
	    $$(STATIC_$(1)) 2>/dev/null || )$$(link_$(1)) $$(LIBS)
endef

# programs that are scripts find the others next to them; each is one file, which
# has scripts/PART.sh in place of its line `. PART.sh'
PARTS	= $(wildcard scripts/*.sh)
$(SCRIPTS:%=$(BUILD)/bin/%): $(BUILD)/bin/%: scripts/% $(PARTS)
	@mkdir -p $(@D)
	$(call short,GEN)sed $(foreach p,$(PARTS),-e '/^\. $(notdir $(p))$$/{r $(p)' \
	    -e 'd;}') $< >$@.new
	@chmod 755 $@.new && mv $@.new $@

# ------------------------------------------------------ the engine's runtime
# cmd/trace/runtime/ runs inside the traced program: freestanding, with flags
# of its own. $(OBJS_trace) is how it gets into trace: one flat piece, as bytes.
#
#   -ffreestanding ...        there is no libc
#   -fPIE, hidden, no tables  it runs wherever it is mapped, unrelocated
#   -mgeneral-regs-only       the program's vector state is never touched
#   -fno-tree-loop-...        memset is our own, not made of calls to itself
RT	= cmd/trace/runtime
RTFLAGS	= -O2 -g -ffreestanding -fno-stack-protector -fPIE \
	-mgeneral-regs-only -fno-jump-tables -fvisibility=hidden \
	-fno-asynchronous-unwind-tables -fcf-protection=none \
	$(if $(findstring clang,$(CC)),-fno-builtin,\
	    -fno-tree-loop-distribute-patterns)
RTOBJS	:= $(patsubst $(RT)/%,$(BUILD)/$(RT)/%.o,\
	$(filter-out $(RT)/offsets.c,$(wildcard $(RT)/*.c $(RT)/*.S)))
OBJS_trace = $(BUILD)/cmd/trace/guest/blob.o

$(BUILD)/$(RT)/%.c.o: $(RT)/%.c | $(FIRST)
	@mkdir -p $(@D)
	$(call short,CC)$(CC) -std=gnu11 $(RTFLAGS) $(WARN) -MMD -MP -c -o $@ $<

# numbers of C for assembler, in lines that are none of its language
NOTASM	= $(if $(findstring clang,$(CC)),-fno-integrated-as)
$(BUILD)/$(RT)/offsets.h: $(RT)/offsets.c $(wildcard $(RT)/*.h) \
    $(wildcard cmd/trace/*.h) | $(FIRST)
	@mkdir -p $(@D)
	$(call short,GEN)$(CC) -std=gnu11 $(RTFLAGS) $(WARN) $(NOTASM) -S -o - $< | \
	    sed -n 's/^->\([A-Z_]*\) \(-*[0-9]*\)$$/#define \1 \2/p' >$@

$(BUILD)/$(RT)/%.S.o: $(RT)/%.S $(BUILD)/$(RT)/offsets.h | $(FIRST)
	@mkdir -p $(@D)
	$(call short,CC)$(CC) -I$(BUILD)/$(RT) -MMD -MP -c -o $@ $<

$(BUILD)/$(RT)/blob: $(RTOBJS) $(RT)/blob.ld
	$(call short,LD)ld -static -z noexecstack -T $(RT)/blob.ld -o $@.elf $(RTOBJS)
	@objcopy -O binary $@.elf $@

$(BUILD)/cmd/trace/guest/blob.o: cmd/trace/guest/blob.S $(BUILD)/$(RT)/blob
	@mkdir -p $(@D)
	$(call short,CC)$(CC) -DRUNTIME='"$(BUILD)/$(RT)/blob"' -c -o $@ $<

# ------------------------------------------------------------------- tests

# A driver may use all of lib, and the objects in OBJS_t_NAME.
define unit
$$(BUILD)/t/$(1): $$(BUILD)/t/unit/$(1).o $$(OBJS_t_$(1)) $$(BUILD)/lib.a
	@mkdir -p $$(@D)
	$$(call short,LINK)$$(LINK) -o $$@ $$(BUILD)/t/unit/$(1).o $$(OBJS_t_$(1)) \
	    $$(BUILD)/lib.a $$(LDLIBS_t_$(1)) $$(LIBS)
endef

# Fuzz targets: linked with replay.c for the corpus, by clang for fuzzing.
define fuzzer
$$(BUILD)/t/$(1): $$(BUILD)/t/fuzz/$(1).o $$(BUILD)/t/fuzz/replay.o \
    $$(OBJS_t_$(1)) $$(BUILD)/lib.a
	@mkdir -p $$(@D)
	$$(call short,LINK)$$(LINK) -o $$@ $$(BUILD)/t/fuzz/$(1).o $$(BUILD)/t/fuzz/replay.o \
	    $$(OBJS_t_$(1)) $$(BUILD)/lib.a $$(LDLIBS_t_$(1)) \
	    $$(LIBS)
build/fuzz/$(1): t/fuzz/$(1).c $$(LIBSRCS) $$(LIBHEADERS)
	@mkdir -p $$(@D)
	$$(call short,FUZZ)clang -std=gnu11 -g -O1 $$(CPPFLAGS) \
	    -fsanitize=fuzzer,address,undefined \
	    -fno-sanitize-recover=undefined -o $$@ t/fuzz/$(1).c \
	    $$(LIBSRCS) $$(LDLIBS_t_$(1)) $$(LIBS)
endef

$(foreach p,$(PROGS),$(eval $(call program,$(p))))
$(foreach u,$(notdir $(UNITS)),$(eval $(call unit,$(u))))
$(foreach f,$(FUZZERS),$(eval $(call fuzzer,$(f))))
build/fuzz/fuzz_simpoint: $(wildcard cmd/simpoint/*.[ch])
build/fuzz/fuzz_store: $(wildcard cmd/trace/*/*.[ch])
build/fuzz/fuzz_store $(BUILD)/t/fuzz/fuzz_store.o \
    $(BUILD)/t/unit/rivals.o: CPPFLAGS += -Icmd/trace
build/fuzz/fuzz_svg: $(wildcard cmd/fmt-svg/*)

include t/victim/victim.mk

TESTBINS = $(UNITS) $(FUZZERS:%=$(BUILD)/t/%) $(VPROGS)
TESTS	= $(sort $(wildcard t/[0-9]*.t))
LONGEST	= $(addprefix t/long/,0174-store.t 0113-random.t 0111-victims-trace.t)
LONG	= $(filter-out $(LONGEST),$(sort $(wildcard t/long/[0-9]*.t))) $(LONGEST)
PROVE	= prove --failures --comments
JOBS	= 2

tests: $(BINS) $(TESTBINS)

# T="t/0001-lib.t ..." runs only those.
RUNTESTS = @B=$(CURDIR)/$(BUILD)/bin TB=$(CURDIR)/$(BUILD)/t SAN=$(SAN) \
	CC="$(CC)" LC_ALL=C $(PROVE) -j$(JOBS)

check: $(FIRST) tests
	$(RUNTESTS) $(if $(T),$(T),$(TESTS))

# what takes long: stress, many seeds, large programs; the longest last, since
# .ci/run may leave them out
check-long: $(FIRST) tests
	$(RUNTESTS) $(if $(T),$(T),$(LONG))

# ------------------------------------------------------- install, demo, bench

# Installed names carry P, for diff, merge and trace belong to others; bare
# names are links in a folder of their own. Pages speak of installed names.
PAGES	:= $(sort $(wildcard man/*.[157]))
OURS	= $(sort $(PROGS) $(SCRIPTS) $(basename $(notdir $(filter %.5,$(PAGES)))))

install: $(BINS)
	@set -e; d=$(DESTDIR)$(LIBEXECDIR)/quern; \
	mkdir -p $(DESTDIR)$(BINDIR) $$d; \
	for p in $(PROGS) $(SCRIPTS); do \
		case " $(SCRIPTS) " in *" $$p "*) s= ;; *) s=$(STRIP) ;; esac; \
		install $$s -m 755 $(BUILD)/bin/$$p $(DESTDIR)$(BINDIR)/$(P)$$p; \
		ln -sfr $(DESTDIR)$(BINDIR)/$(P)$$p $$d/$$p; \
	done; \
	for f in $(PAGES); do \
		n=$${f##*/}; s=$${n##*.}; d=$(DESTDIR)$(MANDIR)/man$$s; \
		mkdir -p $$d; \
		case $$n in quern*.7) ;; *) n=$(P)$$n ;; esac; \
		sh scripts/page "$(P)" $$f $(OURS) >$$d/$$n.tmp; \
		mv $$d/$$n.tmp $$d/$$n; \
	done
ifneq ($(P),)
	@set -e; mkdir -p $(DESTDIR)$(BASHDIR) $(DESTDIR)$(ZSHDIR) \
	    $(DESTDIR)$(FISHDIR); \
	for p in $(PROGS) $(SCRIPTS); do \
		n=$(P)$$p b=$(BUILD)/bin/$$p; \
		sh scripts/complete bash $$n $$b >$(DESTDIR)$(BASHDIR)/$$n; \
		sh scripts/complete zsh $$n $$b >$(DESTDIR)$(ZSHDIR)/_$$n; \
		sh scripts/complete fish $$n $$b >$(DESTDIR)$(FISHDIR)/$$n.fish; \
	done
endif

# What install put there; others' folders stay
uninstall:
	@for p in $(PROGS) $(SCRIPTS); do \
		n=$(P)$$p; \
		rm -f $(DESTDIR)$(BINDIR)/$$n $(DESTDIR)$(LIBEXECDIR)/quern/$$p; \
		[ -z "$(P)" ] || rm -f $(DESTDIR)$(BASHDIR)/$$n \
		    $(DESTDIR)$(ZSHDIR)/_$$n $(DESTDIR)$(FISHDIR)/$$n.fish; \
	done; \
	for f in $(PAGES); do \
		n=$${f##*/}; \
		case $$n in quern*.7) q=$$n ;; *) q=$(P)$$n ;; esac; \
		rm -f $(DESTDIR)$(MANDIR)/man$${n##*.}/$$q; \
	done; \
	if [ -d $(DESTDIR)$(LIBEXECDIR)/quern ]; then \
		rmdir $(DESTDIR)$(LIBEXECDIR)/quern; \
	fi

# SOURCE_DATE_EPOCH is the time of all files in it; see scripts/deb
deb: $(BINS)
	@sh scripts/deb $(BUILD) "$(MAKE)"

demo: $(FIRST) $(BINS)
	@B=$(CURDIR)/$(BUILD)/bin CC="$(CC)" sh scripts/demo $(BUILD)/demo

# ROUNDS=5 WORKLOADS="bzip2 lua" SECTIONS="pipeline": see scripts/bench
bench: $(FIRST) $(BINS) $(BUILD)/t/mkbbv $(BUILD)/t/evcount
	@B=$(CURDIR)/$(BUILD)/bin CC="$(CC)" bash scripts/bench \
	    $(if $(ROUNDS),-r $(ROUNDS)) $(if $(WORKLOADS),-w "$(WORKLOADS)") \
	    $(if $(SECTIONS),-s "$(SECTIONS)") $(BUILD)

# What a fuzzer finds worth keeping stays in build/fuzz; the corpus is small.
FUZZTIME = 60
fuzz: $(FUZZERS:%=build/fuzz/%)
	@for f in $(FUZZERS); do \
	    mkdir -p build/fuzz/found/$$f && \
	    build/fuzz/$$f -max_total_time=$(FUZZTIME) build/fuzz/found/$$f \
		t/fuzz/corpus/$${f#fuzz_} || exit 1; \
	done

clean:
	rm -rf build

.PHONY: all deps tests check check-long demo bench install uninstall deb fuzz \
	clean

-include $(shell find $(BUILD) -name '*.d' -type f 2>/dev/null)
