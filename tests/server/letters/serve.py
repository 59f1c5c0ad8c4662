"""Serves a model of a file as OpenAI's chat completions at a free port of the loopback, and prints the address."""

import sys
import time

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx = 4096
params.n_parallel = 1
# One thread: two beside other work make it many times slower.
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.warmup = False
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
time.sleep(3600)
