/** The reference pages say what the code says about names, errors, defaults and events. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { BOUNDS, DEFAULTS } from '../../src/job/defaults.ts'
import { statusOf } from '../../../server/src/problem.ts'
import { ERRORS, type ErrorCode, JobmillError } from '../../src/job/errors.ts'
import type { EventTable, EventType } from '../../src/job/events.ts'

const page = (name: string): string =>
  readFileSync(new URL(`../../../../docs/reference/${name}`, import.meta.url), 'utf8')

/** The cells of every row of every table below a heading, without the head rows. */
function rowsBelow(text: string, heading: string): string[][] {
  const part = text.split(/^## /m).find((section) => section.startsWith(`${heading}\n`))
  if (part === undefined) throw new Error(`the page has no heading "${heading}"`)
  return part
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
}

const plain = (cell: string | undefined): string => (cell ?? '').replaceAll('`', '')

const TIMES = { ms: 1, s: 1_000, min: 60_000, h: 3_600_000, days: 86_400_000 }
const UNITS: Readonly<Record<string, number>> = {
  ...TIMES,
  bytes: 1,
  KiB: 1_024,
  MiB: 1_048_576,
}

/** Parses `10 s`, `1 MiB`, `4,096`, `-32,768 to 32,767`, `2200-01-01T00:00:00Z`, or a text. */
function figure(cell: string | undefined, key: string): unknown {
  const text = plain(cell)
  if (key.endsWith('At')) return Date.parse(text)
  const [least, most] = text.split(' to ')
  if (most !== undefined) return { least: figure(least, ''), most: figure(most, '') }
  const [, amount, unit] = /^(-?[\d,.]+)(?: (\w+))?$/.exec(text) ?? []
  if (amount === undefined) return text
  const size = unit === undefined ? 1 : UNITS[unit]
  if (size === undefined) throw new Error(`"${text}" has a unit that this test does not know`)
  if (key.endsWith('Ms') !== Object.hasOwn(TIMES, unit ?? '')) throw new Error(`${key}: ${text}`)
  return Number(amount.replaceAll(',', '')) * size
}

describe('docs/reference/errors.md', () => {
  const rows = rowsBelow(page('errors.md'), 'Codes')

  test('lists every code once, in the order of the code', () => {
    expect(rows.map(([code]) => plain(code))).toEqual(Object.keys(ERRORS))
  })

  test.each(Object.entries(ERRORS))('describes %s as the code does', (code, sentence) => {
    const row = rows.find(([cell]) => plain(cell) === code) ?? []
    expect(row).toHaveLength(4)
    expect(row[1]).toBe(sentence)
    expect(row[2]).toMatch(/^[A-Z].{10}/)
    expect(row[3]).toBe(new JobmillError(code as ErrorCode, 'x').retryable ? 'yes' : 'no')
  })
})

test('N18 each error has the status code of the HTTP API, and docs/reference/errors.md lists those other than 400', () => {
  const rows = [...page('errors.md').matchAll(/^\| (\d{3}) \| (.*) \|$/gm)]
  const listed = rows.flatMap(([, status, codes = '']) =>
    [...codes.matchAll(/`(\w+)`/g)].map(([, code = '']) => [code, Number(status)] as const),
  )
  const codes = Object.keys(ERRORS) as ErrorCode[]
  const statuses = codes.map((code) => [code, new JobmillError(code, 'x').statusCode] as const)
  expect(new Map(listed)).toEqual(new Map(statuses.filter(([, status]) => status !== 400)))
  expect(codes.map((code) => [code, statusOf(code)])).toEqual(statuses)
})

describe.each([
  ['Defaults', DEFAULTS],
  ['Bounds', BOUNDS],
])('docs/reference/defaults.md, %s', (heading, values) => {
  const rows = rowsBelow(page('defaults.md'), heading)

  test('lists every name once, in the order of the code', () => {
    expect(rows.map(([name]) => plain(name))).toEqual(Object.keys(values))
  })

  test.each(Object.entries(values))('gives %s the number of the code, and a reason', (name, value) => {
    const [, what, cell, why] = rows.find(([cell]) => plain(cell) === name) ?? []
    expect(figure(cell, name)).toEqual(value)
    expect(what).toMatch(/^.{5}/)
    expect(why).toMatch(/^.{5}/)
  })
})

/**
 * Types exist only at compile time: the compiler checks this list against them, and the tests check the page
 * against the list.
 */
const JOB = { id: true, kind: true, queue: true } as const
const ATTEMPT = { ...JOB, attempt: true, maxAttempts: true, trace: true } as const
const EVENTS: { readonly [Type in EventType]: { readonly [Field in keyof EventTable[Type]]: true } } = {
  enqueued: { ...JOB, outcome: true },
  'kind-unknown': { kind: true, near: true },
  'queue-unknown': { queue: true, near: true },
  duplicate: JOB,
  started: { ...ATTEMPT, crashes: true, waitedMs: true },
  progress: { ...ATTEMPT, value: true },
  finished: { ...ATTEMPT, ranMs: true, totalMs: true, notKept: true },
  retried: { ...ATTEMPT, ranMs: true, delayMs: true, error: true, stack: true },
  parked: { ...ATTEMPT, ranMs: true },
  'step-recorded': { ...ATTEMPT, step: true, ranMs: true },
  'step-failed': { ...ATTEMPT, step: true, ranMs: true, error: true },
  'steps-unused': { ...ATTEMPT, steps: true },
  snoozed: { ...ATTEMPT, ranMs: true, delayMs: true },
  throttled: { ...ATTEMPT, ranMs: true, retryAfterMs: true },
  'timed-out': { ...ATTEMPT, ranMs: true },
  cancelled: { ...ATTEMPT, ranMs: true, reason: true },
  dead: { ...ATTEMPT, ranMs: true, error: true, stack: true },
  interrupted: { ...ATTEMPT, ranMs: true, why: true },
  released: ATTEMPT,
  'lease-lost': ATTEMPT,
  stuck: { ...ATTEMPT, why: true, sinceMs: true },
  'queue-cooling': { queue: true, forMs: true },
  'queue-resumed': { queue: true },
  'queue-changed': { queue: true, before: true, after: true },
  'settings-differ': {
    what: true,
    name: true,
    field: true,
    code: true,
    stored: true,
    isInCode: true,
    override: true,
    higherVersion: true,
  },
  'limit-drained': { limit: true, key: true, forMs: true },
  'schedule-fired': { schedule: true, plannedAt: true, id: true, outcome: true },
  'schedule-missed': { schedule: true, missed: true },
  'schedule-failing': { schedule: true, error: true },
  reaped: { instances: true, jobs: true },
  'leases-found': { jobs: true },
  'instance-lost': { instance: true, jobs: true, blocked: true },
  'instance-back': { instance: true },
  'store-failing': { part: true, error: true },
  'store-back': { part: true },
  'duty-started': { duty: true, everyMs: true, deadlineMs: true, forAll: true },
  'duty-stopped': { duty: true, passes: true },
  'duty-done': { duty: true, counts: true, tookMs: true },
  'duty-failing': { duty: true, error: true, failures: true },
  'duty-back': { duty: true, failures: true },
  leading: { duty: true },
  led: { duty: true },
  rebalanced: { changed: true },
  'mill-started': { instance: true, label: true, version: true, queues: true, kinds: true },
  'mill-quiet': { instance: true, by: true, running: true },
  'mill-resumed': { instance: true, running: true },
  'stop-requested': { instance: true, by: true, endsProcess: true },
  'mill-stopping': { running: true, graceMs: true },
  'grace-expired': { jobs: true },
  'mill-stopped': { finished: true, returned: true, interrupted: true, tookMs: true },
}

/** `attempt, `ranMs`, `notKept` (why …)`: the part in parentheses is for people. */
function fieldsIn(cell: string): string[] {
  return cell
    .replaceAll(/ \(.*?\)/g, '')
    .split(', ')
    .flatMap((field) => {
      if (field === 'job') return Object.keys(JOB)
      return field === 'attempt' ? Object.keys(ATTEMPT) : [plain(field)]
    })
}

describe('docs/reference/events.md', () => {
  const rows = ['Jobs', 'Queues, limits and schedules', 'The process and its database'].flatMap((heading) =>
    rowsBelow(page('events.md'), heading),
  )

  test('lists every type once, in the order of the code', () => {
    expect(rows.map(([type]) => plain(type))).toEqual(Object.keys(EVENTS))
  })

  test.each(Object.entries(EVENTS))('gives %s the fields of the code, and says when', (type, fields) => {
    const [, when, cell] = rows.find(([cell]) => plain(cell) === type) ?? []
    expect(when).toMatch(/^[A-Z`].{10}/)
    expect(fieldsIn(cell ?? '')).toEqual(Object.keys(fields))
  })
})

/** The names that an entry exports, types included: `export { a, type B, c as d } from …`. */
function exportsOf(entry: string): string[] {
  const text = readFileSync(new URL(`../../src/${entry}`, import.meta.url), 'utf8')
  return [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)]
    .flatMap(([, names = '']) => names.split(','))
    .flatMap((name) => /(\w+)\s*$/.exec(name)?.[1] ?? [])
}

describe('docs/reference/api.md', () => {
  const text = page('api.md')
  const headings = [...text.matchAll(/^## (.*)$/gm)].map(([, heading = '']) => heading)
  const namesBelow = (heading: string): string[] => rowsBelow(text, heading).map(([name]) => plain(name))

  test('lists every name of jobmill once, and no other', () => {
    const listed = headings
      .filter((heading) => heading !== 'Entries' && !heading.startsWith('Names of '))
      .flatMap((heading) => namesBelow(heading))
    expect(listed.toSorted()).toEqual(exportsOf('index.ts').toSorted())
  })

  test('lists every entry for users', () => {
    const published = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      readonly exports: object
    }
    const entries = Object.keys(published.exports).map((name) => name.replace(/^\./, 'jobmill'))
    const forUsers = entries.filter((name) => !['jobmill/internal', 'jobmill/package.json'].includes(name))
    expect(namesBelow('Entries').toSorted()).toEqual(forUsers.toSorted())
  })

  test.each([
    ['jobmill/sqlite', 'sqlite.ts'],
    ['jobmill/postgres', 'postgres.ts'],
    ['jobmill/client', 'client.ts'],
    ['jobmill/orm', 'orm.ts'],
    ['jobmill/testing', 'testing/index.ts'],
    ['jobmill-server', '../../server/src/index.ts'],
    ['jobmill-conformance', '../../conformance/src/index.ts'],
  ])('lists only names that %s exports', (entry, file) => {
    const listed = namesBelow(`Names of \`${entry}\``)
    expect(listed).not.toEqual([])
    expect(exportsOf(file)).toEqual(expect.arrayContaining(listed))
    expect(new Set(listed).size).toBe(listed.length)
  })

  test.each(headings)('says what each name is and links its guide, below %s', (heading) => {
    for (const [, what, guide] of rowsBelow(text, heading)) {
      expect(what).toMatch(/^.{10}/)
      expect(guide).toMatch(/^\[.+\]\(.+\.md(?:#.+)?\)$/)
    }
  })
})
