#!/usr/bin/env -S node --max-semi-space-size=2
// A file of its own, and not the compiled one: npm links it before anything was compiled.
import '../dist/cli/main.js'
