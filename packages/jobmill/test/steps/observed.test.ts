/** What operators see of steps: events, metrics, spans, and steps that the handler no longer calls. */
import { describe, expect, test } from 'vitest'
import { Dead, defineJob } from '../../src/index.ts'
import { openTelemetry } from '../../src/opentelemetry.ts'
import { parentOf, idOf, recordSpans } from '../observe/spans.ts'
import { subjects } from '../runtime/stores.ts'

describe.each(subjects)('steps as operators see them on $name', ({ mill: create }) => {
  test('each run of a step is an event, a counter, and a span inside that of its attempt', async () => {
    let fails = true
    const spans = recordSpans()
    const tracer = spans.provider.getTracer('test')
    const job = defineJob({
      kind: 'a',
      backoff: { fixed: '1s' },
      run: ({ step }) =>
        step.run('charge', () => {
          tracer.startSpan('inner').end()
          if (fails) throw new Error('no')
          return 1
        }),
    })
    const mill = await create({ jobs: [job], tracing: openTelemetry({ tracerProvider: spans.provider }) })
    await mill.enqueue(job, null)
    await mill.drain()
    fails = false
    await mill.drain({ scheduled: true })
    const seen = mill.events.filter(({ type }) => type.startsWith('step'))
    expect(seen).toMatchObject([
      { type: 'step-failed', step: 'charge', error: 'Error: no' },
      { type: 'step-recorded', step: 'charge' },
    ])
    const metrics = await mill.prometheus()
    expect(metrics).toContain('jobmill_steps_recorded_total{queue="default"} 1')
    expect(metrics).toContain('jobmill_steps_failed_total{queue="default"} 1')
    const [failed, recorded] = spans.named('step a')
    expect(failed?.attributes).toMatchObject({ 'jobmill.step': 'charge', 'error.type': 'failed' })
    expect(recorded?.attributes).not.toHaveProperty('error.type')
    expect(spans.named('run a').map(idOf)).toEqual([failed, recorded].map((span) => span && parentOf(span)))
    expect(spans.named('inner').map(parentOf)).toEqual([failed, recorded].map((span) => span && idOf(span)))
  })

  test('a recorded step that the handler no longer calls is an event and a finding', async () => {
    let name = 'old'
    const job = defineJob({
      kind: 'renamed',
      async run({ step }) {
        await step.run('kept', () => 1)
        await step.run(name, () => 1)
        if (name === 'old') throw new Dead('deploy')
      },
    })
    const mill = await create({ jobs: [job] })
    const { id } = await mill.enqueue(job, null)
    await mill.drain()
    name = 'new'
    await mill.retry(id)
    await mill.drain()
    expect(mill.events.filter(({ type }) => type === 'steps-unused')).toMatchObject([{ id, steps: ['old'] }])
    await mill.clock.advance('20s')
    const findings = await mill.diagnostics()
    expect(findings.filter(({ check }) => check === 'steps')).toMatchObject([
      {
        about: { what: 'kind', name: 'renamed' },
        level: 'notice',
        message: '1 job of kind "renamed" completed without steps that were recorded before: "old"',
      },
    ])
  })
})
