#!/usr/bin/env node
/** The process of the command line. */
import { run } from './run.ts'

process.exit(
  await run(process.argv.slice(2), {
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
    env: process.env,
  }),
)
