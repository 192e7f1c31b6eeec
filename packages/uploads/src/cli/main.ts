#!/usr/bin/env node
/** The entry point of the command line. */
import { endWith, standardLines } from 'jobmill/cli'
import { run } from './run.ts'

await endWith(await run(process.argv.slice(2), { ...standardLines, env: process.env }))
