# Everything starts here: `make scan` for a first report, `make test` for the whole test suite.

PYTHON ?= python3
ROOT ?=
JOBS ?= 2

VENV := .venv
PY := $(VENV)/bin/python
DEMO := .cache/trees/demo
DEMO_WHEELS := flashinfer-python==0.6.3 sglang==0.5.8.post1
# As an installation does it that is not editable: without it, every start of the program takes twice as long
# where Python may not write beside its sources.
COMPILE := @env -u PYTHONDONTWRITEBYTECODE $(PY) -m compileall -q analyzer
PIP := $(PY) -m pip --disable-pip-version-check --quiet

TOOLKIT := .cache/cuda
TOOLKIT_WHEELS := nvidia-cuda-nvcc==13.0.* nvidia-nvvm==13.0.* nvidia-cuda-crt==13.0.* nvidia-cuda-runtime==13.0.* \
    nvidia-cuda-cccl==13.0.* nvidia-cuda-cuobjdump \
    apache-tvm-ffi

.PHONY: scan test cases cases-fixed cases-binary toolkit oracle lint types layers bench clean browser

scan: $(VENV)/.installed $(if $(ROOT),,$(DEMO))
	@mkdir -p out
	$(VENV)/bin/smgate scan $(or $(ROOT),$(DEMO)) --report html=out/report.html
	@echo "The whole report: out/report.html"

test: $(VENV)/.installed-test $(DEMO) browser
	$(PY) -m pytest --numprocesses $(JOBS) $(ARGS)

# Some 40 releases, 5 to 40 MB each, are fetched once; each takes about half a minute.
cases: $(VENV)/.installed-test cases-binary
	$(PY) -m tests.cases.runner --jobs $(JOBS) $(ARGS)

# Eight releases with many records, Python stage only: what CI measures.
# The floor is what is reached: raise it with what is mended.
cases-fixed: $(VENV)/.installed-test
	$(PY) -m tests.cases.runner --jobs $(JOBS) --fixed --least 90

# Two wheels of 370 and 535 MB, held against cuobjdump.
cases-binary: $(VENV)/.installed-test $(TOOLKIT)
	$(PY) -m tests.cases.libraries

# Every line of a release that survives the preprocessor, against gcc under nvcc's macros.
RELEASE ?= flashinfer-python==0.6.4
oracle: $(VENV)/.installed-test $(TOOLKIT)
	$(PY) -m tests.oracle.lines $(RELEASE) --jobs $(JOBS) $(ARGS)

# nvcc, ptxas and cuobjdump for the tests that ask them; without it these say that they are skipped.
toolkit: $(TOOLKIT)

$(TOOLKIT): | $(PY)
	@rm -rf $@.part
	$(PIP) install --no-deps --only-binary=:all: --target $@.part $(TOOLKIT_WHEELS)
	@mv $@.part $@

lint: $(VENV)/.installed-test
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

types: $(VENV)/.installed-test
	$(VENV)/bin/mypy

layers: $(VENV)/.installed-test
	$(VENV)/bin/lint-imports

bench: $(VENV)/.installed-test $(DEMO) $(TOOLKIT)
	$(PY) -m bench.preprocess $(DEMO)
	$(PY) -m bench.scan --semgrep .cache/semgrep $(or $(BENCH),$(DEMO))

clean:
	rm -rf out build dist $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || { echo "smgate needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(PY)
	$(PIP) install --editable .
	$(COMPILE)
	@touch $@

$(VENV)/.installed-test: pyproject.toml | $(PY)
	$(PIP) install --editable '.[test,lint]'
	$(COMPILE)
	@touch $@ $(VENV)/.installed

# Complete or absent: unpacked beside, then moved into place.
$(DEMO): | $(PY)
	@mkdir -p .cache/wheels .cache/trees
	$(PIP) download --no-deps --only-binary=:all: --dest .cache/wheels $(DEMO_WHEELS)
	@rm -rf $(DEMO).part
	@for wheel in .cache/wheels/flashinfer_python-0.6.3-*.whl .cache/wheels/sglang-0.5.8.post1-*.whl; do \
	    $(PY) -m zipfile -e $$wheel $(DEMO).part || exit 1; done
	@mv $(DEMO).part $(DEMO)

# The HTML report is tested in a real browser; without one those tests say that they are skipped.
browser:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || test -n "$$CHROMIUM" \
	    || test "$$(id -u)" != 0 || ! command -v apt-get >/dev/null \
	    || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; } \
	    || echo "no browser: the tests of the HTML report in a browser will be skipped" >&2
