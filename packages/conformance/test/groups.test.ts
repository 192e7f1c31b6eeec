// A store without an optional part passes every case that does not belong to that part: the groups are
// complete, and each absent one is reported.
import { describe, expect, test } from 'vitest'
import { inFull } from '../../../test/support/suite/in-full.ts'
import type { NewJob } from '../../jobmill/src/job/enqueue/new-job.ts'
import type { Store } from '../../jobmill/src/store/store.ts'
import { type OptionalGroup, OPTIONAL_GROUPS } from '../src/suite/groups.ts'
import type { ConformanceSubject } from '../src/suite/subject.ts'
import { conformanceCases, storeConformance } from '../src/suite/suite.ts'
import { oracle, oracleDatabase, type OracleTx, oracleTransaction } from '../src/oracle/oracle.ts'
import { testClock } from '../../jobmill/src/testing/test-clock.ts'

function oracleWithout(without: readonly OptionalGroup[], missing = without): ConformanceSubject {
  let database = oracleDatabase()
  return {
    name: 'oracle',
    without,
    fresh: async () => void (database = oracleDatabase()),
    handle: ({ clock = testClock().now }) => strip(oracle(database, { clock }), missing),
    ...(!missing.includes('transactions') && {
      transaction: (work, end) => oracleTransaction(database, work, end),
    }),
  }
}

function strip(store: Store, groups: readonly OptionalGroup[]): Store {
  const parts = groups.filter((group) => group !== 'directDispatch' && group !== 'transactions')
  return {
    ...store,
    ...Object.fromEntries(parts.map((part) => [part, undefined])),
    ...(groups.includes('directDispatch') && {
      // The oracle checks the offer, and ignores it for jobs that may be repeated.
      enqueue: (jobs: readonly NewJob[], options?: Parameters<Store<OracleTx>['enqueue']>[1]) =>
        store.enqueue(jobs, { ...options, mayRepeat: true }),
    }),
  }
}

function registered(subject: ConformanceSubject): Map<string, () => Promise<void>> {
  const tests = new Map<string, () => Promise<void>>()
  storeConformance(subject, (name, run) => tests.set(name, run))
  return tests
}

describe.each(OPTIONAL_GROUPS)('a store without %s', (group) => {
  test('passes every case that is run, and the others are counted in the report', async () => {
    const tests = registered(oracleWithout([group]))
    const left = conformanceCases.length - (tests.size - 1)
    expect([...tests.keys()].at(-1)).toBe(`absent: ${group} (${left} cases are not run)`)
    expect(left).toBeGreaterThan(0)
    // examples/memory-store, which has none of these parts, runs all other cases in npm test.
    for (const [name, run] of inFull([...tests], [...tests].slice(-50)))
      await run().catch((cause: unknown) => {
        throw new Error(`${name}, without ${group}`, { cause })
      })
  })

  test('fails the report if it has it after all', async () => {
    const report = [...registered(oracleWithout([group], []))].at(-1)?.[1]
    await expect(report?.()).rejects.toThrow(`the store has ${group}. Remove it from the option "without"`)
  })
})
