/**
 * What an idle tab costs the server: the CPU time of its process with an open overview, less its CPU time
 * without a tab. Workers are busy, so the page has something to refresh.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser } from 'playwright-core'
import type { Server } from './scene/processes.ts'

/** Shares of a core. */
export interface IdleCost {
  readonly seconds: number
  readonly withoutTab: number
  readonly withTab: number
  readonly ofTab: number
}

/** The first requests load everything. They are not part of the cost. */
const WARM_UP_MS = 3_000
/** After this time, the page considers its user away. */
const AWAY = '01:00'
/** Short, because without a tab the load of the process is constant. */
const BASELINE_SECONDS = 10

export async function measureIdle(browser: Browser, server: Server, seconds: number): Promise<IdleCost> {
  const share = async (forSeconds: number): Promise<number> => {
    const [cpu, clock] = [await server.cpuMs(), performance.now()]
    await sleep(forSeconds * 1_000)
    return ((await server.cpuMs()) - cpu) / (performance.now() - clock)
  }
  const withoutTab = await share(BASELINE_SECONDS)
  const context = await browser.newContext({ viewport: { width: 1_440, height: 900 } })
  const page = await context.newPage()
  let requests = 0
  page.on('request', (request) => {
    requests += Number(request.url().includes('/api/'))
  })
  await page.clock.install()
  await page.goto(server.url)
  await page.getByRole('table', { name: 'Queues' }).waitFor()
  await page.clock.fastForward(AWAY)
  await sleep(WARM_UP_MS)
  const before = requests
  const withTab = await share(seconds)
  await context.close()
  if (requests === before) throw new Error('the idle tab asked for nothing: its cost was not measured')
  return { seconds, withoutTab, withTab, ofTab: withTab - withoutTab }
}
