/**
 * `npm run chaos`: runs real processes on real stores, injects every kind of fault, and checks the
 * guarantees.
 */
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import path from 'node:path'
import { guard } from '../../test/support/programs/guardian.ts'
import { closers, interrupted } from '../closing.ts'
import { problemWith } from '../json-file.ts'
import { campaign } from './campaign.ts'
import { type Options, readOptions, USAGE } from './options.ts'
import { type Summary, summaryOf, tableOf } from './summary.ts'

async function main(options: Options): Promise<number> {
  const stop = new AbortController()
  const { add, close } = closers('chaos')
  const folder = mkdtempSync(path.join(tmpdir(), 'jobmill-chaos-'))
  // A server that must not run as root keeps its data below this folder.
  chmodSync(folder, 0o755)
  const guardian = guard(folder, path.join(folder, 'no-server'))
  add(() => guardian.release())
  console.log(`seed ${options.seed}`)
  const began = performance.now()
  /** The summary with the context of the run. */
  const withContext = (summary: Summary): object => ({
    ...summary,
    about: {
      at: new Date().toISOString(),
      seconds: Math.round((performance.now() - began) / 1_000),
      node: process.version,
      machine: `${process.platform} ${process.arch}, ${availableParallelism()} cores`,
      options,
    },
  })
  try {
    const work = campaign({ options, folder, signal: stop.signal, closing: add })
    const summary = summaryOf(options.seed, await Promise.race([work, interrupted(stop)]))
    console.log(`\n${tableOf(summary)}`)
    if (options.json !== undefined)
      writeFileSync(options.json, `${JSON.stringify(withContext(summary), null, 2)}\n`)
    return summary.violations === 0 ? 0 : 1
  } catch (error) {
    console.error(`chaos: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
    return stop.signal.aborted ? 130 : 1
  } finally {
    await close()
  }
}

function asked(): Options | null {
  try {
    return readOptions(process.argv.slice(2))
  } catch (error) {
    console.error(`chaos: ${(error as Error).message}`)
    process.exit(2)
  }
}

const options = asked()
const unwritable = problemWith(options?.json)
if (options === null) console.log(USAGE)
else if (unwritable !== null) {
  console.error(`chaos: ${unwritable}`)
  process.exitCode = 2
}
// Exit explicitly, because an interrupted run may still have pending work.
else process.exit(await main(options))
