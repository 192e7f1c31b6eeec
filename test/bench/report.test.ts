// Tests the report of the benchmark: medians, targets and the files that it writes, on made-up figures. Also
// checks that its peers can be installed on the machines that we support.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type Target, targetsOf } from '../../bench/report/targets.ts'
import { median, type Raw, summarize } from '../../bench/report/figures.ts'
import { toJson } from '../../bench/report/json.ts'
import { numberText, toMarkdown } from '../../bench/report/markdown.ts'
import { type Findings, reportOf } from '../../bench/report/report.ts'
import { deliveries } from '../../bench/cell/deliveries.ts'

function raw(name: string, system: string, value: number, more: Partial<Raw> = {}): Raw {
  const unit = 'jobs/s'
  return { case: name, store: 'postgres', system, setting: 'best', unit, value, jobs: 1_000, ...more }
}

const ours = { setting: 'default' } as const
const targetsFor = (...figures: Raw[]): Target[] => targetsOf(summarize(figures))

const RESULTS: Findings = {
  startedAt: '2027-01-31T09:00:00.000Z',
  minutes: 7.5,
  quick: true,
  machine: {
    cores: 2,
    processor: 'Abacus 9',
    memoryGb: 8,
    system: 'Linux 6.1',
    node: 'v24.0.0',
    syncUs: 50,
    loadBefore: 0.1,
    loadAfter: 1.9,
    noise: 0.05,
  },
  servers: [{ name: 'PostgreSQL', version: '18.4', settings: 'as it comes' }],
  systems: [],
  figures: [
    raw('d', 'jobmill', 60_000, ours),
    raw('d', 'jobmill', 90_000, ours),
    raw('d', 'jobmill', 75_000, ours),
    raw('d', 'graphile-worker', 30_000),
    raw('d', 'graphile-worker', 2_000, { setting: 'default' }),
    raw('d-cpu', 'jobmill', 15, { ...ours, unit: 'µs/job' }),
    raw('d-cpu', 'graphile-worker', 10, { unit: 'µs/job' }),
  ],
  failures: [
    { case: 'e', store: 'postgres', system: 'pg-boss', setting: 'best', text: 'not done within 30 s' },
  ],
  notes: [],
}

describe('medians', () => {
  test.each([
    [[3], 3],
    [[9, 1, 5], 5],
    [[4, 1, 2, 3], 2.5],
  ])('of %j', (values, middle) => expect(median(values)).toBe(middle))

  test('one line for each case, store, system and setting, with minimum and maximum', () => {
    const lines = summarize([...RESULTS.figures, raw('d', 'jobmill', 1, { ...ours, store: 'sqlite' })])
    expect(lines).toHaveLength(6)
    expect(lines[0]).toEqual({
      case: 'd',
      store: 'postgres',
      system: 'jobmill',
      setting: 'default',
      unit: 'jobs/s',
      median: 75_000,
      min: 60_000,
      max: 90_000,
      jobs: 1_000,
      values: [60_000, 90_000, 75_000],
    })
  })
})

describe('targets', () => {
  test('a rate must be a multiple of the other, with the setting that the target names', () => {
    expect(targetsOf(summarize(RESULTS.figures)).slice(0, 2)).toEqual([
      {
        case: 'd',
        store: 'postgres',
        against: 'graphile-worker, best',
        ratio: 2.5,
        target: 1.35,
        goal: 1.5,
        way: 'at least',
        met: true,
      },
      {
        case: 'd',
        store: 'postgres',
        against: 'graphile-worker, default',
        ratio: 37.5,
        target: 25,
        goal: null,
        way: 'at least',
        met: true,
      },
    ])
  })

  test('a cost must be at most a fraction of the other', () => {
    const [target] = targetsOf(summarize(RESULTS.figures)).filter((one) => one.case === 'd-cpu')
    expect(target).toMatchObject({ ratio: 1.5, target: 0.8, way: 'at most', met: false })
  })

  test('without a setting, the better setting of the other system counts', () => {
    const ms = { unit: 'ms' }
    const [target] = targetsFor(
      raw('f-other', 'jobmill', 1, { ...ours, ...ms }),
      raw('f-other', 'graphile-worker', 4, ms),
      raw('f-other', 'graphile-worker', 2, { ...ms, setting: 'default' }),
    )
    expect(target).toMatchObject({ against: 'graphile-worker', ratio: 0.5, met: true })
  })

  test('of several peers the best counts, also on another store', () => {
    const targets = targetsFor(
      raw('c', 'jobmill', 90, ours),
      raw('c', 'graphile-worker', 30),
      raw('c', 'pg-boss', 50),
      raw('b', 'jobmill', 90, ours),
      raw('b', 'bullmq-redis', 30, { store: 'redis' }),
    )
    expect(targets.map(({ case: name, ratio, met }) => [name, ratio, met])).toEqual([
      ['b', 3, true],
      ['c', 1.8, false],
    ])
  })

  test('some compare Jobmill with itself, some with a plain number', () => {
    const lite = { ...ours, store: 'sqlite' } as const
    const targets = targetsFor(
      raw('d', 'jobmill', 100, lite),
      raw('g', 'jobmill', 91, lite),
      raw('f-same', 'jobmill', 0.6, { ...lite, unit: 'ms' }),
    )
    expect(targets.map(({ case: name, ratio, met }) => [name, ratio, met])).toEqual([
      ['f-same', 0.6, false],
      ['g', 0.91, true],
    ])
  })

  test('with slow commits, the better setting of the peer counts for the rate and for the pickup', () => {
    const ms = { unit: 'ms' }
    const targets = targetsFor(
      raw('slow-commits', 'jobmill', 900, ours),
      raw('slow-commits', 'graphile-worker', 1_000),
      raw('slow-commits', 'graphile-worker', 400, { setting: 'default' }),
      raw('slow-commits-p99', 'jobmill', 10, { ...ours, ...ms }),
      raw('slow-commits-p99', 'graphile-worker', 90, ms),
      raw('slow-commits-p99', 'graphile-worker', 20, { ...ms, setting: 'default' }),
    )
    expect(targets.map(({ case: name, ratio, met }) => [name, ratio, met])).toEqual([
      ['slow-commits', 0.9, false],
      ['slow-commits-p99', 0.5, true],
    ])
  })

  test('steps: the better setting of a peer counts, and growth and resume are plain numbers', () => {
    const steps = { unit: 'steps/s' }
    const targets = targetsFor(
      raw('steps', 'jobmill', 9_000, { ...ours, ...steps }),
      raw('steps', 'dbos', 1_000, steps),
      raw('steps', 'openworkflow', 500, { ...ours, ...steps }),
      raw('steps', 'openworkflow', 1_000, steps),
      raw('steps-long-ratio', 'jobmill', 1.3, { ...ours, unit: 'ratio' }),
      raw('steps-long-resume', 'jobmill', 20, { ...ours, unit: 'ms' }),
    )
    expect(targets.map(({ against, ratio, met }) => [against, ratio, met])).toEqual([
      ['dbos', 9, false],
      ['openworkflow', 9, true],
      ['the first 100 of 1,000 steps', 1.3, false],
      ['milliseconds', 20, true],
    ])
  })

  test('a case that was not measured has no target, and our best setting does not count', () => {
    expect(targetsFor(raw('d', 'jobmill', 1), raw('d', 'graphile-worker', 1))).toEqual([])
    expect(targetsFor(raw('d', 'jobmill', 1, ours))).toEqual([])
  })
})

describe('the files', () => {
  test('JSON has one figure or target per line', () => {
    const text = toJson(reportOf(RESULTS))
    const read = JSON.parse(text) as ReturnType<typeof reportOf>
    expect(read).toEqual(reportOf(RESULTS))
    expect(read.figures.map((one) => Object.keys(one).slice(0, 8))).toContainEqual([
      'case',
      'store',
      'system',
      'setting',
      'unit',
      'median',
      'min',
      'max',
    ])
    expect(text.split('\n').filter((line) => line.includes('"against"'))).toHaveLength(read.targets.length)
    expect(JSON.parse(toJson(reportOf({ ...RESULTS, figures: [] })))).toMatchObject({
      targets: [],
      figures: [],
    })
  })

  test('Markdown shows met and missed targets, and failures', () => {
    const text = toMarkdown(reportOf(RESULTS))
    expect(text).toContain(
      '| d | postgres | graphile-worker, best | 2.5 | ≥ 1.35 | ≥ 1.5 | met, and the goal |',
    )
    expect(text).toContain(
      '| d-cpu | postgres | graphile-worker, best | 1.5 | ≤ 0.8 | ≤ 0.5 | **missed by 88%** |',
    )
    expect(text).toContain('| jobmill, default | postgres | 1,000 | **75,000** (60,000–90,000, 3) | 15 |')
    expect(text).toContain('- e, pg-boss (postgres, best): not done within 30 s')
    expect(text).toContain('2 cores of Abacus 9')
  })

  test.each([
    [0, '0'],
    [32_267.4, '32,267'],
    [29.04, '29'],
    [1.2345, '1.23'],
    [0.01234, '0.0123'],
    [Number.NaN, '–'],
  ])('%f is written as %s', (value, text) => expect(numberText(value)).toBe(text))
})

describe('exact delivery', () => {
  test('accepts every job once', async () => {
    const { ran, all, check } = deliveries(2)
    ran(1)
    ran(0)
    await all
    expect(check).not.toThrow()
  })

  test.each([
    ['a missing job', [0, 2], '1 missing, 0 run twice'],
    ['a job that ran twice', [0, 1, 2, 1], '0 missing, 1 run twice'],
  ])('%s is not', (_what, runs, message) => {
    const { ran, check } = deliveries(3)
    for (const n of runs) ran(n)
    expect(check).toThrow(message)
  })
})

test('the lockfile of the peers names no registry, and has every binary for Linux', () => {
  const text = readFileSync(new URL('../../bench/package-lock.json', import.meta.url), 'utf8')
  const { packages } = JSON.parse(text) as {
    packages: Record<string, { optionalDependencies?: Record<string, string> }>
  }
  const wanted = Object.values(packages).flatMap(({ optionalDependencies = {} }) =>
    Object.keys(optionalDependencies).filter((name) => /linux-(?:x64|arm64)$/.test(name)),
  )
  expect(text).not.toContain('"resolved"')
  expect(wanted.length).toBeGreaterThan(0)
  // `npm ci` refuses a lockfile without them.
  expect(wanted.filter((name) => packages[`node_modules/${name}`] === undefined)).toEqual([])
})
