/** Options, and messages of pool children: refused with a JobmillError, or understood. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyCharacter } from '../../../../test/support/any-character.ts'
import { defineJob } from '../../src/job/kind/definition.ts'
import { checkOptions, jobmill } from '../../src/runtime/jobmill.ts'
import { sqlite } from '../../src/sqlite.ts'
import { postgres } from '../../src/postgres.ts'
import { poolPlan } from '../../src/work/handlers/worker-pool.ts'
import { readAnswer, resultOf } from '../../src/work/handlers/pool-messages.ts'
import { brokenBy, faultOf, faultsOf, TEXTS } from './corpus.ts'

const anything = fc.anything({ withBigInt: true, withNullPrototype: true, maxDepth: 2 })
const KEYS = [
  'store',
  'jobs',
  'queues',
  'limits',
  'schedules',
  'serve',
  'route',
  'capacity',
  'retain',
  'lease',
  'grace',
  'log',
]

const CALLS: readonly ((input: never) => unknown)[] = [
  (input) => jobmill(input),
  (input) => defineJob(input),
  (input) => sqlite(input),
  (input) => sqlite('x.db', input),
  (input) => postgres(input),
  (input) => postgres('postgres://localhost/x', input),
  (input) => poolPlan(input),
]

const yieldsProblems = (input: unknown): boolean =>
  faultOf(() => checkOptions(input as never), Array.isArray) === null
const isRefused = (call: (input: never) => unknown, input: unknown): boolean =>
  faultOf(() => call(input as never)) === null
const isShort = (message: string): boolean => message.length < 1_000

describe('hostile options', () => {
  test('of a mill are reported as problems, whatever they are', () => {
    const options = fc.dictionary(fc.constantFrom(...KEYS, '__proto__', 'constructor'), anything)
    expect(brokenBy(fc.property(fc.oneof(anything, options), yieldsProblems))).toBeNull()
  })

  test('of mills, jobs, stores and pools are refused with our errors', () => {
    expect(CALLS.flatMap((call) => faultsOf(TEXTS, (text) => call(text as never)))).toEqual([])
    expect(brokenBy(fc.property(fc.constantFrom(...CALLS), anything, isRefused))).toBeNull()
  })
})

/** The meaning of a message, or why it is invalid. */
function meaningOf(line: string): string {
  const answer = readAnswer(line, '1')
  if ('wrong' in answer) return answer.wrong
  try {
    resultOf(answer)
    return 'ok'
  } catch (error) {
    if (error instanceof Error) return 'it failed'
    throw error
  }
}

describe('hostile answers of a child', () => {
  test('are parsed, or refused with a short reason', () => {
    const fields = {
      id: fc.constantFrom('1', 1, null),
      status: fc.constantFrom('ok', 'error', 'throttled', 'dead', 'no', 7),
      result: fc.jsonValue(),
      message: fc.jsonValue(),
      retryAfterMs: fc.oneof(fc.jsonValue(), fc.double()),
    }
    const lines = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.json(),
      fc.record(fields, { requiredKeys: [] }).map((value) => JSON.stringify(value)),
    )
    expect(
      brokenBy(fc.property(lines, (line) => faultOf(() => meaningOf(line), isShort) === null)),
    ).toBeNull()
    expect(faultsOf(TEXTS, meaningOf)).toEqual([])
  })
})
