// The context of an attempt: it can be destructured and spread, and its signal is created at the first read.
import { describe, expect, test, vi } from 'vitest'
import type { JobContext } from '../../src/job/context.ts'
import type { Step } from '../../src/job/step/step.ts'
import { testPlatform } from '../../src/testing/index.ts'
import { interrupt } from '../../src/work/attempt.ts'
import { makeContext } from '../../src/work/make-context.ts'
import { anAttempt } from './leases.ts'

function bench() {
  const attempt = anAttempt({ metadata: '{"traceId":"t"}' })
  const changed = vi.fn<() => void>()
  const context = makeContext(
    attempt,
    { n: 1 },
    {
      platform: testPlatform(),
      instance: { id: 'i', label: null },
      context: { db: 'here' },
      changed,
      forwardLog: null,
      enqueueFor: () => ({ enqueue: vi.fn<never>(), enqueueMany: vi.fn<never>() }),
      limitFor: () => ({ acquire: vi.fn<never>(), tryAcquire: vi.fn<never>(), drain: vi.fn<never>() }),
      previousError: async () => null,
      complete: async () => {},
      stepFor: () => STEP,
    },
  )
  return { attempt, changed, context }
}

const STEP: Step = {
  run: vi.fn<never>(),
  sleep: vi.fn<never>(),
  sleepUntil: vi.fn<never>(),
  waitForEvent: vi.fn<never>(),
  child: vi.fn<never>(),
  children: vi.fn<never>(),
  transaction: vi.fn<never>(),
}

const KEYS = [
  'payload',
  'context',
  'previousError',
  'job',
  'attempt',
  'signal',
  'progress',
  'log',
  'now',
  'instance',
  'enqueue',
  'enqueueMany',
  'step',
  'limit',
  'snooze',
  'complete',
] as const satisfies readonly (keyof JobContext)[]

describe('the context of an attempt', () => {
  test('has everything as own properties, also when spread', () => {
    const { context } = bench()
    expect(Object.keys(context).toSorted()).toEqual([...KEYS].toSorted())
    const copy = { ...context, more: 1 }
    expect(KEYS.filter((key) => copy[key] !== context[key])).toEqual([])
    expect(copy.signal).toBeInstanceOf(AbortSignal)
  })

  test('works when destructured', () => {
    const { attempt, changed, context } = bench()
    const { payload, job, progress, log } = context
    expect([payload, job.metadata]).toEqual([{ n: 1 }, { traceId: 't' }])
    progress(5)
    log.warn('a warning')
    log('a line', { n: 1 })
    expect(attempt.progress).toBe('5')
    expect(attempt.log.text()?.split('\n')).toHaveLength(2)
    expect(changed).toHaveBeenCalledTimes(3)
  })

  test('has one signal, which fires when the attempt is interrupted', () => {
    const { attempt, context } = bench()
    const { signal } = context
    expect(signal.aborted).toBe(false)
    expect(interrupt(attempt, 'timeout', 5)).toBe(true)
    expect(signal.reason).toBe(attempt.interruption)
    expect(context.signal).toBe(signal)
  })

  test('has a fired signal if it is first read after the interruption', () => {
    const { attempt, context } = bench()
    interrupt(attempt, 'cancelled', 5, { detail: 'enough' })
    expect(interrupt(attempt, 'shutdown', 6)).toBe(false)
    expect(context.signal.aborted).toBe(true)
    expect(context.signal.reason).toMatchObject({ why: 'cancelled', message: 'enough' })
  })

  test('accepts another signal, and works behind a proxy or as a prototype', () => {
    const { context } = bench()
    expect(new Proxy(context, {}).signal).toBe(context.signal)
    expect((Object.create(context) as JobContext).signal).toBe(context.signal)
    const { signal } = new AbortController()
    Object.assign(context, { signal })
    expect(context.signal).toBe(signal)
  })
})
