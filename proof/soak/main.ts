/**
 * `npm run soak`: runs a mill on each store under a steady load with faults for half an hour. Fails if
 * memory, handles, listeners, rows or files grow, or if an acknowledged job has not ended.
 */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { guard } from '../../test/support/programs/guardian.ts'
import { closers, interrupted } from '../closing.ts'
import { HELP, type Options, readOptions } from './options.ts'
import { type Leak, leaksFrom } from './planted.ts'
import { report } from './verdict/report.ts'
import { soak } from './soak.ts'

interface Asked {
  readonly options: Options
  readonly leaks: readonly Leak[]
}

async function main({ options, leaks }: Asked): Promise<number> {
  const stop = new AbortController()
  const { add, close } = closers('soak')
  const folder = mkdtempSync(path.join(tmpdir(), 'jobmill-soak-'))
  // Removes the folder however this process ends, kill -9 included.
  const guardian = guard(folder, path.join(folder, 'no-server'))
  add(() => guardian.release())
  try {
    const { minutes, stores, json } = options
    const runs = stores.map((store) =>
      soak({ store, minutes, leaks, folder, signal: stop.signal, closing: add }),
    )
    const verdicts = await Promise.race([Promise.all(runs), interrupted(stop)])
    for (const verdict of verdicts) console.log(report(verdict))
    if (json !== null) writeFileSync(json, `${JSON.stringify(verdicts, null, 1)}\n`)
    return verdicts.every(({ broken }) => broken.length === 0) ? 0 : 1
  } catch (error) {
    console.error(`soak: ${error instanceof Error ? error.message : String(error)}`)
    return stop.signal.aborted ? 130 : 1
  } finally {
    stop.abort()
    await close()
  }
}

/** Null if help was requested. */
function asked(): Asked | null {
  try {
    const options = readOptions(process.argv.slice(2))
    return options === null ? null : { options, leaks: leaksFrom(process.env['JOBMILL_SOAK_LEAK']) }
  } catch (error) {
    console.error(`soak: ${(error as Error).message}`)
    process.exit(2)
  }
}

const wanted = asked()
if (wanted === null) console.log(HELP)
// Exit explicitly, because an interrupted proof may still have pending work.
else process.exit(await main(wanted))
