// What OpenTelemetry receives about jobs, with its real SDK and whole mills on each store.
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import { describe, expect, test } from 'vitest'
import { inTurns } from '../../../../test/support/suite/in-turns.ts'
import { defineJob, type JobContext } from '../../src/index.ts'
import { openTelemetry } from '../../src/opentelemetry.ts'
import { places } from '../runtime/places.ts'
import { idOf, lengthOf, linksOf, parentOf, recordSpans } from './spans.ts'

const NOTHING = defineJob({ kind: 'nothing', run() {} })

/** As it is in the metadata. */
const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

describe.each(places)('a traced mill on $name', ({ name, create }) => {
  const test = inTurns(name, places)
  test('records spans for the enqueue, the waiting time, the run and the finish of a job', async () => {
    const spans = recordSpans()
    const tracer = spans.provider.getTracer('test')
    const send = defineJob({
      kind: 'send',
      async run({ enqueue }: JobContext<null>) {
        const inner = tracer.startSpan('smtp')
        inner.end()
        await enqueue(NOTHING, null)
      },
    })
    const tracing = openTelemetry({ tracerProvider: spans.provider })
    const mill = await create().mill({ jobs: [send, NOTHING], tracing })
    await mill.pause('default')
    const { id } = await mill.enqueue(send, null, { metadata: { tenant: 7 } })
    await mill.clock.advance('5s')
    await mill.resume('default')
    await mill.drain()

    const enqueue = spans.one('enqueue send')
    const run = spans.one('run send')
    const about = { 'messaging.system': 'jobmill', 'messaging.destination.name': 'default' }
    const job = { 'jobmill.job.id': id, 'jobmill.job.kind': 'send', 'jobmill.queue': 'default' }
    expect([enqueue.kind, run.kind]).toEqual([SpanKind.PRODUCER, SpanKind.CONSUMER])
    expect(enqueue.attributes).toMatchObject({ ...about, ...job, 'messaging.operation.type': 'send' })
    expect(run.attributes).toMatchObject({
      ...about,
      ...job,
      'messaging.operation.type': 'process',
      'messaging.message.id': id,
      'jobmill.job.attempt': 1,
      'jobmill.outcome': 'returned',
    })
    expect(run.status.code).toBe(SpanStatusCode.UNSET)
    // A trace of its own, linked to the span that enqueued it.
    expect([parentOf(run), linksOf(run)]).toEqual([null, [idOf(enqueue)]])
    expect(run.spanContext().traceId).not.toBe(enqueue.spanContext().traceId)
    for (const inside of ['wait send', 'finish send', 'smtp', 'enqueue nothing'])
      expect([inside, parentOf(spans.one(inside))]).toEqual([inside, idOf(run)])
    expect(linksOf(spans.one('run nothing'))).toEqual([idOf(spans.one('enqueue nothing'))])
    expect(lengthOf(spans.one('wait send'))).toBeGreaterThanOrEqual(5_000)
    expect(lengthOf(spans.one('wait send'))).toBeLessThan(7_000)

    const { traceId, spanId } = enqueue.spanContext()
    expect((await mill.get(id))?.metadata).toEqual({ tenant: 7, traceparent: `00-${traceId}-${spanId}-01` })
    const ofRun = { traceId: run.spanContext().traceId, spanId: run.spanContext().spanId }
    for (const type of ['started', 'finished'] as const)
      expect(mill.events.find((event) => event.type === type && event.id === id)).toMatchObject({
        trace: ofRun,
      })
  })

  test('records how an attempt failed, and each attempt in its own trace', async () => {
    const spans = recordSpans()
    const fails = defineJob({
      kind: 'fails',
      maxAttempts: 2,
      run(_: JobContext<null>) {
        throw new TypeError('no such host')
      },
    })
    const mill = await create().mill({
      jobs: [fails],
      tracing: openTelemetry({ tracerProvider: spans.provider }),
    })
    const request = spans.provider.getTracer('test').startSpan('request')
    // With direct dispatch it starts in the context of this call, but must not be part of its trace.
    await context.with(trace.setSpan(context.active(), request), () => mill.enqueue(fails, null))
    await mill.drain({ scheduled: true })
    request.end()
    expect(parentOf(spans.one('enqueue fails'))).toBe(idOf(spans.one('request')))
    const runs = spans.named('run fails')
    expect(runs.map(({ attributes }) => attributes['jobmill.job.attempt'])).toEqual([1, 2])
    expect(new Set(runs.map((run) => run.spanContext().traceId)).size).toBe(2)
    for (const run of runs) {
      expect([parentOf(run), linksOf(run)]).toEqual([null, [idOf(spans.one('enqueue fails'))]])
      expect(run.attributes).toMatchObject({ 'jobmill.outcome': 'failed', 'error.type': 'failed' })
      expect(run.status).toEqual({ code: SpanStatusCode.ERROR, message: 'TypeError: no such host' })
      expect(run.events[0]?.attributes).toMatchObject({ 'exception.message': 'no such host' })
    }
    const traces = runs.map((run) => ({
      traceId: run.spanContext().traceId,
      spanId: run.spanContext().spanId,
    }))
    expect(mill.events.flatMap((event) => (event.type === 'retried' ? [event.trace] : []))).toEqual([
      traces[0],
    ])
    expect(mill.events.flatMap((event) => (event.type === 'dead' ? [event.trace] : []))).toEqual([traces[1]])
  })

  test('keeps the trace of the caller, and records many jobs in one span', async () => {
    const spans = recordSpans()
    const mill = await create().mill({
      jobs: [NOTHING],
      tracing: openTelemetry({ tracerProvider: spans.provider }),
    })
    const carrier = { traceparent: TRACEPARENT, tracestate: 'vendor=x' }
    const large = { note: 'x'.repeat(16 * 1024 - 20) }
    const jobs = await mill.enqueueMany(NOTHING, [
      { payload: null },
      { payload: null, metadata: {} },
      { payload: null, metadata: carrier },
      { payload: null, metadata: large },
    ])
    await mill.drain()
    const enqueue = spans.one('enqueue nothing')
    const ours = idOf(enqueue)
    const theirs = '0af7651916cd43dd8448eb211c80319c b7ad6b7169203331'
    expect(enqueue.attributes).toMatchObject({ 'messaging.batch.message_count': 4 })
    expect(linksOf(enqueue)).toEqual([theirs])
    const linked = new Map(
      spans.named('run nothing').map((run) => [run.attributes['jobmill.job.id'], linksOf(run)]),
    )
    // Full metadata has no room for a trace, and is not refused for that.
    expect(jobs.map(({ id }) => linked.get(id))).toEqual([[ours], [ours], [theirs], []])
    expect((await mill.get(jobs[2]?.id ?? ''))?.metadata).toEqual(carrier)
    expect((await mill.get(jobs[3]?.id ?? ''))?.metadata).toEqual(large)
  })

  test('traces enqueues in a user transaction, and with the completion of another job', async () => {
    const spans = recordSpans()
    const place = create()
    const client = await place.connect()
    const completes = defineJob({
      kind: 'completes',
      async run({ complete, enqueue }: JobContext<null>) {
        await enqueue(NOTHING, null, { withCompletion: true })
        await client.begin()
        await complete(client.tx)
        await client.commit()
      },
    })
    const mill = await place.mill({
      jobs: [completes, NOTHING],
      tracing: openTelemetry({ tracerProvider: spans.provider }),
    })
    await client.begin()
    // Not awaited before the commit: on SQLite it must already be written.
    const enqueued = mill.enqueue(completes, null, { tx: client.tx })
    if (name === 'postgres') await enqueued
    await client.commit()
    await enqueued
    mill.wake()
    await mill.drain()
    const run = spans.one('run completes')
    expect([run.attributes['jobmill.outcome'], run.status.code]).toEqual(['returned', SpanStatusCode.UNSET])
    expect(linksOf(run)).toEqual([idOf(spans.one('enqueue completes'))])
    expect(parentOf(spans.one('enqueue nothing'))).toBe(idOf(run))
    expect(linksOf(spans.one('run nothing'))).toEqual([idOf(spans.one('enqueue nothing'))])
  })

  test('keeps working if the tracer is broken or missing', async () => {
    const broken = new BasicTracerProvider({
      spanProcessors: [
        {
          onStart: (span) => {
            if (span.name.startsWith('wait')) throw new Error('onStart is broken')
          },
          onEnd: () => {
            throw new Error('onEnd is broken')
          },
          forceFlush: () => Promise.resolve(),
          shutdown: () => Promise.resolve(),
        },
      ],
    })
    for (const tracing of [openTelemetry({ tracerProvider: broken }), openTelemetry()]) {
      const mill = await create().mill({ jobs: [NOTHING], tracing })
      const { id } = await mill.enqueue(NOTHING, null)
      await mill.drain()
      expect((await mill.get(id))?.state).toBe('done')
    }
  })
})

describe.each(places)('a mill on $name without tracing', ({ create }) => {
  test('stores no trace context', async () => {
    recordSpans()
    const mill = await create().mill({ jobs: [NOTHING] })
    const { id } = await mill.enqueue(NOTHING, null)
    await mill.drain()
    expect((await mill.get(id))?.metadata).toBeNull()
    expect(mill.events.filter((event) => 'trace' in event)).toEqual([])
    expect(mill.events.some(({ type }) => type === 'finished')).toBe(true)
  })
})
