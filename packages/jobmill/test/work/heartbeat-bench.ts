/** A heartbeat on a fake clock, with a database controlled by the test. */
import { onTestFinished } from 'vitest'
import type { Heartbeat } from '../../src/store/types/instance.ts'
import { testPlatform } from '../../src/testing/index.ts'
import { heartbeatService } from '../../src/work/heartbeat/heartbeat.ts'

export const CALM: Heartbeat = {
  alive: true,
  cancels: [],
  settingsVersion: 1,
  membersVersion: 1,
  leads: [],
  slots: [],
  ready: false,
  quarantined: false,
  stageInMs: null,
  budgetInMs: null,
  scheduleInMs: null,
  expired: false,
  unrolled: false,
  requested: null,
  requestedBy: null,
}

/** A lease of 10 s, renewed every 3 s, with a heartbeat every 600 ms. `idleEveryMs` adds an idle pace. */
export function heartbeatBench({ idleEveryMs }: { readonly idleEveryMs?: number } = {}) {
  const platform = testPlatform()
  const heartbeats: { readonly at: number; readonly renews: boolean }[] = []
  const calls: string[] = []
  const replies: Heartbeat[] = []
  const note = (what: string): void => void calls.push(`${what} at ${platform.monotonic()}`)
  const state = {
    answer: async (): Promise<Heartbeat> => CALM,
    register: async (): Promise<void> => {},
    isIdle: true,
  }
  const heartbeat = heartbeatService({
    renew({ renewEveryMs }) {
      heartbeats.push({ at: platform.monotonic(), renews: renewEveryMs === 0 })
      return state.answer()
    },
    async register() {
      note('register')
      await state.register()
    },
    queues: () => ['default'],
    duties: () => [],
    onHeartbeat: (one) => void replies.push(one),
    lost: () => note('lost'),
    renewed: () => {},
    back: () => note('back'),
    leaseMs: 10_000,
    renewEveryMs: 3_000,
    everyMs: 600,
    ...(idleEveryMs !== undefined && { idle: { everyMs: idleEveryMs, isIdle: () => state.isIdle } }),
    platform,
    failing: () => note('failing'),
    working: () => {},
  })
  onTestFinished(async () => {
    const stopped = heartbeat.stop()
    // A hanging heartbeat is awaited until its deadline.
    await platform.advance('10s')
    await stopped
  })
  const apart = (): number[] => heartbeats.slice(1).map(({ at }, n) => at - (heartbeats[n]?.at ?? 0))
  const events = (): string[] => calls.filter((one) => !one.startsWith('failing'))
  return { platform, heartbeats, calls, events, replies, state, heartbeat, apart }
}
