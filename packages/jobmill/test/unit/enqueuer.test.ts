/**
 * Enqueue through the public API, on a store with planned answers: what is sent, how often, and what the
 * caller gets.
 */
import { describe, expect, test } from 'vitest'
import { enqueuer, type EnqueuerOptions } from '../../src/enqueue/enqueuer.ts'
import { type ErrorCode, JobmillError } from '../../src/job/errors.ts'
import type { NewJob } from '../../src/job/enqueue/new-job.ts'
import type { JobRequest } from '../../src/job/enqueue/prepare-jobs.ts'
import type { Enqueued } from '../../src/store/types/replies.ts'
import type { FullStore } from '../../src/store/store.ts'
import { fakePlatform, rejection } from './support.ts'

interface Send {
  readonly ids: readonly string[]
  readonly mayRepeat: boolean | undefined
  readonly tx: unknown
}

const ID = '0190f5fe-7c00-7a00-8000-0123456789ab'
const REQUEST: JobRequest = { kind: 'a', payload: null }
const error = (code: ErrorCode): JobmillError => new JobmillError(code, 'as the test says')

/** Fails one send after the other as `failures` says, then succeeds. */
function fakeStore(failures: readonly Error[] = []) {
  const sends: Send[] = []
  const enqueue = (
    jobs: readonly NewJob[],
    options: { readonly tx?: unknown; readonly mayRepeat?: boolean } = {},
  ): Promise<Enqueued[]> => {
    const failure = failures[sends.length]
    sends.push({ ids: jobs.map(({ id }) => id), mayRepeat: options.mayRepeat, tx: options.tx })
    if (failure !== undefined) return Promise.reject(failure)
    return Promise.resolve(jobs.map(({ id }) => ({ id, outcome: 'enqueued' })))
  }
  // Only enqueue: any other method would fail the test.
  return { store: { enqueue } as unknown as FullStore, sends }
}

/** One call through a new enqueuer. */
function enqueueJobs(
  store: FullStore,
  requests: readonly JobRequest[],
  { tx, ...options }: EnqueuerOptions & { readonly tx?: unknown } = {},
): Promise<Enqueued[]> {
  return enqueuer(store, options).enqueue(requests, tx === undefined ? {} : { tx })
}

test('a call writes once and returns one entry per job', async () => {
  const { store, sends } = fakeStore()
  const platform = fakePlatform()
  const answer = await enqueueJobs(store, [REQUEST, REQUEST], { platform })
  const ids = ['00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000002']
  expect(answer).toEqual(ids.map((id) => ({ id, outcome: 'enqueued' })))
  expect(sends).toEqual([{ ids, mayRepeat: false, tx: undefined }])
  expect(platform.asked).toEqual([])
})

test('an enqueuer without a platform uses the real one', async () => {
  const { store, sends } = fakeStore()
  await enqueueJobs(store, [REQUEST])
  expect(sends[0]?.ids[0]).toMatch(/^[0-9a-f-]{36}$/)
})

test('for an id from the user, the enqueuer tells the store that the job may exist', async () => {
  const { store, sends } = fakeStore()
  await enqueueJobs(store, [REQUEST, { ...REQUEST, id: ID }], { platform: fakePlatform() })
  expect(sends).toMatchObject([{ mayRepeat: true }])
})

describe('a write whose outcome is unknown', () => {
  test('is sent again with the same ids, marked as possibly stored', async () => {
    const { store, sends } = fakeStore([error('OUTCOME_UNKNOWN'), error('OUTCOME_UNKNOWN')])
    const platform = fakePlatform({ eager: true })
    const answer = await enqueueJobs(store, [REQUEST, REQUEST], { platform })
    expect(sends.map(({ mayRepeat }) => mayRepeat)).toEqual([false, true, true])
    expect(new Set(sends.map(({ ids }) => ids.join()))).toHaveLength(1)
    expect(answer.map(({ id }) => id)).toEqual(sends[0]?.ids)
    expect(platform.asked).toEqual([0, 50])
  })

  test('is sent again while the store is unreachable or busy', async () => {
    const { store, sends } = fakeStore([
      error('OUTCOME_UNKNOWN'),
      error('STORE_UNAVAILABLE'),
      error('STORE_BUSY'),
    ])
    await enqueueJobs(store, [REQUEST], { platform: fakePlatform({ eager: true }) })
    expect(sends.map(({ mayRepeat }) => mayRepeat)).toEqual([false, true, true, true])
  })

  test('is reported as unknown right after the last send', async () => {
    const { store, sends } = fakeStore(Array.from({ length: 100 }, () => error('OUTCOME_UNKNOWN')))
    const platform = fakePlatform({ eager: true })
    expect((await rejection(() => enqueueJobs(store, [REQUEST], { platform }))).code).toBe('OUTCOME_UNKNOWN')
    expect(platform.asked).toEqual([0, 50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800])
    expect(sends).toHaveLength(platform.asked.length + 1)
  })

  test('is reported as unknown if the store stays unreachable', async () => {
    const unknown = error('OUTCOME_UNKNOWN')
    const { store } = fakeStore([unknown, ...Array.from({ length: 100 }, () => error('STORE_UNAVAILABLE'))])
    const refusal = await rejection(() =>
      enqueueJobs(store, [REQUEST], { platform: fakePlatform({ eager: true }) }),
    )
    expect(refusal).toBe(unknown)
  })

  // Any other code would mean that nothing was written.
  test.each([error('STORE_CLOSED'), new TypeError('a bug')])(
    'is reported as unknown if %s follows',
    async (then) => {
      const unknown = error('OUTCOME_UNKNOWN')
      const { store, sends } = fakeStore([unknown, then])
      const refusal = await rejection(() =>
        enqueueJobs(store, [REQUEST], { platform: fakePlatform({ eager: true }) }),
      )
      expect(refusal).toBe(unknown)
      expect(sends).toHaveLength(2)
    },
  )
})

test.each([error('STORE_UNAVAILABLE'), error('STORE_BUSY'), error('STORE_CLOSED'), new TypeError('a bug')])(
  'a first write that fails with %s is not sent again',
  async (failure) => {
    const { store, sends } = fakeStore([failure])
    await expect(enqueueJobs(store, [REQUEST], { platform: fakePlatform() })).rejects.toBe(failure)
    expect(sends).toHaveLength(1)
  },
)

describe('in a user transaction', () => {
  test('jobs are written once, in the transaction, as possibly stored', async () => {
    const { store, sends } = fakeStore()
    const tx = { name: 'mine' }
    await enqueueJobs(store, [REQUEST], { tx, platform: fakePlatform() })
    expect(sends).toMatchObject([{ mayRepeat: true }])
    expect(sends[0]?.tx).toBe(tx)
  })

  test('a write with an unknown outcome is not repeated: the transaction is gone', async () => {
    const { store, sends } = fakeStore([error('OUTCOME_UNKNOWN')])
    const act = (): Promise<unknown> => enqueueJobs(store, [REQUEST], { tx: {}, platform: fakePlatform() })
    expect((await rejection(act)).code).toBe('OUTCOME_UNKNOWN')
    expect(sends).toHaveLength(1)
  })

  test('tx: null is passed on and refused, not treated as no transaction', async () => {
    const { store, sends } = fakeStore()
    await enqueueJobs(store, [REQUEST], { tx: null, platform: fakePlatform() })
    expect(sends[0]?.tx).toBeNull()
  })
})

describe('the enqueuer writes nothing', () => {
  test('if one job of the call is invalid; the error names it', async () => {
    const { store, sends } = fakeStore()
    const bad = { ...REQUEST, queue: 'a b' }
    const refusal = await rejection(() => enqueueJobs(store, [REQUEST, bad, REQUEST]))
    expect(refusal).toMatchObject({ code: 'NAME_INVALID', field: 'jobs[1].queue', index: 1 })
    expect(sends).toEqual([])
  })

  test('if a payload is over the configured limit', async () => {
    const { store, sends } = fakeStore()
    const act = (): Promise<unknown> =>
      enqueueJobs(store, [{ kind: 'a', payload: 'xxx' }], { payloadLimitBytes: 4 })
    expect((await rejection(act)).code).toBe('PAYLOAD_TOO_LARGE')
    expect(sends).toEqual([])
  })

  test('if an option is unknown', async () => {
    const { store, sends } = fakeStore()
    const options = { payloadLimitByte: 4 } as object
    const refusal = await rejection(async () => enqueueJobs(store, [REQUEST], options))
    expect(refusal.message).toBe(
      'options.payloadLimitByte: is not an option (got "payloadLimitByte"). Did you mean "payloadLimitBytes"?',
    )
    expect(sends).toEqual([])
  })
})
