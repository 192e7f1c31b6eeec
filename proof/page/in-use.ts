/**
 * What a tab in use costs the server: the CPU time of its process with an open overview whose user is there,
 * less its CPU time without a tab, and the requests of the tab. A schedule enqueues a job every second, so
 * the page always has something to refresh.
 *
 *   node proof/page/in-use.ts [--seconds 60] [--jobs 10000]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { jobmill } from 'jobmill'
import { launch } from '../../packages/dashboard/test/support/chromium.ts'
import { storeAt } from '../cluster/places.ts'
import { fill } from './fill.ts'
import { report } from './scene/kinds.ts'
import { startServer, startWorker, stopAll } from './scene/processes.ts'

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '60' }, jobs: { type: 'string', default: '10000' } },
})
const seconds = Number(values.seconds)
const WARM_UP_MS = 5_000
/** Shorter than the time after which the page considers its user away. */
const SIGN_EVERY_MS = 10_000

const folder = mkdtempSync(path.join(tmpdir(), 'jobmill-in-use-'))
const place = { store: 'sqlite', at: path.join(folder, 'jobs.db') } as const
const store = await storeAt(place)
await fill(store, Number(values.jobs), () => undefined)
const mill = jobmill({ store, jobs: [], log: 'silent' })
await mill.open()
const fixed = path.join(folder, 'fixed')
const worker = await startWorker({ place, fixed, version: '2.14.0', label: 'shop-a' })
await mill.schedules.create({ name: 'every-second', job: report.kind, queue: 'reports', when: 'every 1s' })
const server = await startServer({ place })
const browser = await launch()
try {
  const cpuIn = async (each: () => Promise<unknown>, parts: number): Promise<number> => {
    const before = await server.cpuMs()
    for (let part = 0; part < parts; part += 1) await each()
    return (await server.cpuMs()) - before
  }
  const parts = Math.max(1, Math.round((seconds * 1_000) / SIGN_EVERY_MS))
  const length = (parts * SIGN_EVERY_MS) / 1_000
  const open = async () => {
    const page = await (await browser.newContext({ viewport: { width: 1_440, height: 900 } })).newPage()
    await page.goto(server.url)
    await page.getByRole('table', { name: 'Queues' }).waitFor()
    return page
  }
  // Compiles what a tab needs. Otherwise the first measurement would contain it.
  const first = await open()
  await cpuIn(() => sleep(SIGN_EVERY_MS), 2)
  await first.close()
  await sleep(WARM_UP_MS)
  const without = await cpuIn(() => sleep(SIGN_EVERY_MS), parts)
  const page = await open()
  const requests = new Map<string, number>()
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (pathname.startsWith('/api/')) requests.set(pathname, (requests.get(pathname) ?? 0) + 1)
  })
  await sleep(WARM_UP_MS)
  requests.clear()
  const withTab = await cpuIn(async () => {
    await page.keyboard.press('Shift')
    await sleep(SIGN_EVERY_MS)
  }, parts)
  const share = (ms: number): string => `${((ms / 1_000 / length) * 100).toFixed(2)}% of a core`
  console.log(`without a tab: ${(without / 1_000).toFixed(2)} s of CPU in ${length} s, ${share(without)}`)
  console.log(`with a tab in use: ${(withTab / 1_000).toFixed(2)} s of CPU, ${share(withTab)}`)
  console.log(`the tab: ${((withTab - without) / 1_000).toFixed(2)} s of CPU, ${share(withTab - without)}`)
  for (const [pathname, n] of [...requests].toSorted((a, b) => b[1] - a[1]))
    console.log(`  ${pathname}: ${((n / length) * 60).toFixed(0)} per minute`)
} finally {
  await browser.close()
  await server.stop()
  await stopAll([worker])
  await mill.stop()
  rmSync(folder, { recursive: true, force: true })
}
