/** Options, and messages of pool children: refused with a JobmillError, or understood. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyCharacter } from '../../../../test/support/any-character.ts'
import { defineJob } from '../../src/job/definition.ts'
import { checkOptions, jobmill } from '../../src/runtime/mill.ts'
import { sqlite } from '../../src/sqlite.ts'
import { postgres } from '../../src/postgres.ts'
import { poolPlan } from '../../src/work/handlers/pool-options.ts'
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

const CALLS: readonly ((given: never) => unknown)[] = [
  (given) => jobmill(given),
  (given) => defineJob(given),
  (given) => sqlite(given),
  (given) => sqlite('x.db', given),
  (given) => postgres(given),
  (given) => postgres('postgres://localhost/x', given),
  (given) => poolPlan(given),
]

const isTold = (given: unknown): boolean =>
  faultOf(() => checkOptions(given as never), Array.isArray) === null
const isRefused = (call: (given: never) => unknown, given: unknown): boolean =>
  faultOf(() => call(given as never)) === null
const isFew = (told: string): boolean => told.length < 1_000

describe('hostile options', () => {
  test('of a mill are told as problems, whatever they are', () => {
    const options = fc.dictionary(fc.constantFrom(...KEYS, '__proto__', 'constructor'), anything)
    expect(brokenBy(fc.property(fc.oneof(anything, options), isTold))).toBeNull()
  })

  test('of mills, jobs, stores and pools are refused in our words', () => {
    expect(CALLS.flatMap((call) => faultsOf(TEXTS, (text) => call(text as never)))).toEqual([])
    expect(brokenBy(fc.property(fc.constantFrom(...CALLS), anything, isRefused))).toBeNull()
  })
})

/** The meaning of a message, or why it is invalid. */
function understood(line: string): string {
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
  test('are an answer, or what is wrong with it in a few words', () => {
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
    expect(brokenBy(fc.property(lines, (line) => faultOf(() => understood(line), isFew) === null))).toBeNull()
    expect(faultsOf(TEXTS, understood)).toEqual([])
  })
})
