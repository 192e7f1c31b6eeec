#!/usr/bin/env node
// A file of its own, and not the compiled one: npm links it before anything was compiled.
import '../dist/cli/main.js'
