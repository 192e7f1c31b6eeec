/**
 * `npm run start:cluster`: three worker processes on one database under a steady stream of jobs, while a process is killed with -9 and the database is
 * restarted. At the end it compares what was acknowledged with what was run, and fails with a sentence for each promise that was broken.
 */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { guard } from '../../test/support/guardian.ts'
import { type Lie, liesFrom } from './lies.ts'
import { HELP, type Options, readOptions } from './options.ts'
import { prove } from './prove.ts'

type Close = () => Promise<unknown>

/** What was begun is ended in the opposite order, whatever became of it. */
function closers(): { readonly add: (close: Close) => void; readonly close: Close } {
  const all: Close[] = []
  return {
    add: (close) => void all.push(close),
    async close() {
      for (const close of all.splice(0).toReversed())
        await close().catch((error: unknown) => console.error(`start:cluster: ${String(error)}`))
    },
  }
}

/** Rejects when the user wants no more. A second time ends the process at once: what it leaves is cleaned up by others. */
function interrupted(stop: AbortController): Promise<never> {
  return new Promise((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.on(signal, () => {
        if (stop.signal.aborted) process.exit(130)
        stop.abort()
        reject(new Error(`stopped by ${signal}`))
      })
  })
}

async function main({ options, lies }: Asked): Promise<number> {
  const stop = new AbortController()
  const { add, close } = closers()
  const folder = mkdtempSync(path.join(tmpdir(), 'jobmill-cluster-'))
  // Removes the folder however this process ends, kill -9 included.
  const guardian = guard(folder, path.join(folder, 'no-server'))
  add(() => guardian.release())
  try {
    const proof = prove({ options, lies, folder, signal: stop.signal, closing: add })
    return await Promise.race([proof, interrupted(stop)])
  } catch (error) {
    console.error(`start:cluster: ${error instanceof Error ? error.message : String(error)}`)
    return stop.signal.aborted ? 130 : 1
  } finally {
    await close()
  }
}

interface Asked {
  readonly options: Options
  readonly lies: readonly Lie[]
}

/** Null when help was asked for. */
function asked(): Asked | null {
  try {
    const options = readOptions(process.argv.slice(2))
    return options === null ? null : { options, lies: liesFrom(process.env['JOBMILL_CLUSTER_LIE']) }
  } catch (error) {
    console.error(`start:cluster: ${(error as Error).message}`)
    process.exit(2)
  }
}

const wanted = asked()
if (wanted === null) console.log(HELP)
// By exit: a proof that was stopped midway may still wait for something.
else process.exit(await main(wanted))
