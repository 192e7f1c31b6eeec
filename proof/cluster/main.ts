/**
 * `npm run start:cluster`: three worker processes on one database under a steady stream of jobs. One process
 * is killed with -9, and the database is restarted. At the end it compares acknowledged and executed jobs,
 * and fails with a sentence for each violated guarantee.
 */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { guard } from '../../test/support/programs/guardian.ts'
import { closers, interrupted } from '../closing.ts'
import { type Lie, liesFrom } from './lies.ts'
import { HELP, type Options, readOptions } from './options.ts'
import { prove } from './prove.ts'

async function main({ options, lies }: Asked): Promise<number> {
  const stop = new AbortController()
  const { add, close } = closers('start:cluster')
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

/** Null if help was requested. */
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
// Exit explicitly, because an interrupted proof may still have pending work.
else process.exit(await main(wanted))
