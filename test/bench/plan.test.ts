// Tests the plan of the benchmark and its options: which cells a run has, in which order and size.
import { describe, expect, test } from 'vitest'
import { OptionError, readOptions } from '../../bench/options.ts'
import { planCells } from '../../bench/plan/plan.ts'

function jobsOf(quick: boolean, name: string, setting: string): number {
  const cells = planCells({ quick, only: [name], systems: ['graphile-worker'] })
  return cells.find((one) => one.case === name && one.setting === setting)?.jobs ?? 0
}

describe('the plan', () => {
  test('systems take turns, and each round starts with another', () => {
    const cells = planCells({ quick: true, only: ['d-nothing-kept'], rounds: 2 })
    const [first, second] = [0, 1].map((round) => cells.filter((one) => one.round === round))
    expect(first?.map((one) => one.system)).not.toEqual(second?.map((one) => one.system))
    expect(new Set(first?.map((one) => one.system))).toEqual(new Set(second?.map((one) => one.system)))
  })

  test('a quick run is smaller, and slow systems get fewer jobs', () => {
    expect(jobsOf(true, 'c', 'best')).toBeLessThan(jobsOf(false, 'c', 'best'))
    expect(jobsOf(true, 'd', 'default')).toBeLessThan(jobsOf(true, 'd', 'best'))
    expect(jobsOf(true, 'd', 'default')).toBeGreaterThan(0)
  })

  test.each(['d', 'j-2'])('%s: a system that drains all jobs in a few seconds gets all of them', (name) => {
    expect([jobsOf(true, name, 'best'), jobsOf(false, name, 'best')]).toEqual([60_000, 100_000])
  })

  test('a quick run measures the peers of a target once, and a full run as often as Jobmill', () => {
    const cells = [true, false].map((quick) => planCells({ quick, only: ['b'], systems: ['plainjob'] }))
    expect(cells.map(({ length }) => length)).toEqual([1, 3])
  })
})

const casesOf = (quick: boolean, only?: string[]): Set<string> =>
  new Set(planCells({ quick, only }).map((one) => one.case))

describe('cases of a full run only', () => {
  test('are in a full run, and in a quick one only if they are named', () => {
    for (const name of ['slow-commits', 'e-nothing-kept', 'steps-long']) {
      expect(casesOf(false)).toContain(name)
      expect(casesOf(false, [name])).toEqual(new Set([name]))
      expect(casesOf(true)).not.toContain(name)
      expect(casesOf(true, [name])).toEqual(new Set([name]))
    }
  })
})

describe('options', () => {
  const known = { cases: ['d', 'f-same'], systems: ['jobmill'] }

  test('are read, with the files next to each other', () => {
    const args = ['--quick', '--only', 'd,f', '--payload', '1000', '--json', 'x/y.json']
    expect(readOptions(args, known)).toEqual({
      quick: true,
      only: ['d', 'f'],
      systems: undefined,
      rounds: undefined,
      payload: 1_000,
      json: 'x/y.json',
      markdown: 'x/y.md',
    })
  })

  test.each([
    [['--quik'], /--quik.*Options:[^]*--quick/],
    [['--only', 'z'], /--only: unknown name \(got z\). Use one of: d, f-same/],
    [['--systems', 'bull'], /--systems: unknown name \(got bull\). Use one of: jobmill/],
    [['--rounds', 'many'], /--rounds: must be a whole number from 1/],
    [['--payload', '1KB'], /--payload: must be a whole number from 1 \(got 1KB\)/],
    [['extra'], /extra/],
  ])('%j is refused with the fix', (args, message) => {
    expect(() => readOptions(args, known)).toThrow(OptionError)
    expect(() => readOptions(args, known)).toThrow(message)
  })
})
