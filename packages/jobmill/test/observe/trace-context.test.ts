// The trace context of a job, which parts are trusted, and what spans show of refused writes.
import { createTraceState, SpanStatusCode } from '@opentelemetry/api'
import { describe, expect, test } from 'vitest'
import type { NewJob } from '../../src/job/enqueue/new-job.ts'
import { OUTCOMES } from '../../src/job/attempt/outcome.ts'
import { prepareJobs } from '../../src/job/enqueue/prepare-jobs.ts'
import { contextIn, withContext } from '../../src/observe/opentelemetry/tracing.ts'
import { openTelemetry, type Tracing } from '../../src/opentelemetry.ts'
import { systemPlatform } from '../../src/platform/platform.ts'
import { recordSpans } from './spans.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'
const traceparent = `00-${traceId}-${spanId}-01`

function aJob(metadata?: Record<string, unknown>): NewJob {
  const request = { kind: 'work', payload: null, ...(metadata === undefined ? {} : { metadata }) }
  const [job] = prepareJobs([request], { mintId: () => systemPlatform.id() })
  if (job === undefined) throw new Error('no job')
  return job
}

describe('the trace in the metadata of a job', () => {
  test('is written next to existing metadata, with its state, and read again', () => {
    const context = { traceId, spanId, traceFlags: 1, traceState: createTraceState('a=1,b=2') }
    const [job] = withContext([aJob({ tenant: 7 })], context)
    expect(JSON.parse(job?.metadata ?? '')).toEqual({ tenant: 7, traceparent, tracestate: 'a=1,b=2' })
    const read = contextIn(job?.metadata ?? null)
    expect(read).toMatchObject({ traceId, spanId, traceFlags: 1, isRemote: true })
    expect(read?.traceState?.serialize()).toBe('a=1,b=2')
  })

  test('is not written for an invalid span context', () => {
    const jobs = [aJob()]
    expect(withContext(jobs, { traceId: '0'.repeat(32), spanId: '0'.repeat(16), traceFlags: 0 })).toBe(jobs)
  })

  test.each([
    ['of a future version, with more fields', `01-${traceId}-${spanId}-01-more`, true],
    ['that is not sampled', `00-${traceId}-${spanId}-00`, true],
    ['with more fields than its version has', `${traceparent}-more`, false],
    ['of the invalid version', `ff-${traceId}-${spanId}-01`, false],
    ['of zeros', `00-${'0'.repeat(32)}-${spanId}-01`, false],
    ['in capitals', traceparent.toUpperCase(), false],
    ['that is a number', 5, false],
    ['that is empty', '', false],
  ])('a traceparent %s is accepted or ignored', (_, input, isBelieved) => {
    expect(contextIn(JSON.stringify({ traceparent: input })) !== null).toBe(isBelieved)
  })

  test('is not searched in nested metadata', () => {
    expect(contextIn(JSON.stringify({ inner: { traceparent } }))).toBeNull()
    expect(contextIn(null)).toBeNull()
  })
})

function anAttempt(tracing: Tracing) {
  const job = { id: 'x', kind: 'work', queue: 'q', attempt: 1, metadata: null, waitedMs: 0 }
  return tracing.attempt(job, systemPlatform.now())
}

describe('spans', () => {
  test.each(OUTCOMES)('of an attempt that ended as %s are errors only when it failed', (outcome) => {
    const spans = recordSpans()
    anAttempt(openTelemetry({ tracerProvider: spans.provider })).ended(outcome, new Error('x'))
    const isFailure = ['failed', 'timed-out', 'failed-permanently'].includes(outcome)
    expect(spans.one('run work').status.code).toBe(isFailure ? SpanStatusCode.ERROR : SpanStatusCode.UNSET)
    expect(spans.one('run work').events).toHaveLength(isFailure ? 1 : 0)
  })

  test('are ended even if the thrown error cannot be read', () => {
    const spans = recordSpans()
    const hostile = new Error('x')
    Object.defineProperty(hostile, 'message', {
      get() {
        throw new Error('cannot be read')
      },
    })
    anAttempt(openTelemetry({ tracerProvider: spans.provider })).ended('failed', hostile)
    expect(spans.one('run work').status.code).toBe(SpanStatusCode.ERROR)
  })

  test.each([
    ['written', { accepted: true }, undefined],
    ['refused', { accepted: false }, 'lease-lost'],
    ['given up', null, 'given-up'],
  ])('of an outcome that was %s have that status', async (_, finished, type) => {
    const spans = recordSpans()
    const attempt = anAttempt(openTelemetry({ tracerProvider: spans.provider }))
    expect(await attempt.finish(() => Promise.resolve(finished))).toBe(finished)
    expect(spans.one('finish work').attributes['error.type']).toBe(type)
  })

  test('of an enqueue that fails are errors, and the error reaches the caller', async () => {
    const spans = recordSpans()
    const tracing = openTelemetry({ tracerProvider: spans.provider })
    const error = new Error('away')
    await expect(tracing.enqueue([aJob()], () => Promise.reject(error))).rejects.toBe(error)
    expect(spans.one('enqueue work').status).toEqual({ code: SpanStatusCode.ERROR, message: 'Error: away' })
  })
})

test('openTelemetry refuses unknown and invalid options', () => {
  expect(() => openTelemetry({ provider: 1 } as never)).toThrow(/options.provider/)
  expect(() => openTelemetry({ tracerProvider: 1 as never })).toThrow(/options.tracerProvider/)
})
