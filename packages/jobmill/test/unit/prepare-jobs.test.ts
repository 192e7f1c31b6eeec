/** Prepares jobs from requests: every option, and every refusal before anything is written. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BOUNDS, DEFAULTS } from '../../src/job/defaults.ts'
import { type DedupeScope, DEDUPE_SCOPES, type NewJob, scopedKey } from '../../src/job/enqueue/new-job.ts'
import { type JobRequest, prepareJobs } from '../../src/job/enqueue/prepare-jobs.ts'
import { fakePlatform, refusal } from './support.ts'

const ID = '0190f5fe-7c00-7a00-8000-0123456789ab'
const REQUEST: JobRequest = { kind: 'email.send', payload: { to: 'ada' } }

function prepare(requests: unknown, payloadLimitBytes?: number): NewJob[] {
  const platform = fakePlatform()
  const mintId = (): string => platform.id()
  const options = payloadLimitBytes === undefined ? { mintId } : { mintId, payloadLimitBytes }
  return prepareJobs(requests as JobRequest[], options)
}

/** Accepts what a type would forbid, which is the subject of these tests. */
function one(changes: object): NewJob {
  const [job] = prepare([{ ...REQUEST, ...changes }])
  if (job === undefined) throw new Error('no job was prepared')
  return job
}

test('an undefined payload is refused with null, which means no payload', () => {
  expect(refusal(() => one({ payload: undefined }))).toMatchObject({
    code: 'PAYLOAD_NOT_JSON',
    field: 'jobs[0].payload',
    value: 'undefined',
    fix: 'Pass null if this job has no payload',
    index: 0,
  })
  expect(one({ payload: null }).payload).toBe('null')
})

test('missing options get their defaults', () => {
  expect(prepare([REQUEST])).toEqual([
    {
      id: '00000000-0000-7000-8000-000000000001',
      kind: 'email.send',
      queue: 'default',
      payload: '{"to":"ada"}',
      priority: 0,
      maxAttempts: 5,
      dueAt: null,
      delayMs: 0,
      timeoutMs: null,
      tags: [],
      metadata: null,
      dedupe: null,
      orderKey: null,
      group: null,
    },
  ])
})

test('an option with the value undefined counts as missing', () => {
  const keys = [
    'id',
    'queue',
    'priority',
    'maxAttempts',
    'delay',
    'runAt',
    'timeout',
    'tags',
    'metadata',
    'dedupe',
  ]
  const blank = Object.fromEntries([...keys, 'orderKey'].map((key) => [key, undefined]))
  expect(one(blank)).toEqual(one({}))
})

test('every option is copied to the job', () => {
  const job = one({
    id: ID.toUpperCase(),
    queue: 'mail',
    priority: -5,
    maxAttempts: 3,
    delay: '10m',
    timeout: '1h',
    tags: ['b', 'a', 'b'],
    metadata: { trace: 1 },
    dedupe: { key: 'hi', scope: 'queue', holdFor: '1d', holdAfter: 'ended', onConflict: 'replace' },
    orderKey: 'user 7',
    group: 'acme',
  })
  expect(job).toEqual({
    id: ID,
    kind: 'email.send',
    queue: 'mail',
    payload: '{"to":"ada"}',
    priority: -5,
    maxAttempts: 3,
    dueAt: null,
    delayMs: 600_000,
    timeoutMs: 3_600_000,
    tags: ['b', 'a'],
    metadata: '{"trace":1}',
    dedupe: { key: 'queue mail hi', holdMs: 86_400_000, holdAfter: 'ended', onConflict: 'replace' },
    orderKey: 'user 7',
    group: 'acme',
  })
})

test('an instant is stored as given, even in the past', () => {
  expect(one({ runAt: 5 })).toMatchObject({ dueAt: 5, delayMs: 0 })
  expect(one({ runAt: new Date(7) })).toMatchObject({ dueAt: 7, delayMs: 0 })
})

test('a payload of null is a payload; a missing one is not', () => {
  expect(one({ payload: null }).payload).toBe('null')
  expect(refusal(() => prepare([{ kind: 'a' }]))).toMatchObject({
    code: 'PAYLOAD_NOT_JSON',
    field: 'jobs[0].payload',
  })
})

test('an empty list is no error', () => {
  expect(prepare([])).toEqual([])
})

test('each job without an id gets a new one, in order', () => {
  expect(prepare([REQUEST, { ...REQUEST, id: ID }, REQUEST]).map(({ id }) => id)).toEqual([
    '00000000-0000-7000-8000-000000000001',
    ID,
    '00000000-0000-7000-8000-000000000002',
  ])
})

test('an id that is a key of the application is refused with the option for such keys', () => {
  expect(() => prepare([{ ...REQUEST, id: 'invoice-1' }])).toThrow(
    /id: must be a UUID \(got "invoice-1"\)\. Pass your own key as dedupeKey instead\. /,
  )
})

describe('refused with the code, the field, the value, the fix and the index', () => {
  const tooManyTags = Array.from({ length: BOUNDS.tags + 1 }, (_, at) => `t${at}`)
  test.each<[object, string, string]>([
    [{ kind: undefined }, 'NAME_INVALID', 'kind'],
    [{ kind: 'a b' }, 'NAME_INVALID', 'kind'],
    [{ kind: 'k'.repeat(129) }, 'NAME_INVALID', 'kind'],
    [{ payload: { a: [1n] } }, 'PAYLOAD_NOT_JSON', 'payload.a[0]'],
    [{ payload: 'x'.repeat(DEFAULTS.payloadLimitBytes - 1) }, 'PAYLOAD_TOO_LARGE', 'payload'],
    [{ id: '42' }, 'ID_INVALID', 'id'],
    [{ id: null }, 'ID_INVALID', 'id'],
    [{ queue: 'a,b' }, 'NAME_INVALID', 'queue'],
    [{ queue: '' }, 'NAME_INVALID', 'queue'],
    [{ queue: null }, 'NAME_INVALID', 'queue'],
    [{ priority: 0.5 }, 'NUMBER_INVALID', 'priority'],
    [{ priority: 32_768 }, 'NUMBER_INVALID', 'priority'],
    [{ priority: -32_769 }, 'NUMBER_INVALID', 'priority'],
    [{ maxAttempts: 0 }, 'NUMBER_INVALID', 'maxAttempts'],
    [{ maxAttempts: 10_001 }, 'NUMBER_INVALID', 'maxAttempts'],
    [{ delay: -1 }, 'DURATION_INVALID', 'delay'],
    [{ delay: 'soon' }, 'DURATION_INVALID', 'delay'],
    [{ delay: 'forever' }, 'DURATION_INVALID', 'delay'],
    [{ delay: '11000d' }, 'DURATION_INVALID', 'delay'],
    [{ runAt: 'tomorrow' }, 'INSTANT_INVALID', 'runAt'],
    [{ runAt: '2027-01-31T09:00:00' }, 'INSTANT_INVALID', 'runAt'],
    [{ delay: 0, runAt: 5 }, 'OPTION_CONFLICT', 'delay'],
    [{ timeout: 0 }, 'DURATION_INVALID', 'timeout'],
    [{ timeout: '0.2ms' }, 'DURATION_INVALID', 'timeout'],
    [{ timeout: -5 }, 'DURATION_INVALID', 'timeout'],
    [{ tags: 'a' }, 'OPTION_INVALID', 'tags'],
    [{ tags: ['a', ''] }, 'NAME_INVALID', 'tags[1]'],
    [{ tags: ['a', 7] }, 'NAME_INVALID', 'tags[1]'],
    [{ tags: Array(1) }, 'NAME_INVALID', 'tags[0]'],
    [{ tags: ['t'.repeat(101)] }, 'NAME_INVALID', 'tags[0]'],
    [{ tags: tooManyTags }, 'OPTION_INVALID', 'tags'],
    [{ metadata: 'x' }, 'OPTION_INVALID', 'metadata'],
    [{ metadata: null }, 'OPTION_INVALID', 'metadata'],
    [{ metadata: ['x'] }, 'OPTION_INVALID', 'metadata'],
    [{ metadata: { a: 1n } }, 'PAYLOAD_NOT_JSON', 'metadata.a'],
    [{ metadata: { a: 'x'.repeat(BOUNDS.metadataBytes) } }, 'PAYLOAD_TOO_LARGE', 'metadata'],
    [{ orderKey: '' }, 'NAME_INVALID', 'orderKey'],
    [{ orderKey: 'k'.repeat(513) }, 'NAME_INVALID', 'orderKey'],
    [{ dedupe: 'key' }, 'OPTION_INVALID', 'dedupe'],
    [{ dedupe: {} }, 'NAME_INVALID', 'dedupe.key'],
    [{ dedupe: { key: 'a\n' } }, 'NAME_INVALID', 'dedupe.key'],
    [{ dedupe: { key: 'a', scope: 'world' } }, 'OPTION_INVALID', 'dedupe.scope'],
    [{ dedupe: { key: 'a', scope: null } }, 'OPTION_INVALID', 'dedupe.scope'],
    [{ dedupe: { key: 'a', onConflict: 'drop' } }, 'OPTION_INVALID', 'dedupe.onConflict'],
    [{ dedupe: { key: 'a', onConflict: null } }, 'OPTION_INVALID', 'dedupe.onConflict'],
    [{ dedupe: { key: 'a', holdFor: 'forever' } }, 'DURATION_INVALID', 'dedupe.holdFor'],
    [{ dedupe: { key: 'a', holdFor: 1, holdAfter: 'dead' } }, 'OPTION_INVALID', 'dedupe.holdAfter'],
    [{ dedupe: { key: 'a', holdFor: 1, holdAfter: null } }, 'OPTION_INVALID', 'dedupe.holdAfter'],
    [{ dedupe: { key: 'a', holdAfter: 'ended' } }, 'OPTION_CONFLICT', 'dedupe.holdAfter'],
    [{ dedupe: { key: 'a', holdFor: 0, holdAfter: 'ended' } }, 'OPTION_CONFLICT', 'dedupe.holdAfter'],
    [{ dedupe: { key: 'a', holdFr: 1 } }, 'OPTION_UNKNOWN', 'dedupe.holdFr'],
    [{ dedupe: { key: 'a', window: 'soon' } }, 'DURATION_INVALID', 'dedupe.window'],
    [{ dedupe: { key: 'a', window: 0 } }, 'DURATION_INVALID', 'dedupe.window'],
    [{ dedupe: { key: 'a', window: '1m', holdFor: 0 } }, 'OPTION_CONFLICT', 'dedupe.window'],
    [{ dedupe: { key: 'a', window: '1m', holdAfter: 'done' } }, 'OPTION_CONFLICT', 'dedupe.window'],
    [{ dedupe: { key: 'a', window: '1m', onConflict: 'replace' } }, 'OPTION_CONFLICT', 'dedupe.window'],
    [{ dedupe: { key: 'a', window: '1m', until: 'started' } }, 'OPTION_CONFLICT', 'dedupe.window'],
    [{ dedupe: { key: 'a', until: 'done' } }, 'OPTION_INVALID', 'dedupe.until'],
    [{ dedupe: { key: 'a', until: null } }, 'OPTION_INVALID', 'dedupe.until'],
    [{ dedupe: { key: 'a', until: 'started', holdFor: '1m' } }, 'OPTION_CONFLICT', 'dedupe.until'],
    [{ dedupe: { key: 'a', until: 'started', holdAfter: 'done' } }, 'OPTION_CONFLICT', 'dedupe.until'],
    [{ debounce: 'a' }, 'OPTION_INVALID', 'debounce'],
    [{ debounce: { wait: 1 } }, 'NAME_INVALID', 'debounce.key'],
    [{ debounce: { key: 'a' } }, 'DURATION_INVALID', 'debounce.wait'],
    [{ debounce: { key: 'a', wait: 0 } }, 'DURATION_INVALID', 'debounce.wait'],
    [{ debounce: { key: 'a', wait: 'soon' } }, 'DURATION_INVALID', 'debounce.wait'],
    [{ debounce: { key: 'a', wait: 1, maxWait: 'late' } }, 'DURATION_INVALID', 'debounce.maxWait'],
    [{ debounce: { key: 'a', wait: 2, maxWait: 1 } }, 'OPTION_CONFLICT', 'debounce.maxWait'],
    [{ debounce: { key: 'a', wait: 1, max: 2 } }, 'OPTION_UNKNOWN', 'debounce.max'],
    [{ debounce: { key: 'a', wait: 1 }, dedupe: { key: 'a' } }, 'OPTION_CONFLICT', 'debounce'],
    [{ debounce: { key: 'a', wait: 1 }, delay: 5 }, 'OPTION_CONFLICT', 'debounce'],
    [{ debounce: { key: 'a', wait: 1 }, runAt: 5 }, 'OPTION_CONFLICT', 'debounce'],
    [{ debounce: { key: 'a', wait: 1 }, orderKey: 'a' }, 'OPTION_CONFLICT', 'debounce'],
    [{ dedupeKey: 'a' }, 'OPTION_UNKNOWN', 'dedupeKey'],
    [{ pirority: 1 }, 'OPTION_UNKNOWN', 'pirority'],
  ])('%# %o', (changes, code, field) => {
    const error = refusal(() => prepare([REQUEST, REQUEST, { ...REQUEST, ...changes }]))
    expect(error).toMatchObject({ code, field: `jobs[2].${field}`, index: 2 })
    expect(error.value?.length).toBeLessThan(300)
    expect(error.fix).toMatch(/^[A-Z]/)
    expect(error.message).toMatch(/[^.?]\([^)].*\)\. .*[^.?!][.?]$/)
    expect(error.message.startsWith(`jobs[2].${field}: `)).toBe(true)
  })

  test.each([null, undefined, 'job', 7, [REQUEST]])('%o in place of a job', (request) => {
    expect(refusal(() => prepare([REQUEST, request]))).toMatchObject({
      code: 'OPTION_INVALID',
      field: 'jobs[1]',
      index: 1,
    })
  })

  test('a hole in place of a job', () => {
    expect(refusal(() => prepare(Array(2)))).toMatchObject({
      code: 'OPTION_INVALID',
      field: 'jobs[0]',
      index: 0,
    })
  })

  test('a duplicate id, in any spelling', () => {
    const error = refusal(() =>
      prepare([{ ...REQUEST, id: ID }, REQUEST, { ...REQUEST, id: ID.toUpperCase() }]),
    )
    expect(error).toMatchObject({ code: 'ID_REPEATED', field: 'jobs[2].id', index: 2 })
    expect(error.message).toBe(
      `jobs[2].id: is duplicated in this call (got "${ID}"). Use a different id for each job, or omit the ids.`,
    )
  })
})

test.each([undefined, null, {}, 'jobs', REQUEST])('%o in place of the array is refused', (requests) => {
  const error = refusal(() => prepare(requests))
  expect(error).toMatchObject({
    code: 'OPTION_INVALID',
    field: 'jobs',
    fix: 'Pass an array of jobs, even for a single job',
  })
})

test('one job above the maximum of a call is refused, and the maximum is not', () => {
  const jobs = Array.from({ length: BOUNDS.jobsPerCall }, () => REQUEST)
  expect(prepare(jobs)).toHaveLength(10_000)
  expect(refusal(() => prepare([...jobs, REQUEST])).message).toBe(
    'jobs: has more than 10000 jobs (got an array of 10001 items). Enqueue them in several calls.',
  )
})

test('the payload limit is configurable, and is validated', () => {
  expect(prepare([{ kind: 'a', payload: 'xx' }], 4)[0]?.payload).toBe('"xx"')
  expect(refusal(() => prepare([{ kind: 'a', payload: 'xxx' }], 4)).code).toBe('PAYLOAD_TOO_LARGE')
  const big = 'x'.repeat(DEFAULTS.payloadLimitBytes)
  expect(prepare([{ kind: 'a', payload: big }], DEFAULTS.payloadLimitBytes + 2)).toHaveLength(1)
  for (const limit of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(refusal(() => prepare([REQUEST], limit))).toMatchObject({
      code: 'NUMBER_INVALID',
      field: 'payloadLimitBytes',
    })
  }
})

test('the error for too large metadata does not suggest raising a fixed limit', () => {
  const error = refusal(() => prepare([{ ...REQUEST, metadata: { a: 'x'.repeat(BOUNDS.metadataBytes) } }]))
  expect(error.fix).toBe('Put it in the payload')
})

test('a job with the maximum of every option is accepted', () => {
  const tags = Array.from({ length: BOUNDS.tags }, (_, at) => `${at}`.padEnd(BOUNDS.tagChars, 't'))
  const job = one({
    kind: 'k'.repeat(BOUNDS.nameChars),
    queue: 'q'.repeat(BOUNDS.nameChars),
    payload: 'x'.repeat(DEFAULTS.payloadLimitBytes - 2),
    priority: BOUNDS.priority.most,
    maxAttempts: BOUNDS.maxAttempts.most,
    tags: [...tags, ...tags],
    orderKey: 'k'.repeat(BOUNDS.keyChars),
  })
  expect(job.tags).toEqual(tags)
})

interface HeldKey {
  readonly scope: DedupeScope
  readonly queue: string
  readonly kind: string
  readonly key: string
}

/** The parts that make two requests equal. */
const meaning = ({ scope, queue, kind, key }: HeldKey): string =>
  JSON.stringify([scope, scope === 'queue' ? queue : '', scope === 'kind' ? kind : '', key])

const dedupeOf = (more: object) => one({ dedupe: { key: 'hi', ...more } }).dedupe

describe('debounce', () => {
  test('is a key that is held until the job is due, after the wait', () => {
    const request = { debounce: { key: 'doc 7', wait: '5s', maxWait: '1m' } }
    expect(one(request)).toMatchObject({
      dueAt: null,
      delayMs: 5_000,
      dedupe: { key: 'debounce email.send doc 7', holdMs: 60_000, holdAfter: 'due', onConflict: 'replace' },
    })
    expect(one({ debounce: { key: 'a', wait: 1 } }).dedupe?.holdMs).toBe(0)
  })

  test('names the option that it excludes, and the reason', () => {
    const debounce = { key: 'a', wait: '5s' }
    expect(refusal(() => prepare([{ ...REQUEST, debounce, orderKey: 'a' }])).message).toBe(
      'jobs[0].debounce: cannot be combined with jobs[0].orderKey, because each enqueue would move the job in its order queue (got an object with the keys "key", "wait"). Omit one of them.',
    )
  })
})

describe('dedupe', () => {
  test('defaults to global scope, no hold, and keeping the holder', () => {
    expect(one({ dedupe: { key: 'hi' } }).dedupe).toEqual({
      key: 'global hi',
      holdMs: 0,
      holdAfter: 'done',
      onConflict: 'keep',
    })
  })

  test('keeps the key for a window after the enqueue, or until the start', () => {
    expect(dedupeOf({ window: '10m' })).toMatchObject({ holdMs: 600_000, holdAfter: 'enqueued' })
    expect(dedupeOf({ until: 'started' })).toMatchObject({ holdMs: 0, holdAfter: 'started' })
    expect(dedupeOf({ until: 'ended', holdFor: 5 })).toMatchObject({ holdMs: 5, holdAfter: 'done' })
  })

  test('names both options that exclude each other, and the reason', () => {
    expect(
      refusal(() => prepare([{ ...REQUEST, dedupe: { key: 'a', window: '1m', holdFor: 5 } }])).message,
    ).toBe(
      'jobs[0].dedupe.window: cannot be combined with jobs[0].dedupe.holdFor, because the window starts at the enqueue and the first job wins (got "1m"). Omit one of them.',
    )
  })

  test('includes its scope in the stored key', () => {
    expect(one({ dedupe: { key: 'hi', scope: 'queue' } }).dedupe?.key).toBe('queue default hi')
    expect(one({ dedupe: { key: 'hi', scope: 'kind' } }).dedupe?.key).toBe('kind email.send hi')
  })

  test('maps different scopes, names and keys to different stored keys', () => {
    const name = fc.stringMatching(/^[a-z][a-z./:_-]{0,4}$/)
    // Keys that look like the text in front of them are the ones that could collide.
    const part = fc.oneof(
      fc.constantFrom('queue', 'kind', 'global', ' ', 'a', 'b'),
      fc.string({ minLength: 1, maxLength: 3 }),
    )
    const key = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(' '))
    const held = fc.record({
      scope: fc.constantFrom<DedupeScope>(...DEDUPE_SCOPES),
      queue: name,
      kind: name,
      key,
    })
    fc.assert(
      fc.property(held, held, (a, b) => {
        const same = scopedKey(a.scope, a.key, a) === scopedKey(b.scope, b.key, b)
        expect(same).toBe(meaning(a) === meaning(b))
      }),
      { numRuns: 2_000 },
    )
  })
})
