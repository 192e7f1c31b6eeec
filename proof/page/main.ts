/**
 * `npm run prove:page`: Mission Control with 1,000,000 jobs, on SQLite and PostgreSQL. Opens every view in
 * Chromium, and performs the tasks of an operator with their acts counted. Fails if the median of a page is
 * above a second, if a task does not reach its result, or if it needs more than the best rival.
 */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Browser } from 'playwright-core'
import { bulkJob, defineJob, jobmill, type Mill } from 'jobmill'
import { serve } from 'jobmill-server'
import { launch } from '../../packages/dashboard/test/support/chromium.ts'
import { guard } from '../../test/support/programs/guardian.ts'
import { startPostgres } from '../../test/support/postgres/postgres-server.ts'
import { type Place, storeAt } from '../cluster/places.ts'
import { type Closers, closers, interrupted } from '../closing.ts'
import { fill } from './fill.ts'
import { measure } from './measure.ts'
import { HELP, type Options, readOptions } from './options.ts'
import { perform, type TaskResult } from './perform.ts'
import { isProved, pageLine, report, type StoreResults, taskLine } from './report.ts'
import { setScene } from './scene/scene.ts'
import { TASKS } from './tasks/all.ts'

interface Given {
  readonly options: Options
  readonly place: Place
  readonly folder: string
  readonly browser: Browser
  readonly closers: Closers
}

async function prove({ options, place, folder, browser, closers: all }: Given): Promise<StoreResults> {
  const name = place.store
  const { jobs, rounds, tasks: only } = options
  const store = await storeAt(place)
  console.log(`${name}: writing ${jobs.toLocaleString('en')} jobs`)
  const filled = await fill(store, jobs, (done) => console.log(`  ${done.toLocaleString('en')}`))
  const mill: Mill<never> = jobmill({
    store,
    jobs: [defineJob({ kind: 'works', run: () => null }), bulkJob(() => mill)],
    instance: { label: 'mission-control' },
    log: 'silent',
  })
  all.add(() => mill.stop())
  await mill.start()
  const { url, close } = await serve(mill, { port: 0 })
  all.add(close)
  const pages = only === null ? await measure(browser, url, rounds) : []
  for (const page of pages) console.log(pageLine(name, page))

  console.log(`${name}: setting the scene`)
  const scene = await setScene({ mill, url, place, folder, closers: all, filled })
  const tasks: TaskResult[] = []
  for (const task of TASKS.filter(({ id }) => only?.includes(id) ?? true)) {
    const result = await perform(task, scene, browser)
    console.log(taskLine(name, result))
    tasks.push(result)
  }
  return { store: name, pages, tasks }
}

async function proveAll(options: Options, all: Closers): Promise<boolean> {
  const folder = mkdtempSync(path.join(tmpdir(), 'jobmill-page-'))
  // Removes the folder however this process ends, kill -9 included.
  const guardian = guard(folder, path.join(folder, 'no-server'))
  all.add(() => guardian.release())
  const browser = await launch()
  all.add(() => browser.close())
  const results: StoreResults[] = []
  for (const store of options.stores) {
    // Closed before the next store, whose times it would change.
    const own = closers('page')
    all.add(own.close)
    const place = { store, at: await locationOf(store, folder, own) }
    results.push(await prove({ options, place, folder, browser, closers: own }))
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
