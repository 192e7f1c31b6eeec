// Assertions on what was enqueued, and what they say when they fail.
import { AssertionError } from 'node:assert'
import { z } from 'zod'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { defineJob } from '../../src/index.ts'
import { expectEnqueued, expectNothingEnqueued, testMill } from '../../src/testing/index.ts'
import { echo } from './support.ts'

const sendEmail = defineJob({
  kind: 'email.send',
  payload: z.object({
    to: z.email(),
    at: z.iso.datetime().optional(),
    parts: z.array(z.object({ type: z.string(), text: z.string() })).optional(),
  }),
  run: () => {},
})

const parts = [
  { type: 'text', text: 'Hi' },
  { type: 'html', text: '<p>Hi' },
]

async function mailed() {
  const mill = await testMill({ jobs: [sendEmail, echo], start: false })
  await mill.enqueue(sendEmail, { to: 'ada@example.com', at: '2027-01-31T09:00:00.000Z', parts })
  await mill.enqueue(sendEmail, { to: 'bob@example.com' }, { dedupeKey: 'bob' })
  await mill.enqueue(sendEmail, { to: 'eve@example.com' }, { dedupeKey: 'bob' })
  return mill
}

/** The assertion error. */
function failed(act: () => unknown): AssertionError {
  try {
    act()
  } catch (error) {
    if (error instanceof AssertionError) return error
    throw error
  }
  throw new Error('it did not fail')
}

describe('expectEnqueued', () => {
  test('returns how a job is debounced', async () => {
    await using mill = await testMill({ jobs: [sendEmail], start: false })
    await mill.enqueue(sendEmail, { to: 'ada@example.com' }, { debounce: { key: 'to ada', wait: '5s' } })
    const more = { debounce: { key: 'to ada', wait: '5s', maxWait: '1m' } }
    await mill.enqueue(sendEmail, { to: 'bob@example.com' }, more)
    expect(expectEnqueued(mill, sendEmail)).toMatchObject({
      dedupe: null,
      dedupeKey: null,
      debounce: { key: 'to ada', waitMs: 5_000, maxWaitMs: null },
    })
  })

  test('returns the first job of the kind, and the first whose payload contains the match', async () => {
    await using mill = await mailed()
    const first = expectEnqueued(mill, sendEmail)
    expect(first).toMatchObject({ kind: 'email.send', queue: 'default', payload: { to: 'ada@example.com' } })
    expect(expectEnqueued(mill, sendEmail, { to: 'bob@example.com' }).id).not.toBe(first.id)
    expect(expectEnqueued(mill, sendEmail, {}).id).toBe(first.id)
    expectTypeOf(first.payload.to).toEqualTypeOf<string>()
  })

  test('matches parts of objects, and lists item by item', async () => {
    await using mill = await mailed()
    expect(expectEnqueued(mill, sendEmail, { parts: [{ type: 'text' }, {}] }).payload.parts).toEqual(parts)
    failed(() => expectEnqueued(mill, sendEmail, { parts: [{ type: 'text' }] }))
    failed(() => expectEnqueued(mill, sendEmail, { parts: [{ type: 'html' }, { type: 'text' }] }))
    // @ts-expect-error: not a field of this payload
    failed(() => expectEnqueued(mill, sendEmail, { too: 'ada@example.com' }))
  })

  test('lists the enqueued jobs when it fails', async () => {
    await using mill = await mailed()
    const error = failed(() => expectEnqueued(mill, sendEmail, { to: 'eve@example.com' }))
    expect(error.message.split('\n')).toEqual([
      'expected a job of kind "email.send" with a payload that contains {"to":"eve@example.com"}, but these were enqueued:',
      expect.stringMatching(
        /^ {2}1\. email\.send in default: \{"to":"ada@example\.com","at":.*\}$/,
      ) as string,
      '  2. email.send in default: {"to":"bob@example.com"}',
      '  3. email.send in default (duplicate): {"to":"eve@example.com"}',
    ])
    expect(error.stack).not.toContain('expect-enqueued.ts')
    expect(failed(() => expectEnqueued(mill, echo)).message).toContain('kind "echo", but these were enqueued')
  })

  test('says when nothing was enqueued, and shortens long lists and payloads', async () => {
    await using mill = await testMill({ jobs: [echo], start: false })
    expect(failed(() => expectEnqueued(mill, sendEmail)).message).toBe(
      'expected a job of kind "email.send", but nothing was enqueued',
    )
    await mill.enqueueMany(
      'long',
      Array.from({ length: 25 }, () => ({ payload: 'x'.repeat(500) })),
    )
    const { message } = failed(() => expectEnqueued(mill, sendEmail))
    expect(message).toContain('  … 5 more')
    expect(message.length).toBeLessThan(6_000)
  })
})

describe('expectNothingEnqueued', () => {
  test('checks one kind, or all', async () => {
    await using mill = await testMill({ jobs: [sendEmail, echo], start: false })
    expectNothingEnqueued(mill)
    await mill.enqueue(echo, { n: 1 })
    expectNothingEnqueued(mill, sendEmail)
    expect(failed(() => expectNothingEnqueued(mill)).message).toBe(
      'expected no job, but these were enqueued:\n  1. echo in default: {"n":1}',
    )
    expect(failed(() => expectNothingEnqueued(mill, echo)).message).toContain('no job of kind "echo"')
  })

  test('does not count a duplicate as enqueued', async () => {
    await using mill = await mailed()
    expect(mill.enqueued(sendEmail)).toHaveLength(3)
    expect(failed(() => expectNothingEnqueued(mill)).message).not.toContain('eve@example.com')
  })
})
