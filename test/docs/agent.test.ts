// Tests `npm run start:agent`, and what it counts.
import { expect, test } from 'vitest'
import { stepCounter } from '../../examples/agent/step-counter.ts'
import { inFull } from '../support/suite/in-full.ts'
import { exampleRunner, expectToShow, type Place, TIMEOUT_MS } from './run-example.ts'

const run = exampleRunner()

test.each(inFull<readonly Place[]>(['sqlite', 'postgres'], ['sqlite']))(
  'on %s, the agent finishes after kill -9, and no recorded step runs again',
  async (place) =>
    expectToShow(await run('agent/main.ts', place), [
      'runs     model 1\n',
      'runs     model 2\nruns     book_flight call_3\nkilled   the worker, with -9',
      'runs     book_flight call_3\nruns     model 3\n',
      'agent    Booked XY 447 as B-1. The forecast is 24 °C in Lisbon.',
      'counted  6 steps in 3 turns ran ',
      '; 1 flight is booked\n',
      'passed   no step ran again after it was recorded',
    ]),
  TIMEOUT_MS,
)

test('finds a step that runs again after it was recorded, and one that is not recorded', async () => {
  const counter = stepCounter(async () => [
    { name: 'model 1', endedAt: 1 },
    { name: 'book', endedAt: null },
    { name: 'model 2', endedAt: 2 },
  ])
  await counter.ran('model 1')
  await counter.ran('book')
  expect([...counter.runs()]).toEqual([
    ['model 1', 1],
    ['book', 1],
  ])
  expect(await counter.violations()).toEqual([
    'step "model 1" ran again after it was recorded',
    'step "book" ran, and is not recorded',
    'step "model 2" is recorded, and never ran',
  ])
})
