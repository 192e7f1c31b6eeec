/** The limit on the results of all steps of a job. */
import { expect, test } from 'vitest'
import { defineJob, type JobContext } from '../../src/index.ts'
import { runJob } from '../../src/testing/index.ts'

const MEBIBYTE = 2 ** 20
/** As JSON text, 64 of them are the limit. */
const full = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`step ${n}`, 'x'.repeat(MEBIBYTE - 2)]))
const ran = (run: (context: JobContext) => unknown, steps: object, events = {}) =>
  runJob(defineJob({ kind: 'a', run }), null, { steps: { ...steps }, events })

test('the result that exceeds 64 MiB is refused, before it is recorded', async () => {
  const run = await ran(({ step }) => step.run('more', () => 'x'), full(64))
  expect(run).toMatchObject({ outcome: 'failed', error: { code: 'STEPS_TOO_MANY' }, steps: [] })
})

test('P18 an event that exceeds it is received, because it is recorded by then, and the next result is refused', async () => {
  const events = { e: 'y'.repeat(MEBIBYTE - 2) }
  const received = await ran(
    async ({ step }) => (await step.waitForEvent('e')) === events.e,
    full(64),
    events,
  )
  expect(received).toMatchObject({ outcome: 'returned', result: true })
  const run = await ran(
    async ({ step }) => {
      await step.waitForEvent('e')
      return step.run('more', () => 'x')
    },
    full(64),
    events,
  )
  expect(run).toMatchObject({ outcome: 'failed', error: { code: 'STEPS_TOO_MANY' } })
  expect(run.steps.map(({ name }) => name)).toEqual(['e'])
})
