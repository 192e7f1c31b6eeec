/**
 * Tests the parts of the chaos run that need no chaos: options, summaries, and what it reads from ledgers and
 * stores.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { clockFile } from '../../proof/chaos/clock-file.ts'
import { NAMES, NEMESES, strikes } from '../../proof/chaos/nemeses/all.ts'
import { readOptions } from '../../proof/chaos/options.ts'
import type { RoundResult } from '../../proof/chaos/rounds/round.ts'
import { summaryOf, tableOf } from '../../proof/chaos/summary.ts'
import { repeats } from '../../proof/cluster/verdict/repeats.ts'
import type { Run } from '../../proof/cluster/ledger.ts'

describe('the options of chaos', () => {
  test('default to each nemesis once on both stores', () => {
    expect(readOptions(['--seed', '7'])).toEqual({
      minutes: 0,
      seed: 7,
      stores: ['postgres', 'sqlite'],
      only: NAMES,
      rate: 50,
      json: undefined,
    })
    expect(readOptions(['--quick', '--seed', '7'])).toEqual(readOptions(['--seed', '7']))
  })

  test('are checked, and errors name the option', () => {
    expect(() => readOptions(['--only', 'kill,nuke'])).toThrow(
      '--only: unknown nemesis (got nuke). Use kill, ',
    )
    expect(() => readOptions(['--only', 'pg-restart,xmin-pin', '--store', 'sqlite'])).toThrow(
      '--only: nothing of pg-restart, xmin-pin can happen on sqlite',
    )
    expect(() => readOptions(['--store', 'mysql'])).toThrow('--store: must be postgres or sqlite (got mysql)')
    expect(() => readOptions(['--minutes', 'x'])).toThrow(
      '--minutes: must be a whole number from 1 to 100000 (got x)',
    )
    expect(() => readOptions(['--quick', '--minutes', '3'])).toThrow(
      '--quick: cannot be combined with --minutes',
    )
    expect(() => readOptions(['--fast'])).toThrow(/--fast.*npm run chaos/s)
    expect(readOptions(['--help'])).toBeNull()
  })
})

function round(more: Partial<RoundResult>): RoundResult {
  const figures = { lost: 0, acknowledged: 10, finished: 10, staleWritesRefused: 1 }
  return { struck: [], broken: [], ...figures, ...more }
}

function run(token: number, startedAt: number, endedAt: number, worker: number): Run {
  const reportedAt = worker === 1 ? null : endedAt
  return {
    worker,
    id: 'a',
    n: 1,
    orderKey: null,
    token,
    attempt: 1,
    startedAt,
    endedAt,
    how: 'returned',
    reportedAt,
  }
}

describe('chaos', () => {
  test('knows every nemesis by its name, on every store that it can happen to', () => {
    expect(NAMES.toSorted()).toEqual(
      [
        'kill',
        'stop-cont',
        'term',
        'clock-step',
        'pg-restart',
        'pg-terminate',
        'pg-failover',
        'net-cut',
        'net-blackhole',
        'pool-exhaustion',
        'disk-full',
        'xmin-pin',
        'start-storm',
        'power-cut',
        'odd-errors',
        'async-failover',
        'failover-sync',
        'restored-backup',
        'outages',
        'rolling-deploy',
        'steps',
      ].toSorted(),
    )
    const onSqlite = NEMESES.filter(({ stores }) => stores.includes('sqlite')).map(({ name }) => name)
    expect(onSqlite).toEqual(['kill', 'stop-cont', 'term', 'clock-step', 'disk-full'])
    const withScenes = ['restored-backup', 'rolling-deploy', 'power-cut', 'start-storm', 'steps']
    expect(withScenes.every((name) => strikes(name, 'sqlite'))).toBe(true)
    expect(
      ['outages', 'async-failover', 'failover-sync', 'odd-errors'].some((name) => strikes(name, 'sqlite')),
    ).toBe(false)
  })

  test('docs/internals/reliability.md says for each nemesis what is lost', () => {
    const page = readFileSync(path.join(import.meta.dirname, '../../docs/internals/reliability.md'), 'utf8')
    const [, section = ''] = page.split('| nemesis | what happens |')
    const rows = (section.split('\n\n')[0] ?? '').split('\n').slice(2)
    const listed = rows.map((row) => row.split('|').map((cell) => cell.trim()))
    expect(new Set(listed.map(([, name]) => name))).toEqual(new Set(NAMES))
    for (const [, name, what, struck, lost] of listed)
      expect([name, what, struck, lost]).toEqual([
        name,
        ...Array<unknown>(3).fill(expect.stringMatching(/\w/)),
      ])
  })

  test('sums up rounds: how often each nemesis struck, its slowest recovery, and every broken guarantee', () => {
    const kill = { name: 'kill', store: 'sqlite', injected: 1 } as const
    const summary = summaryOf(7, [
      round({ struck: [{ ...kill, recoverySeconds: 9 }] }),
      round({
        struck: [
          { ...kill, recoverySeconds: 11 },
          { ...kill, store: 'postgres', recoverySeconds: null },
        ],
      }),
      round({ broken: ['lost: 1 job'], lost: 1, unreplicated: 3, rolledBack: 4 }),
    ])
    expect(summary).toEqual({
      seed: 7,
      violations: 1,
      lost: 1,
      unreplicated: 3,
      rolledBack: 4,
      acknowledged: 30,
      finished: 30,
      staleWritesRefused: 3,
      nemeses: [
        { name: 'kill', store: 'sqlite', injected: 2, recoverySeconds: 11 },
        { name: 'kill', store: 'postgres', injected: 1, recoverySeconds: null },
      ],
      broken: ['lost: 1 job'],
    })
    expect(tableOf(summary)).toContain('| kill | postgres | 1 | never |')
    expect(tableOf(summary)).toMatch(/Violated:\nlost: 1 job$/)
  })

  test('explains a second run of a job only by a worker that was stopped at that time', () => {
    const runs = [run(1, 100, 13_200, 1), run(2, 10_000, 10_100, 2)]
    const trouble = { deaths: [], losses: [], outages: [] }
    const why = (stillnesses: Parameters<typeof repeats>[1]['stillnesses']): string | undefined =>
      repeats(runs, { ...trouble, stillnesses })[0]?.why
    expect(why([{ worker: 1, from: 200, to: 13_000 }])).toBe('stood still')
    expect(why([{ worker: 2, from: 200, to: 13_000 }])).toBe('no reason')
    expect(why([{ worker: 1, from: 10_001, to: 13_000 }])).toBe('no reason')
    expect(why([])).toBe('no reason')
    // The worker was frozen between its look at the lease and the start, and starts the job when it wakes up.
    const late = [run(1, 13_200, 13_300, 1), run(2, 10_000, 10_100, 2)]
    const whyLate = (to: number): string | undefined =>
      repeats(late, { ...trouble, stillnesses: [{ worker: 1, from: 200, to }] })[0]?.why
    expect([12_300, 12_100].map(whyLate)).toEqual(['stood still', 'no reason'])
  })

  test('writes the clock of its workers in the format of libfaketime', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'jobmill-clock-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const clock = clockFile(folder, import.meta.filename)
    const read = (): string => readFileSync(clock?.env['FAKETIME_TIMESTAMP_FILE'] ?? '', 'utf8')
    expect(read()).toBe('+0\n')
    clock?.set(-3_600)
    expect(read()).toBe('-3600\n')
    clock?.set(3_600)
    expect(read()).toBe('+3600\n')
  })
})
