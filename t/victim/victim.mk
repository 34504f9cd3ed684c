# Victims: small self-checking programs that the engine is tried on.
# One program per source in t/victim; a source's head may add "build: FLAGS".
# exact-*.S have no libc; each is built twice, static and as a static PIE.

V = $(BUILD)/t/victim
VWARN = -Wall -Wextra -Wno-infinite-recursion \
	$(if $(findstring clang,$(CC)),-Wno-unknown-attributes \
	    -Wno-unused-command-line-argument,-Wno-clobbered)
VCFLAGS = -O1 -g -std=gnu11 -D_GNU_SOURCE $(VWARN) -mno-red-zone -pthread
VCXXFLAGS = -O1 -g -Wall -Wextra -Wno-clobbered -Wno-infinite-recursion -mno-red-zone -pthread
VFLAGS = $$(sed -n '2,30s/^[ *\#]*build: //p' $<) -DVICTIM='"$(@F)"'

VSRC = $(wildcard t/victim/*.c t/victim/*.cc t/victim/*.S)
VPROGS = $(patsubst t/victim/%,$(V)/%,$(basename $(VSRC))) \
	$(patsubst t/victim/%.S,$(V)/%-pie,$(wildcard t/victim/exact-*.S)) \
	$(V)/plug-1.so $(V)/plug-2.so

$(V)/%: t/victim/%.c t/victim/victim.h t/victim/forms.h $(wildcard t/victim/asm/*)
	@mkdir -p $(@D)
	$(call short,CC)$(CC) $(VCFLAGS) -o $@ $< $(VFLAGS)

$(V)/%: t/victim/%.cc t/victim/victim.h
	@mkdir -p $(@D)
	$(call short,CXX)$(CXX) $(VCXXFLAGS) -o $@ $< $(VFLAGS)

$(V)/exact-%: t/victim/exact-%.S $(wildcard t/victim/asm/*)
	@mkdir -p $(@D)
	$(call short,CC)$(CC) -static -nostdlib -g -o $@ $< $(VFLAGS)

$(V)/exact-%-pie: t/victim/exact-%.S $(wildcard t/victim/asm/*)
	@mkdir -p $(@D)
	$(call short,CC)$(CC) -static-pie -nostdlib -g -o $@ $< $(VFLAGS)

$(V)/plug-%.so: t/victim/plug/plug.c
	@mkdir -p $(@D)
	$(call short,CC)$(CC) $(VCFLAGS) -shared -fPIC -DBASE=$*000 -o $@ $<
