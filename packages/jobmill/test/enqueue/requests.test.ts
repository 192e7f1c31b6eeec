// From the request of a user to the prepared job: defaults of the kind, route and schema.
import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { prepareAtOnce } from '../../src/enqueue/requests.ts'
import { requestsFor, type RequestTools, type Target } from '../../src/enqueue/requests.ts'
import { defineJob } from '../../src/job/kind/definition.ts'
import type { EnqueueItem } from '../../src/job/enqueue/handle.ts'
import type { Schema } from '../../src/job/payload/schema.ts'
import { refusal, rejection } from '../unit/support.ts'

const plain = defineJob({ kind: 'plain', run: () => {} })
const strict = defineJob({
  kind: 'strict',
  queue: 'mail',
  priority: 3,
  maxAttempts: 7,
  payload: z.object({ to: z.email() }),
  run: () => {},
})
const slow = defineJob({
  kind: 'slow',
  payload: z.object({ n: z.number() }).refine(async ({ n }) => n > 0, 'is not positive'),
  run: () => {},
})

const tools: RequestTools = {
  definition: (kind) => [plain, strict, slow].find((job) => job.kind === kind),
  queueOf: (kind) => `routed-${kind}`,
}
const placeOf = (index: number): string => `items[${index}]`
const requests = (target: Target, ...items: EnqueueItem<unknown>[]) =>
  requestsFor(target, items, placeOf, tools)

/** Prepared jobs, whose payloads are checked against the schema of the kind. */
const prepared = (target: Target, ...items: EnqueueItem<unknown>[]) =>
  prepareAtOnce(target, items, { placeOf, mintId: randomUUID, payloadLimitBytes: 1_000 }, tools)

const queues = (target: Target, ...items: EnqueueItem<unknown>[]): unknown =>
  requests(target, ...items).map(({ queue }) => queue)

describe('requests', () => {
  test('have the kind of the definition, and its defaults unless the item overrides them', () => {
    const payload = { to: 'ada@example.com' }
    expect(requests(strict, { payload }, { payload, queue: 'other', priority: -1, maxAttempts: 1 })).toEqual([
      { kind: 'strict', payload, queue: 'mail', priority: 3, maxAttempts: 7 },
      { kind: 'strict', payload, queue: 'other', priority: -1, maxAttempts: 1 },
    ])
  })

  test('of a kind given by name have the defaults that this process knows', () => {
    const payload = { to: 'ada@example.com' }
    expect(requests('strict', { payload })).toEqual(requests(strict, { payload }))
    expect(requests('foreign', { payload })).toEqual([{ kind: 'foreign', payload, queue: 'routed-foreign' }])
  })

  test('go to the queue of the item, else of the kind, else of the route', () => {
    expect(queues(plain, { payload: 1 }, { payload: 1, queue: 'q' })).toEqual(['routed-plain', 'q'])
    expect(queues('strict', { payload: { to: 'a@b.co' } })).toEqual(['mail'])
  })

  test('keep all other options unchanged', () => {
    const options = { delay: '10m', tags: ['a'], metadata: { m: 1 }, orderKey: 'o', timeout: 5, id: 'x' }
    expect(requests('plain', { payload: null, ...options })).toEqual([
      { kind: 'plain', payload: null, queue: 'routed-plain', ...options },
    ])
  })

  test('accept dedupeKey as short for dedupe, and refuse both at once', () => {
    expect(requests('plain', { payload: 1, dedupeKey: 'k' })).toMatchObject([{ dedupe: { key: 'k' } }])
    expect(requests('plain', { payload: 1, dedupeKey: 'k' })).not.toHaveProperty('[0].dedupeKey')
    const both = { payload: 1, dedupeKey: 'k', dedupe: { key: 'k' } }
    expect(refusal(() => requests('plain', both))).toMatchObject({
      code: 'OPTION_CONFLICT',
      field: 'items[0].dedupeKey',
    })
  })

  test.each([
    [
      'a target that is neither a definition nor a kind',
      () => requests({ kind: 'x' } as never, { payload: 1 }),
      'job',
    ],
    ['items that are not an array', () => requestsFor('plain', 'items' as never, placeOf, tools), 'items'],
    ['an item without a payload', () => requests('plain', { payload: 1 }, {} as never), 'items[1]'],
    ['an item that is not an object', () => requests('plain', null as never), 'items[0]'],
  ])('refuse %s, with its path', (_, act, field) => {
    expect(refusal(act)).toMatchObject({ code: 'OPTION_INVALID', field })
  })
})

describe('the schema of a kind', () => {
  test('refuses an invalid payload before anything is written, with the path of the item', () => {
    const good = { payload: { to: 'ada@example.com' } }
    for (const target of [strict, 'strict'] as const) {
      const error = refusal(() => prepared(target, good, { payload: { to: 'nobody' } }))
      expect([error.code, error.field]).toEqual(['PAYLOAD_INVALID', 'items[1].payload.to'])
    }
  })

  test('N9 gets the payload as the handler will: after JSON', () => {
    const dated = defineJob({ kind: 'dated', payload: z.object({ at: z.string() }), run: () => {} })
    expect(prepared(dated as Target, { payload: { at: new Date(0) } })).toHaveLength(1)
    // @ts-expect-error the compiler refuses it too: a schema never sees a Date
    const wants: Target = defineJob({ kind: 'wants', payload: z.object({ at: z.date() }), run: () => {} })
    expect(refusal(() => prepared(wants, { payload: { at: new Date(0) } }))).toMatchObject({
      code: 'PAYLOAD_INVALID',
      field: 'items[0].payload.at',
      // For a payload with a Date, zod alone says "expected date, received string".
      fix: expect.stringContaining('z.iso.datetime() or z.coerce.date()') as string,
    })
  })

  test('runs synchronously if it can: a write in a transaction must not wait', () => {
    expect(prepared(strict, { payload: { to: 'ada@example.com' } })).toBeInstanceOf(Array)
    expect(prepared(plain, { payload: 1 })).toBeInstanceOf(Array)
  })

  test('that is async is awaited, and refuses too', async () => {
    const early = prepared(slow, { payload: { n: 1 } }, { payload: { n: 2 } })
    expect(early).toBeInstanceOf(Promise)
    expect(await early).toHaveLength(2)
    const error = await rejection(async () => prepared(slow, { payload: { n: 1 } }, { payload: { n: -1 } }))
    expect([error.code, error.field?.startsWith('items[1].payload')]).toEqual(['PAYLOAD_INVALID', true])
  })

  test.each([
    [
      'the fields of an object',
      z.object({ to: z.email(), cc: z.string().optional(), n: z.union([z.string(), z.int()]) }),
      'is missing. Pass an object with to (string), cc (string, optional), n.',
    ],
    [
      'at most eight fields',
      z.object(Object.fromEntries(Array.from('abcdefghi', (name) => [name, z.boolean()]))),
      `is missing. Pass an object with ${Array.from('abcdefgh', (name) => `${name} (boolean)`).join(', ')}, ….`,
    ],
    ['an object without fields', z.object({}), 'is missing. Pass an object.'],
    ['another type', z.int(), 'is missing. Pass an integer.'],
    [
      'the words of a schema that exports no JSON Schema',
      v.object({ to: v.string() }),
      'is missing: Invalid type: Expected Object but received undefined. Pass a payload that matches the schema of the kind.',
    ],
    [
      'nothing more where the schema is asynchronous',
      v.pipeAsync(
        v.string(),
        v.checkAsync(async () => true),
      ),
      'is missing. Pass a payload that matches the schema of the kind.',
    ],
  ])('says of a missing payload what it expects: %s', (_, payload, text) => {
    const job = defineJob({ kind: 'typed', payload: payload as Schema<string>, run: () => {} })
    const error = refusal(() => prepared(job, { payload: undefined }))
    expect(error).toMatchObject({
      code: 'PAYLOAD_INVALID',
      field: 'items[0].payload',
      index: 0,
      message: `items[0].payload: ${text}`,
    })
  })

  test('is described to a caller who passes payloads instead of items', () => {
    const error = refusal(() => prepared(strict, { to: 'ada@example.com' } as never))
    expect(error.fix).toBe('Pass { payload, …options }; the payload must be an object with to (string)')
  })

  test('is not run for a payload that is not JSON or too large', () => {
    expect(refusal(() => prepared(strict, { payload: { to: 'a'.repeat(2_000) } })).code).toBe(
      'PAYLOAD_TOO_LARGE',
    )
    expect(refusal(() => prepared(strict, { payload: { to: 1n } })).code).toBe('PAYLOAD_NOT_JSON')
  })
})
