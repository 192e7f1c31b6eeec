/** The timeout, max attempts and backoff that apply to a job, and where each comes from. */
import { describe, expect, test } from 'vitest'
import { commandJob, defineJob } from '../../src/index.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../src/job/queue/queue-settings.ts'
import { type PolicyJob, policyOf } from '../../src/runtime/operate/policy.ts'

const plain = { payload: null, timeoutMs: null, maxAttempts: 5 }
const run = (): void => {}
const kind = (options: Partial<Parameters<typeof defineJob>[0]> = {}) =>
  defineJob({ kind: 'a', run, ...options } as never)
const all = (job: Partial<PolicyJob>, of: ReturnType<typeof kind> | undefined) =>
  policyOf({ ...plain, ...job }, of)

describe('the policy of a job', () => {
  test('N14 timeout: of the job, else of its kind, else none', () => {
    const slow = kind({ timeout: '1s' })
    expect(all({ timeoutMs: 9 }, slow).timeout).toEqual({ ms: 9, from: 'job' })
    expect(all({}, slow).timeout).toEqual({ ms: 1_000, from: 'kind' })
    expect(all({}, kind()).timeout).toEqual({ ms: null, from: 'default' })
    expect(all({}, undefined).timeout).toEqual({ ms: null, from: 'unknown' })
    const command = commandJob({ programs: [process.execPath] }) as unknown as typeof slow
    const payload = { program: 'node', timeout: '5s' }
    expect(all({ payload }, command).timeout).toEqual({ ms: null, from: 'payload' })
    expect(all({ payload: { program: 'node' } }, command).timeout).toEqual({ ms: 600_000, from: 'kind' })
  })

  test('max attempts: as stored with the job', () => {
    const from = (maxAttempts: number, of: ReturnType<typeof kind> | undefined): unknown =>
      all({ maxAttempts }, of).maxAttempts
    expect(from(5, kind())).toEqual({ attempts: 5, from: 'default' })
    expect(from(7, kind())).toEqual({ attempts: 7, from: 'job' })
    expect(from(2, kind({ maxAttempts: 2 }))).toEqual({ attempts: 2, from: 'kind' })
    expect(from(5, kind({ maxAttempts: 2 }))).toEqual({ attempts: 5, from: 'job' })
    expect(from(5, undefined)).toEqual({ attempts: 5, from: 'unknown' })
  })

  test('backoff: of the kind, completed by that of the queue, unless the queue retries at once', () => {
    const none = { baseMs: null, maxMs: null, isRandom: false }
    const of = (options: object | undefined, backoffEnabled = true): unknown => {
      const queue = { ...DEFAULT_QUEUE_SETTINGS, backoffEnabled, backoffBaseMs: 3_000, backoffMaxMs: 60_000 }
      return policyOf(plain, options === undefined ? undefined : kind(options), queue).backoff
    }
    const exponential = { type: 'exponential', maxMs: 60_000, isRandom: true }
    expect(of({})).toEqual({ ...exponential, baseMs: 3_000, from: 'queue' })
    expect(of({ backoff: { base: '5s' } })).toEqual({ ...exponential, baseMs: 5_000, from: 'kind' })
    expect(of({ backoff: { fixed: '1s' } })).toEqual({ ...none, type: 'fixed', baseMs: 1_000, from: 'kind' })
    expect(of({ backoff: () => 1 })).toEqual({ ...none, type: 'function', from: 'kind' })
    expect(of({ backoff: { fixed: '1s' } }, false)).toEqual({ ...none, type: 'off', from: 'queue' })
    expect(of(undefined)).toEqual({ ...none, type: 'unknown', from: 'unknown' })
    expect(of(undefined, false)).toEqual({ ...none, type: 'off', from: 'queue' })
    const ofQueue = policyOf(plain, kind()).backoff
    expect(ofQueue).toEqual({ ...exponential, baseMs: 10_000, maxMs: 1_800_000, from: 'queue' })
  })
})
