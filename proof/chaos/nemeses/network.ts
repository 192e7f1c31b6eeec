/** Network faults between the processes and a PostgreSQL server. */
import { setTimeout as sleep } from 'node:timers/promises'
import { nowMs } from '../../cluster/clock.ts'
import { BACK_MS, cannot, type Nemesis } from '../scene.ts'

const POSTGRES = ['postgres'] as const
const CUTS = 8

export const netCut: Nemesis = {
  name: 'net-cut',
  stores: POSTGRES,
  recoversWithinMs: BACK_MS,
  async strike({ postgres, chance, progressLog, outages }) {
    if (postgres === null) return cannot('there is no network', nowMs())
    const { proxy } = postgres
    const from = nowMs()
    let injected = 0
    for (let cuts = 0; cuts < CUTS; cuts += 1) {
      proxy.delay(chance.whole(0, 100))
      await sleep(chance.whole(50, 400))
      injected += proxy.cut()
    }
    proxy.mend()
    const overAt = nowMs()
    progressLog.say(`${injected} connections were cut, ${CUTS} times all, on a way of up to 100 ms`)
    outages.push({ from, to: overAt })
    return { injected, overAt }
  },
}

const HALF_MS = 1_500
const SILENT_MS = 3_000

export const netBlackhole: Nemesis = {
  name: 'net-blackhole',
  stores: POSTGRES,
  recoversWithinMs: BACK_MS,
  async strike({ postgres, chance, progressLog, outages }) {
    if (postgres === null) return cannot('there is no network', nowMs())
    const { proxy } = postgres
    const from = nowMs()
    const before = proxy.swallowed
    const halves = chance.isIt(0.5)
      ? (['to client', 'to server'] as const)
      : (['to server', 'to client'] as const)
    for (const direction of halves) {
      proxy.silence(direction)
      await sleep(HALF_MS)
      proxy.mend()
      await sleep(200)
    }
    proxy.silence('both')
    await sleep(SILENT_MS)
    proxy.mend()
    const overAt = nowMs()
    const injected = proxy.swallowed - before
    progressLog.say(`${injected} pieces were swallowed, in each direction alone and in both`)
    outages.push({ from, to: overAt })
    return { injected, overAt }
  },
}
