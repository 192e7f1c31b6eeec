/** Helpers of the job page: errors, logs, diffs, progress, bulk actions and links. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { errorText } from '../../../jobmill/src/job/text/error-text.ts'
import { REASONS } from '../../../jobmill/src/runtime/diagnose/why.ts'
import type { Reason } from '../../src/api/types.ts'
import { openDepth } from '../../src/kit/json/json-depth.ts'
import { bulkOf } from '../../src/pages/job/bulk/bulk.ts'
import { shareOf } from '../../src/pages/job/progress.ts'
import { errorParts, placeOf, stackOf } from '../../src/pages/job/tabs/error-parts.ts'
import { foldDiff } from '../../src/pages/job/compare/fold-diff.ts'
import { jsonLines } from '../../src/pages/job/compare/json-lines.ts'
import { lineDiff } from '../../src/pages/job/compare/line-diff.ts'
import { asLines, linesOf } from '../../src/pages/job/tabs/log-lines.ts'
import type { Try } from '../../src/pages/job/tries.ts'
import { wayOutOf } from '../../src/pages/job/status/way-out.ts'

const line = (level: 'debug' | 'warn', message: string) => ({ at: 1, level, message, fields: { a: 1 } })

/** Each character is a line. */
const compared = (before: string, after: string): string[] =>
  lineDiff(before.split(''), after.split('')).map(({ sign, text }) => sign + text)

const bulk = (payload: unknown, result: unknown = null) => bulkOf({ payload, result, tags: ['by:ada'] })

const way = (why: Reason['why'], message = '') =>
  wayOutOf({ why, message, until: null, job: why === 'order' ? 'j' : null }, { id: 'i', queue: 'a b' })?.to ??
  null

const fifty = (of: () => unknown): unknown[] => Array.from({ length: 50 }, of)

const failed = (fields: object) => [
  { at: 1, level: 'error' as const, message: 'the handler failed', fields: { ...fields } },
]

describe('errors', () => {
  test('a chain as the runtime writes it is split again', () => {
    const root = new TypeError('x is not a function\nsecond line')
    const text = errorText(new Error('could not send', { cause: new Error('no route', { cause: root }) }))
    expect(errorParts(text)).toEqual([
      { title: 'Error: could not send', rest: '' },
      { title: 'Error: no route', rest: '' },
      { title: 'TypeError: x is not a function', rest: 'second line' },
    ])
  })

  test('a very long chain says how much is omitted', () => {
    let error = new Error('root')
    for (let depth = 0; depth < 20; depth += 1) error = new Error(`at ${depth}`, { cause: error })
    const parts = errorParts(errorText(error))
    expect(parts).toHaveLength(11)
    expect(parts.at(-2)?.title).toBe('… 11 more …')
    expect(parts.at(-1)?.title).toBe('Error: root')
  })

  test('the stack is that of the last line that has one', () => {
    const line = { at: 1, level: 'error', message: 'the handler failed' } as const
    expect(stackOf([{ ...line, fields: { stack: 'a' } }, { ...line, fields: { stack: 'b' } }, line])).toBe(
      'b',
    )
    expect(stackOf([line])).toBeNull()
  })

  test('the place is the first frame of the application, with its line', () => {
    const stack =
      'Error: x\n    at f (/app/node_modules/x/charge.js:1:1)\n    at run (file:///app/charge.js:24:7)'
    expect(placeOf(failed({ stack, frame: 'run (billing/charge.js)' }))).toBe('run (billing/charge.js:24)')
    expect(placeOf(failed({ stack: 'Error: x', frame: 'run (charge.js)' }))).toBe('run (charge.js)')
    expect(placeOf(failed({ stack: '    at /app/charge.js:3:1', frame: 'charge.js' }))).toBe('charge.js:3')
    expect(placeOf(failed({ stack }))).toBeNull()
  })
})

test('a line of a log has the lines of its stack when it is compared', () => {
  const fields = { stack: 'Error: x\n    at y', tries: 2, who: 'ada' }
  expect(asLines({ at: 1, level: 'error', message: 'failed', fields })).toEqual([
    'error failed tries=2 who=ada',
    '  stack: Error: x',
    '      at y',
  ])
})

test('logs of all attempts are one list, filtered by level', () => {
  const tries = [
    { n: 1, log: [line('warn', 'x'), line('debug', 'y')] },
    { n: 2, log: [line('warn', 'z')] },
  ]
  const result = linesOf(tries as readonly Partial<Try>[] as readonly Try[], 'info')
  expect(result.map(({ n, line: one }) => `${n} ${asLines(one).join()}`)).toEqual([
    '1 warn x a=1',
    '2 warn z a=1',
  ])
})

describe('differences by lines', () => {
  test('are few', () => {
    expect(compared('abcd', 'abxd')).toEqual([' a', ' b', '-c', '+x', ' d'])
    expect(compared('abc', 'xbyc')).toEqual(['-a', '+x', ' b', '+y', ' c'])
    expect(compared('', 'a')).toEqual(['+a'])
    expect(compared('aa', 'aa')).toEqual([' a', ' a'])
  })

  test('restore both texts', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 30 })
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const result = lineDiff(before, after)
        expect(result.filter(({ sign }) => sign !== '+').map((one) => one.text)).toEqual(before)
        expect(result.filter(({ sign }) => sign !== '-').map((one) => one.text)).toEqual(after)
      }),
    )
  })

  test('of JSON depend on neither commas nor the order of keys', () => {
    const [a, b] = [
      { b: [1, { c: null }], a: 'x' },
      { a: 'x', b: [1, { c: null }, 2], d: {} },
    ]
    expect(lineDiff(jsonLines(a), jsonLines(b)).map(({ sign, text }) => sign + text)).toEqual([
      ' {',
      '   "a": "x"',
      '   "b": [',
      '     1',
      '     {',
      '       "c": null',
      '     }',
      '+    2',
      '   ]',
      '+  "d": {}',
      ' }',
    ])
  })

  test('are shown with the lines around them, and the rest on demand', () => {
    const lines = lineDiff('aaaaaaaaaab'.split(''), 'aaaaaaaaaacdddd'.split(''))
    const shown = (isWhole: boolean) =>
      foldDiff(lines, isWhole).map((part) => ('sign' in part ? part.sign + part.text : part.folded))
    expect(shown(false)).toEqual([7, ' a', ' a', ' a', '-b', '+c', '+d', '+d', '+d', '+d'])
    expect(shown(true)).toHaveLength(lines.length)
    const short = lineDiff('aaaaaa'.split(''), 'aaaaaab'.split(''))
    expect(foldDiff(short, false)).toEqual(short)
  })

  test('of long texts without common lines count as replaced', () => {
    const [before, after] = ['a', 'b'].map((of) => Array.from({ length: 5_000 }, (_, at) => `${of}${at}`))
    expect(lineDiff(before ?? [], after ?? [])).toHaveLength(10_000)
  })
})

test('progress is understood where it can be', () => {
  expect(shareOf(40)).toEqual({ share: 0.4, of: null })
  expect(shareOf({ done: 1, of: 4 })).toEqual({ share: 0.25, of: [1, 4] })
  expect(shareOf({ looked: 9, jobs: 6 })).toEqual({ share: 1, of: [9, 6] })
  expect(shareOf({ looked: 0, jobs: 0 })).toEqual({ share: 1, of: [0, 0] })
  expect(shareOf({ percent: 5 })).toEqual({ share: 0.05, of: null })
  for (const other of [101, -1, 'half', null, [1, 2], { done: 'x', of: 3 }]) expect(shareOf(other)).toBeNull()
})

describe('a bulk action', () => {
  test('describes its action and filter, and links to its jobs', () => {
    const filter = { queue: 'mail', tags: ['a&b'], errorText: 'no', enqueuedBefore: 5 }
    const result = bulk({ act: 'retry', filter }, { looked: 3, changed: 2, refused: 1 })
    expect(result).toMatchObject({
      message: 'Retry matching jobs',
      by: 'ada',
      reason: null,
      report: { looked: 3, changed: 2, refused: 1 },
      to: '/jobs?queue=mail&tag=a%26b&errorText=no&enqueuedBefore=5',
    })
    expect(result?.filter.map(({ name }) => name)).toEqual([
      'Queue',
      'Tags',
      'Error contains',
      'Enqueued before',
    ])
  })

  test('on every job, on selected jobs, and with an unknown action', () => {
    expect(bulk({ act: 'delete', filter: { enqueuedBefore: 5 } })?.message).toBe('Delete every job')
    const chosen = bulk({ act: 'cancel', filter: { ids: ['a', 'b'] }, reason: 'why not' })
    expect(chosen).toMatchObject({
      to: null,
      reason: 'why not',
      filter: [{ name: 'Selected', value: '2 jobs' }],
    })
    for (const other of [null, 1, {}, { filter: 1 }, []]) expect(bulk(other)).toBeNull()
  })
})

test('every reason links to the page that explains it', () => {
  expect(
    Object.fromEntries(REASONS.map((why) => [why, way(why, 'Limit smtp is empty for another 3s')])),
  ).toEqual({
    step: '/jobs/i?tab=steps',
    'due-later': null,
    order: '/jobs/j',
    group: '/queues?open=a%20b',
    paused: '/queues#a%20b',
    'queue-without-worker': '/workers',
    'kind-without-worker': '/workers',
    'no-workers': '/queues#a%20b',
    cooling: '/queues#a%20b',
    limit: '/limits#smtp',
    quarantined: '/workers',
    busy: '/jobs?state=running&queue=a%20b',
    behind: '/jobs?state=ready&queue=a%20b',
    next: null,
  })
  expect(way('limit', 'All permits of limit smtp are in use')).toBe('/limits#smtp')
})

test('JSON is expanded as deep as a page can hold', () => {
  expect(openDepth({ a: { b: { c: { d: 1 } } } })).toBe(3)
  expect(openDepth(fifty(() => fifty(() => fifty(() => 1))))).toBe(1)
  expect(openDepth({ few: fifty(() => ({ a: 1 })) })).toBe(3)
  expect(openDepth('text')).toBe(3)
})
