// Tests the judge of `npm run soak` on made-up series: it separates growth from noise. Also tests the
// options. The soak itself takes half an hour.
import { describe, expect, test } from 'vitest'
import { FIGURE_NAMES, type Figure, type Sample } from '../../proof/soak/verdict/figures.ts'
import { flatness, type Point } from '../../proof/soak/verdict/flatness.ts'
import { readOptions } from '../../proof/soak/options.ts'
import { leaksFrom } from '../../proof/soak/planted.ts'
import { report } from '../../proof/soak/verdict/report.ts'
import { type Facts, judge } from '../../proof/soak/verdict/verdict.ts'

const COUNT = 180
/** Noise within ±1, the same in every run. */
const noise = (at: number): number => Math.sin(at * 12.9898) * Math.cos(at * 78.233)
/** `of` gets the elapsed share of the time, from 0 to 1. */
const series = (of: (part: number, at: number) => number): Point[] =>
  Array.from({ length: COUNT }, (_, at) => ({ atMs: at * 10_000, value: of(at / (COUNT - 1), at) }))
const three = { share: 0.03, least: 0 }

describe('a series is flat', () => {
  test.each<[string, (part: number, at: number) => number]>([
    ['that does not change', () => 100],
    ['that only moves up and down', (_, at) => 100 + 10 * noise(at)],
    ['that grew while it warmed up', (part, at) => 100 + 50 * Math.min(part, 0.4) + noise(at)],
    ['that shrinks', (part) => 100 - 30 * part],
    ['in which a tenth of the samples are far off', (_, at) => (at % 10 === 3 ? 1_000 : 100) + noise(at)],
    ['that jumps about without a direction', (_, at) => 100 + 60 * noise(at * at)],
    ['that saws', (_, at) => 100 + (at % 12)],
    ['of nothing', () => 0],
  ])('%s', (_, of) => {
    expect(flatness(series(of), three)).toMatchObject({ isFlat: true })
  })
})

describe('a series grows', () => {
  test.each<[string, (part: number, at: number) => number]>([
    ['by a little all the time', (part) => 100 + 8 * part],
    ['under noise that is larger than it', (part, at) => 100 + 10 * part + 8 * noise(at)],
    [
      'with samples that are far off in the other direction',
      (part, at) => 100 + 10 * part - (at % 10 === 3 ? 90 : 0),
    ],
    ['only in the second half', (part) => 100 + 10 * Math.max(0, part - 0.5)],
    ['in steps', (part) => 100 + Math.floor(part * 10)],
  ])('%s', (_, of) => {
    expect(flatness(series(of), three)).toMatchObject({ isFlat: false })
  })

  test('reports the growth and its start level in the second half', () => {
    const { level, grown, share } = flatness(
      series((part) => 100 + 20 * part),
      three,
    )
    expect(level).toBeCloseTo(110, 0)
    expect(grown).toBeCloseTo(10, 0)
    expect(share).toBeCloseTo(0.09, 2)
  })

  test('is flat below the tolerance', () => {
    const few = series((part) => 10 + 3 * part)
    expect(flatness(few, { share: 0.03, least: 2 }).isFlat).toBe(true)
    expect(flatness(few, { share: 0.03, least: 1 }).isFlat).toBe(false)
  })
})

test('too few samples prove nothing', () => {
  expect(() => flatness(series(() => 1).slice(0, 15), three)).toThrow('too few samples: 8 in the second half')
})

const MB = 1024 ** 2
const LEVELS: Readonly<Record<Figure, number>> = {
  heap: 18 * MB,
  native: 9 * MB,
  rss: 120 * MB,
  resources: 30,
  files: 27,
  listeners: 12,
  rows: 7_000,
  size: 5 * MB,
}

function facts(growing: readonly Figure[] = [], end: Partial<Facts['end']> = {}): Facts {
  const samples = series((part) => part).map(({ atMs, value }): Sample => {
    const sample = Object.fromEntries(
      FIGURE_NAMES.map((figure) => [figure, LEVELS[figure] * (growing.includes(figure) ? 1 + value : 1)]),
    )
    return { atMs, acknowledged: atMs / 20, ...(sample as Record<Figure, number>) }
  })
  const counts = { acknowledged: 10, done: 7, dead: 1, cancelled: 2, lost: 0 }
  const progress = { counts, open: 0, refused: 0, unknown: 0 }
  const ended = { progress, waiting: 0, ticks: 60, broken: [], exited: true, ...end }
  return { store: 'sqlite', minutes: 30, samples, visits: 3, end: ended }
}

const counted = (counts: Partial<Facts['end']['progress']['counts']>, open = 0): Partial<Facts['end']> => {
  const { progress } = facts().end
  return { progress: { ...progress, counts: { ...progress.counts, ...counts }, open } }
}

describe('the judge of a soak', () => {
  test('accepts flat series and ended jobs', () => {
    const verdict = judge(facts())
    expect(verdict.broken).toEqual([])
    expect(report(verdict)).toContain('flat, and every acknowledged job has ended.')
    expect(report(verdict)).toContain('load 50.0 and then 50.0 jobs a second')
  })

  test.each(FIGURE_NAMES)('reports growing %s, and nothing else', (figure) => {
    const verdict = judge(facts([figure]))
    expect(verdict.broken).toEqual([expect.stringMatching(/^leak: .* grew by .* in the second half\.$/)])
    expect(report(verdict)).toContain('GROWS')
  })

  test.each<[string, Partial<Facts['end']>, string]>([
    ['a lost job', counted({ done: 6, lost: 1 }), 'lost: 1 acknowledged jobs are not in the store.'],
    ['an open job', counted({ done: 6 }, 1), 'not ended: 1 acknowledged jobs.'],
    ['a count that does not add up', counted({ done: 6 }), 'counts: 10 acknowledged, and 9 ended.'],
    ['jobs that wait', { waiting: 2 }, 'not ended: the store counts 2 jobs that wait or run.'],
    [
      'a process that does not end',
      { exited: false },
      'leak: the process did not exit on its own after the mill was stopped.',
    ],
    ['anything else', { broken: ['act 3: odd'] }, 'act 3: odd'],
  ])('reports %s', (_, end, sentence) => {
    expect(judge(facts([], end)).broken).toEqual([sentence])
  })
})

describe('the options of a soak', () => {
  test('are read, with defaults', () => {
    expect(readOptions([])).toEqual({ minutes: 30, stores: ['sqlite', 'postgres'], json: null })
    expect(readOptions(['--minutes', '10', '--store', 'postgres', '--json', 'x.json'])).toEqual({
      minutes: 10,
      stores: ['postgres'],
      json: 'x.json',
    })
    expect(readOptions(['-h'])).toBeNull()
    expect(leaksFrom('rows, memory')).toEqual(['memory', 'rows'])
  })

  test.each([
    [['--minutes', '3'], '--minutes: must be a whole number from 4 to 1440 (got "3")'],
    [['--store', 'mysql'], '--store: must be sqlite, postgres, both (got "mysql")'],
  ])('%j is refused, with the name of the option', (args, message) =>
    expect(() => readOptions(args)).toThrow(message),
  )

  test('an unknown leak is refused', () => {
    expect(() => leaksFrom('disk')).toThrow('JOBMILL_SOAK_LEAK: unknown value (got "disk")')
  })
})
