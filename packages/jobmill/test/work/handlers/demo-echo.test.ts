/** The demo job follows its payload. */
import { describe, expect, test } from 'vitest'
import { Dead, Throttled } from '../../../src/job/attempt/thrown.ts'
import { demoEcho } from '../../../src/work/handlers/demo-echo.ts'
import { aContext, failure, interruptible, run } from './context.ts'

test('it returns the value, or the payload if there is none, and logs one line', async () => {
  const context = aContext({ value: [1, 2] })
  expect(await demoEcho.run(context)).toEqual({ echo: [1, 2] })
  expect(context.lines).toHaveLength(1)
  expect(await run(demoEcho, { sleep: '1ms' })).toEqual({ echo: { sleep: '1ms' } })
  expect(await run(demoEcho, {})).toEqual({ echo: {} })
  expect(demoEcho.kind).toBe('demo.echo')
})

test('it fails on request, with a message or without', async () => {
  expect(await failure(run(demoEcho, { fail: 'no luck' }))).toEqual(new Error('no luck'))
  expect(await failure(run(demoEcho, { fail: true }))).toEqual(new Error('failed as requested'))
  expect(await run(demoEcho, { fail: false })).toEqual({ echo: { fail: false } })
})

test('it can fail only in its first attempts', async () => {
  const payload = { failTimes: 2, fail: 'not yet', value: 'at last' }
  expect(await failure(run(demoEcho, payload, { job: { attempt: 1 } }))).toEqual(new Error('not yet'))
  expect(await failure(run(demoEcho, payload, { job: { attempt: 2 } }))).toEqual(new Error('not yet'))
  expect(await run(demoEcho, payload, { job: { attempt: 3 } })).toEqual({ echo: 'at last' })
  expect(await failure(run(demoEcho, { failTimes: 1 }))).toEqual(new Error('failed as requested'))
})

test('it throws Throttled on request, with a time or without', async () => {
  const named = await failure(run(demoEcho, { throttle: '2s' }))
  expect(named).toBeInstanceOf(Throttled)
  expect(named).toMatchObject({ retryAfterMs: 2_000 })
  const unnamed = await failure(run(demoEcho, { throttle: true }))
  expect(unnamed).toBeInstanceOf(Throttled)
  expect(unnamed).toMatchObject({ retryAfterMs: null })
})

test('it throws Dead on request', async () => {
  const error = await failure(run(demoEcho, { dead: 'beyond help' }))
  expect(error).toBeInstanceOf(Dead)
  expect(error.message).toBe('beyond help')
})

test('a sleep ends when the signal fires, with its reason', async () => {
  const { signal, interrupt } = interruptible()
  const attempt = failure(
    // It sleeps after it has logged the line, and still sleeps in the next turn.
    run(demoEcho, { sleep: '1h' }, { signal, onLog: () => setImmediate(() => interrupt('cancelled')) }),
  )
  const error = await attempt
  expect(error).toBe(signal.reason)
})

describe('an invalid payload is dead at once, with a fix in the error', () => {
  test.for<[unknown, RegExp]>([
    [null, /^payload: .*Pass an object/],
    ['text', /^payload: .*Pass an object/],
    [{ slep: 1 }, /^payload\.slep: .*Did you mean "sleep"\?/],
    [{ sleep: 'soon' }, /^payload\.sleep: .*'90s'/],
    [{ sleep: -1 }, /^payload\.sleep: .*Pass 0 or more/],
    [{ fail: 1 }, /^payload\.fail: .*Pass true or a message/],
    [{ failTimes: 1.5 }, /^payload\.failTimes: .*whole number/],
    [{ throttle: false }, /^payload\.throttle: .*'90s'/],
    [{ throttle: '25h' }, /^payload\.throttle: .*at most 24h/],
    [{ dead: true }, /^payload\.dead: .*as a string/],
  ])('%j', async ([payload, message]) => {
    const error = await failure(run(demoEcho, payload))
    expect(error).toBeInstanceOf(Dead)
    expect(error.message).toMatch(message)
  })
})
