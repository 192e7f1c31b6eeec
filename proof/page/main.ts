/**
 * `npm run prove:page`: Mission Control with 1,000,000 jobs, on SQLite and PostgreSQL. Opens every view in
 * Chromium and acts as an operator. Prints the time from click to result, and fails if a median is above a
 * second.
 *
 *   npm run prove:page -- [--jobs 1000000] [--rounds 3]
 */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import type { Browser } from 'playwright-core'
import { bulkJob, defineJob, jobmill, type Mill, type FullStore } from 'jobmill'
import { serve } from 'jobmill-server'
import { postgres } from 'jobmill/postgres'
import { sqlite } from 'jobmill/sqlite'
import { launch } from '../../packages/dashboard/test/support/chromium.ts'
import { guard } from '../../test/support/programs/guardian.ts'
import { startPostgres } from '../../test/support/postgres/postgres-server.ts'
import { type Closers, closers, interrupted } from '../closing.ts'
import { fill } from './fill.ts'
import { LOOKS } from './looks.ts'

const { values } = parseArgs({
  options: { jobs: { type: 'string', default: '1000000' }, rounds: { type: 'string', default: '3' } },
})
const JOBS = Number(values.jobs)
const ROUNDS = Number(values.rounds)
const MOST_MS = 1_000

/** Each in a new tab of a warm browser; the median of the rounds, and the slowest. */
async function lookAround(browser: Browser, url: string): Promise<Record<string, number[]>> {
  const times: Record<string, number[]> = {}
  for (let round = 0; round < ROUNDS; round += 1) {
    const context = await browser.newContext({ viewport: { width: 1_280, height: 900 } })
    for (const { name, look } of LOOKS) {
      const page = await context.newPage()
      const began = performance.now()
      const usable = await look(page, url, () => performance.now())
      ;(times[name] ??= []).push(usable.at - (usable.from ?? began))
      await page.close()
    }
    await context.close()
  }
  return times
}

async function prove(
  name: string,
  store: FullStore<never>,
  browser: Browser,
  { add }: Closers,
): Promise<boolean> {
  console.log(`${name}: writing ${JOBS.toLocaleString('en')} jobs`)
  await fill(store, JOBS, (done) => console.log(`  ${done.toLocaleString('en')}`))
  const mill: Mill<never> = jobmill({
    store,
    jobs: [defineJob({ kind: 'works', run: () => null }), bulkJob(() => mill)],
    log: 'silent',
  })
  add(() => mill.stop())
  await mill.start()
  const served = await serve(mill, { port: 0 })
  add(() => served.close())
  const times = await lookAround(browser, served.url)
  let isQuick = true
  for (const [what, ms] of Object.entries(times)) {
    const sorted = ms.toSorted((a, b) => a - b)
    const median = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
    isQuick &&= median <= MOST_MS
    const slowest = sorted.at(-1) ?? Number.NaN
    console.log(
      `${name.padEnd(9)} ${what.padEnd(44)} ${median.toFixed(0).padStart(6)} ms   slowest ${slowest.toFixed(0)} ms${median > MOST_MS ? '   TOO SLOW' : ''}`,
    )
  }
  return isQuick
}

const all = closers('page')
const folder = mkdtempSync(path.join(tmpdir(), 'jobmill-page-'))
// Removes the folder however this process ends, kill -9 included.
const guardian = guard(folder, path.join(folder, 'no-server'))
all.add(() => guardian.release())
async function proveBoth(): Promise<boolean> {
  const server = await startPostgres({ binaries: 'current' })
  all.add(() => server.stop())
  const browser = await launch()
  all.add(() => browser.close())
  const onFile = await prove('sqlite', sqlite(path.join(folder, 'jobs.db')), browser, all)
  const onServer = await prove('postgres', postgres(server.url), browser, all)
  return onFile && onServer
}
try {
  const isQuick = await Promise.race([proveBoth(), interrupted(new AbortController())])
  process.exitCode = isQuick ? 0 : 1
} catch (error) {
  console.error(`page: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
} finally {
  await all.close()
}
process.exit()
