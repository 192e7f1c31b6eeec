// The durations in events: queue latency, run time and total.
import { describe, expect, test } from 'vitest'
import { JobmillError } from '../../src/job/errors.ts'
import type { EventTable, EventType } from '../../src/job/events.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../src/job/queue/queue-settings.ts'
import { Dead, Snooze, Throttled } from '../../src/job/attempt/thrown.ts'
import { attempts } from '../../src/work/attempts.ts'
import { interrupt } from '../../src/work/attempt.ts'
import type { Finisher } from '../../src/work/outcome/finisher.ts'
import { attemptRunner } from '../../src/work/run-attempt.ts'
import { runJob, type RunJobTools } from '../../src/work/run-job.ts'
import { aLease, microtasks } from '../work/leases.ts'
import { aClock } from './bench.ts'

type EmittedEvent = readonly [EventType, Readonly<Record<string, unknown>>]

/** Runs one job whose handler takes 30 ms and whose outcome is written 5 ms later. */
async function run(
  handler: () => unknown,
  why?: 'cancelled' | 'shutdown' | 'timeout',
): Promise<EmittedEvent[]> {
  const clock = aClock()
  const events: EmittedEvent[] = []
  const live = attempts({ ended() {}, settled() {} })
  const write: Finisher['put'] = (item, done) => {
    clock.advance(5)
    done(
      {
        id: item.id,
        accepted: true,
        state: item.transition.to === 'parked' ? 'scheduled' : item.transition.to,
        followUps: [],
      },
      item,
    )
  }
  const tools = {
    platform: clock,
    middleware: [],
    contextFor: () => ({}),
    attempts: live,
    runAttempt: attemptRunner('me'),
    handler: () => ({
      kind: 'work',
      followsDeaths: false,
      run() {
        clock.advance(30)
        for (const attempt of live.live) if (why !== undefined) interrupt(attempt, why, clock.monotonic())
        return handler()
      },
    }),
    settings: () => DEFAULT_QUEUE_SETTINGS,
    finish: write,
    finishAfterTx: write,
    emit: <T extends EventType>(type: T, event: EventTable[T]) => void events.push([type, { ...event }]),
    cancelReason: async () => 'because',
    freed() {},
    written() {},
    failing: (error: unknown) => events.push(['store-failing', { error }]),
  } as unknown as RunJobTools
  runJob(aLease({ enqueuedAt: 1_000, readyAt: 4_000 }), tools, 250, clock.monotonic())
  await microtasks(10)
  return events
}

const failing = (error: unknown) => () => {
  throw error
}

describe('the times of events', () => {
  test('`started` has the waiting time, `finished` the run time and the time since the enqueue', async () => {
    const [first, second, ...more] = await run(() => null)
    expect(first).toMatchObject(['started', { waitedMs: 250 }])
    expect(second).toMatchObject(['finished', { ranMs: 30, totalMs: 3_000 + 250 + 30 + 5 }])
    expect(more).toEqual([])
  })

  test.each([
    ['retried', failing(new Error('x')), undefined],
    ['snoozed', failing(new Snooze('1m')), undefined],
    ['throttled', failing(new Throttled()), undefined],
    ['dead', failing(new Dead('x')), undefined],
    ['cancelled', failing(new Error('x')), 'cancelled'],
    ['interrupted', failing(new JobmillError('STORE_CLOSED', 'x')), 'shutdown'],
    ['timed-out', failing(new Error('x')), 'timeout'],
  ] as const)('`%s` has the run time', async (type, handler, why) => {
    const events = await run(handler, why)
    expect(events.find(([one]) => one === type)?.[1]).toMatchObject({ ranMs: 30 })
  })
})
