#!/usr/bin/env node
/** The process of the command line. */
import { endWith, standardLines } from 'jobmill/cli'
import { run } from './run.ts'

await endWith(await run(process.argv.slice(2), { ...standardLines, env: process.env }))
