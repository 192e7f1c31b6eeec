// A list of known gaps must stay true: a gap that was closed, or never was one, fails.
import { expect, test } from 'vitest'
import type { ConformanceSubject } from '../src/suite/subject.ts'
import { conformanceCases, storeConformance } from '../src/suite/suite.ts'
import { oracle, oracleDatabase, oracleTransaction } from '../src/oracle/oracle.ts'
import { testClock } from '../../jobmill/src/testing/test-clock.ts'

/** The tests that the suite would register for an oracle with these known gaps. */
function registered(knownGaps: readonly string[]): Map<string, () => Promise<void>> {
  let database = oracleDatabase()
  const subject: ConformanceSubject = {
    name: 'oracle',
    fresh: async () => void (database = oracleDatabase()),
    handle: ({ clock = testClock().now }) => oracle(database, { clock }),
    transaction: (work, end) => oracleTransaction(database, work, end),
    knownGaps,
  }
  const tests = new Map<string, () => Promise<void>>()
  storeConformance(subject, (name, run) => tests.set(name, run))
  return tests
}

test('without gaps every case is registered under its own, unique name', () => {
  expect([...registered([]).keys()]).toEqual(conformanceCases.map(({ name }) => name))
})

test('a known gap that passes is an error', async () => {
  const [name = ''] = conformanceCases.map((each) => each.name)
  await expect(registered([name]).get(`known gap: ${name}`)?.()).rejects.toThrow('passes now')
})

test('a known gap that does not exist is an error', async () => {
  await expect(registered(['nothing']).get('known gap: nothing')?.()).rejects.toThrow(
    'no active case is named',
  )
})
