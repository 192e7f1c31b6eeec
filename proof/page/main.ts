/**
 * `npm run prove:page`: Mission Control with 1,000,000 jobs, on SQLite and PostgreSQL. Opens every view in
 * Chromium, measures what an idle tab costs, and performs the tasks of an operator with their acts counted.
 */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { launch } from '../../packages/dashboard/test/support/chromium.ts'
import { startPostgres } from '../../test/support/postgres/postgres-server.ts'
import { guard } from '../../test/support/programs/guardian.ts'
import { type Closers, closers, interrupted } from '../closing.ts'
import type { Place } from '../cluster/places.ts'
import { HELP, type Options, readOptions } from './options.ts'
import { proveStore } from './prove-store.ts'
import { isProved, report, type StoreResults } from './report.ts'

async function proveAll(options: Options, all: Closers): Promise<boolean> {
  const folder = mkdtempSync(path.join(tmpdir(), 'jobmill-page-'))
  // Removes the folder however this process ends, kill -9 included.
  const guardian = guard(folder, path.join(folder, 'no-server'))
  all.add(() => guardian.release())
  const browser = await launch()
  all.add(() => browser.close())
  const results: StoreResults[] = []
  for (const store of options.stores) {
    // Closed before the next store starts, because it would slow that down.
    const own = closers('page')
    all.add(own.close)
    const place = { store, at: await locationOf(store, folder, own) }
    results.push(await proveStore({ options, place, folder, browser, closers: own }))
    await own.close()
  }
  console.log(report(results))
  if (options.json !== null)
    writeFileSync(options.json, `${JSON.stringify({ jobs: options.jobs, results }, null, 1)}\n`)
  return results.every(isProved)
}

async function locationOf(store: Place['store'], folder: string, { add }: Closers): Promise<string> {
  if (store === 'sqlite') return path.join(folder, 'jobs.db')
  const server = await startPostgres({ binaries: 'current' })
  add(() => server.stop())
  return server.url
}

async function main(options: Options): Promise<number> {
  const all = closers('page')
  const stop = new AbortController()
  try {
    return (await Promise.race([proveAll(options, all), interrupted(stop)])) ? 0 : 1
  } catch (error) {
    console.error(`page: ${error instanceof Error ? error.message : String(error)}`)
    return stop.signal.aborted ? 130 : 1
  } finally {
    await all.close()
  }
}

/** Null if help was requested. */
function asked(): Options | null {
  try {
    return readOptions(process.argv.slice(2))
  } catch (error) {
    console.error(`page: ${(error as Error).message}`)
    process.exit(2)
  }
}

const wanted = asked()
if (wanted === null) console.log(HELP)
// Exit explicitly, because an interrupted proof may still have pending work.
else process.exit(await main(wanted))
