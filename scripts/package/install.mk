# What is installed where: the executable, its man pages and completions, the helper of mount(8), systemd units, documents
# and schemas. Read by the Makefile; DESTDIR and PREFIX as everywhere. A list of what was installed makes `uninstall` exact.

BINARY ?= $(RELEASE_BINARY)
MANDIR := $(PREFIX)/share/man
# mount(8) looks for its helpers in /sbin and nowhere else; a PREFIX of one's own gets nothing outside of it.
HELPERDIR ?= $(if $(filter /usr /usr/local,$(PREFIX)),/sbin,$(PREFIX)/sbin)
UNITDIR ?= $(PREFIX)/lib/systemd
DOCDIR := $(PREFIX)/share/doc/dataless
PACKAGING := scripts/package
STAGED := .build/staged

.PHONY: man
man: release ## man pages of all commands and formats, in .build/man
	@scripts/bootstrap --package
	@scripts/man --dataless $(BINARY) .build/man

# What is made of templates, or by the executable itself.
.PHONY: stage
stage: man
	@rm -rf $(STAGED) && mkdir -p $(STAGED)
	@$(BINARY) --generate-completion-script bash | sed 1d > $(STAGED)/dataless.bash
	@$(BINARY) --generate-completion-script zsh > $(STAGED)/_dataless
	@$(BINARY) --generate-completion-script fish > $(STAGED)/dataless.fish
	@for name in mount.dataless systemd/dataless@.service systemd/user/dataless@.service; do \
	  mkdir -p "$(STAGED)/$$(dirname "$$name")"; \
	  sed 's|@PREFIX@|$(PREFIX)|g' "$(PACKAGING)/$$name" > "$(STAGED)/$$name"; \
	done

# What goes where: mode, file, place.
define INSTALLED
0755 $(BINARY) $(PREFIX)/bin/dataless
0755 $(STAGED)/mount.dataless $(HELPERDIR)/mount.dataless
0644 $(PACKAGING)/mount.dataless.8 $(MANDIR)/man8/mount.dataless.8
0644 Sources/Shell/dataless-testlib.sh $(PREFIX)/share/dataless/dataless-testlib.sh
0644 $(STAGED)/dataless.bash $(PREFIX)/share/bash-completion/completions/dataless
0644 $(STAGED)/_dataless $(PREFIX)/share/zsh/vendor-completions/_dataless
0644 $(STAGED)/dataless.fish $(PREFIX)/share/fish/vendor_completions.d/dataless.fish
0644 $(STAGED)/systemd/dataless@.service $(UNITDIR)/system/dataless@.service
0644 $(STAGED)/systemd/user/dataless@.service $(UNITDIR)/user/dataless@.service
endef
export INSTALLED

# As install-libcdataless has it.
define INSTALLED_LIBRARY
0644 $(LIBRARY_DIR)/libcdataless.a $(LIBDIR)/libcdataless.a
0755 $(LIBRARY_DIR)/libcdataless.so.$(LIBRARY_VERSION) $(LIBDIR)/libcdataless.so.$(LIBRARY_VERSION)
link libcdataless.so.$(LIBRARY_VERSION) $(LIBDIR)/libcdataless.so.1
link libcdataless.so.1 $(LIBDIR)/libcdataless.so
0644 $(LIBRARY_DIR)/cdataless.pc $(LIBDIR)/pkgconfig/cdataless.pc
0644 Sources/CDataless/include/cdataless.h $(PREFIX)/include/cdataless.h
endef
export INSTALLED_LIBRARY

# They link to each other: each lies below DOCDIR as it does here.
DOCUMENTS := README.md CHANGELOG.md LICENSE docs/*.md docs/*.yaml docs/*.json docs/*.html docs/schemas/*

.PHONY: install
install: stage libcdataless ## install everything under PREFIX (/usr/local); the helper of mount(8) in /sbin
	@{ printf '%s\n' "$$INSTALLED"; \
	   for page in .build/man/*.[15]; do echo "0644 $$page $(MANDIR)/man$${page##*.}/$${page##*/}"; done; \
	   for page in $(DOCUMENTS); do echo "0644 $$page $(DOCDIR)/$$page"; done; \
	   printf '%s\n' "$$INSTALLED_LIBRARY"; \
	   for page in Sources/CDataless/man/*.3; do echo "0644 $$page $(PREFIX)/share/man/man3/$${page##*/}"; done; \
	 } | $(PACKAGING)/install "$(DESTDIR)" "$(PREFIX)/share/dataless/installed"
	@$(PACKAGING)/loader "$(DESTDIR)"
	@echo "$(DESTDIR)$(PREFIX)/bin/dataless"

.PHONY: uninstall
uninstall: ## take away what `make install` has installed under PREFIX, and nothing else
	@$(PACKAGING)/uninstall "$(DESTDIR)" "$(PREFIX)/share/dataless/installed"
