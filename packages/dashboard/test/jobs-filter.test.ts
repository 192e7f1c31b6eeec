/** The filter language of the job list: parsing, printing, addresses and suggestions. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { STATES } from '../src/api/states.ts'
import { fromSearch, toBody, toQuery, toSearch, withInstants } from '../src/pages/jobs/filter/address.ts'
import { chipsOf, print } from '../src/pages/jobs/filter/chips.ts'
import {
  type Filter,
  KEYS,
  NO_FILTER,
  recordOf,
  TEXT_KEYS,
  TIME_KEYS,
} from '../src/pages/jobs/filter/filter.ts'
import { parse } from '../src/pages/jobs/filter/parse.ts'
import { partsOf, splitPath } from '../src/pages/jobs/filter/parts.ts'
import { suggest } from '../src/pages/jobs/filter/suggest.ts'
import { instantOf, LAST_AT, readWhen } from '../src/pages/jobs/filter/when.ts'

const NOW = Date.UTC(2026, 10, 16, 2)
const HOUR = 3_600_000

// Common input, and characters that break parsers: quotes, colons, backslashes, spaces, names of methods.
const hard = fc.string({
  unit: fc.constantFrom('a', 'Z', '0', ':', '"', '\\', ' ', '.', '\n', '-', '’', '😀'),
})
const text = fc.oneof(
  hard,
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('constructor', 'a:b', 'queue:', '__proto__'),
)
const filled = text.filter((one) => one !== '').map((one) => one.slice(0, 200))
const when = fc.oneof(
  fc.integer({ min: 0, max: LAST_AT }).map((at) => ({ at })),
  fc
    .array(fc.tuple(fc.nat(999_999), fc.constantFrom('s', 'm', 'h', 'd', 'w')), {
      minLength: 1,
      maxLength: 5,
    })
    .map((parts) => ({ ago: parts.flat().join('') })),
)
const orNull = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: null })
const filters: fc.Arbitrary<Filter> = fc.record({
  ...recordOf(TEXT_KEYS, () => orNull(filled)),
  ...recordOf(TIME_KEYS, () => orNull(when)),
  state: orNull(fc.constantFrom(...STATES)),
  tags: fc.uniqueArray(filled, { maxLength: 4 }),
  payload: fc.uniqueArray(
    fc.record({
      path: filled
        .map((one) => one.replaceAll(':', String.raw`\:`))
        .filter((one) => splitPath(`${one}:`)?.path === one),
      value: text.map((one) => one.slice(0, 200)),
    }),
    { maxLength: 5, selector: ({ path }) => path },
  ),
  // Not part of the typed text.
  readsAll: fc.constant(false),
  text: orNull(filled),
})
const written = fc
  .array(
    fc.oneof(
      fc.constantFrom(...KEYS, 'payload').map((key) => `${key}:`),
      fc.constant('payload.'),
      hard,
      fc.string(),
    ),
  )
  .map((parts) => parts.join(''))

describe('the language of the filter', () => {
  test('reads back what it prints', () => {
    fc.assert(
      fc.property(filters, (filter) => {
        expect(parse(print(filter))).toEqual({ filter, wrong: [] })
        expect(fromSearch(new URLSearchParams(toSearch(filter).toString()))).toEqual({ filter, wrong: [] })
        for (const { text: chip, without } of chipsOf(filter))
          // The order may differ, so compare the printed form.
          expect(print(parse(chip, { onto: without }).filter).length).toBe(print(filter).length)
      }),
      { numRuns: 200 },
    )
  })

  test('never throws, loses nothing, and what it took it takes again', () => {
    fc.assert(
      fc.property(written, fc.boolean(), (input, mayPayload) => {
        const { filter, wrong } = parse(input, { mayPayload })
        const outside = partsOf(input).reduceRight(
          (rest, { from, to }) => rest.slice(0, from) + rest.slice(to),
          input,
        )
        expect(outside.trim()).toBe('')
        for (const { part, says, fix } of wrong) {
          expect(input).toContain(part)
          expect(`${says}${fix}`).not.toMatch(/undefined|null/)
        }
        expect(parse(print(filter))).toEqual({ filter, wrong: [] })
        for (const caret of [0, Math.floor(input.length / 2), input.length])
          suggest(input, caret, { queues: ['mail'], kinds: [], tags: [], versions: [], mayPayload })
      }),
      { numRuns: 200 },
    )
  })

  test('is fast on hostile input', () => {
    for (const one of ['"', '\\"', 'payload."', 'a:"b"c ', 'payload.', '"a"b', ' '])
      expect(parse(one.repeat(20_000)).filter).toBeDefined()
  })

  test('parses what operators write', () => {
    const { filter, wrong } = parse(
      'queue:mail KIND:send state:Dead tag:vip tag:eu after:2026-11-16T01:00Z before:1h error:"timed out" payload.user.id:42 hello "big  world"',
    )
    expect(wrong).toEqual([])
    expect(toBody(filter, NOW)).toEqual({
      queue: 'mail',
      kind: 'send',
      state: 'dead',
      tags: ['vip', 'eu'],
      enqueuedFrom: NOW - HOUR,
      enqueuedBefore: NOW - HOUR,
      errorText: 'timed out',
      payloadAt: ['user.id:42'],
      payloadText: 'hello big  world',
    })
    expect(toQuery(filter, NOW)).toMatchObject({ tag: ['vip', 'eu'] })
    expect(parse(String.raw`payload.a\.b\:c:1:2`).filter.payload).toEqual([
      { path: String.raw`a\.b\:c`, value: '1:2' },
    ])
    expect(parse('payload."my key:x":""').filter.payload).toEqual([
      { path: String.raw`my key\:x`, value: '' },
    ])
    // A piece of JSON is searched as text.
    expect(parse('"userId":42').filter.text).toBe('"userId":42')
    expect(parse('queue:new', { onto: { ...NO_FILTER, queue: 'old', tags: ['vip'] } }).filter).toEqual({
      ...NO_FILTER,
      queue: 'new',
      tags: ['vip'],
    })
  })

  test.each([
    ['state:failed', 'state:failed', /is not a state/, /dead/],
    ['quue:mail', 'quue:mail', /not a filter key/, /queue/],
    ['queue: mail', 'queue:', /no value/, /queue:mail/],
    ['error:"timed out', 'error:"timed out', /quote/, /at the end/],
    ['after:yesterday', 'after:yesterday', /not a time/, /1h/],
    ['after:2026-02-31', 'after:2026-02-31', /not a time/, /2026/],
    ['queue:a queue:b', 'queue:b', /duplicated/, /queue once/],
    ['payload:42', 'payload:42', /no path/, /payload\.user\.id:42/],
    ['constructor:x', 'constructor:x', /not a filter key/, /quote/],
    ['""', '""', /empty/, /text/],
    [`kind:${'x'.repeat(1_001)}`, `kind:${'x'.repeat(1_001)}`, /longer/, /shorter/],
    [
      'payload.a:1 payload.b:1 payload.c:1 payload.d:1 payload.e:1 payload.f:1',
      'payload.f:1',
      /maximum number/,
      /5/,
    ],
  ])('says what is wrong with %s, and how to fix it', (input, part, says, fix) => {
    const { wrong } = parse(input)
    expect(wrong).toEqual([
      { part, says: expect.stringMatching(says) as string, fix: expect.stringMatching(fix) as string },
    ])
  })

  test('an address says that all payloads are searched, as long as there is a payload filter', () => {
    const all = { ...parse('payload.a:1').filter, readsAll: true }
    expect(fromSearch(toSearch(all)).filter).toEqual(all)
    expect(toSearch({ ...all, payload: [] }).toString()).toBe('')
    expect(fromSearch(new URLSearchParams('search=all')).filter).toEqual(NO_FILTER)
  })

  test('does not let viewers search payloads', () => {
    const { filter, wrong } = parse('secret payload.a:1 queue:mail', { mayPayload: false })
    expect(filter).toEqual({ ...NO_FILTER, queue: 'mail' })
    expect(wrong.map(({ part }) => part)).toEqual(['secret', 'payload.a:1'])
  })

  test('reports what is wrong in an address', () => {
    const { filter, wrong } = fromSearch(
      new URLSearchParams('queue=mail&state=lost&enqueuedFrom=x&payloadAt=nothing&kind=&enqueuedBefore=2h'),
    )
    expect(filter).toEqual({ ...NO_FILTER, queue: 'mail', before: { ago: '2h' } })
    expect(wrong.map(({ part }) => part)).toEqual(['state=lost', 'payloadAt=nothing', 'enqueuedFrom=x'])
  })

  test('filters by when a job started, failed and ended, by version and by keys', () => {
    const { filter, wrong } = parse(
      'failed-after:2h failed-before:1h started-before:1h ended-after:2026-11-16T01:00Z version:2.15.0 order:"customer 42" group:acme dedupe:a:b',
    )
    expect(wrong).toEqual([])
    expect(toBody(filter, NOW)).toEqual({
      failedFrom: NOW - 2 * HOUR,
      failedBefore: NOW - HOUR,
      startedBefore: NOW - HOUR,
      endedFrom: NOW - HOUR,
      version: '2.15.0',
      orderKey: 'customer 42',
      group: 'acme',
      dedupeKey: 'a:b',
    })
    expect(chipsOf(filter).map(({ name, value }) => `${name} ${value}`)).toContain('failed in the last 2h')
  })

  test('a clock time is the last time that it was this time here', () => {
    const now = new Date(2026, 10, 16, 2, 30).getTime()
    expect(readWhen('02:13', now)).toEqual({ at: new Date(2026, 10, 16, 2, 13).getTime() })
    expect(readWhen('2:30', now)).toEqual({ at: now })
    expect(readWhen('02:31', now)).toEqual({ at: new Date(2026, 10, 15, 2, 31).getTime() })
    expect(readWhen('02:13:30', now)).toEqual({ at: new Date(2026, 10, 16, 2, 13, 30).getTime() })
    for (const none of ['24:00', '02:60', '2:1', '02:13:']) expect(readWhen(none, now)).toBeNull()
    expect(parse('failed-after:02:13').filter['failed-after']).toMatchObject({
      at: expect.any(Number) as number,
    })
  })

  test('a copied link keeps what relative times mean now', () => {
    const { filter } = parse('after:5m failed-after:1h before:2026-11-16T01:00Z queue:mail')
    const link = toSearch(withInstants(filter, NOW))
    expect(Object.fromEntries(link)).toEqual({
      queue: 'mail',
      enqueuedFrom: String(NOW - 300_000),
      enqueuedBefore: String(NOW - HOUR),
      failedFrom: String(NOW - HOUR),
    })
    // The address of the page stays relative.
    expect(toSearch(filter).get('enqueuedFrom')).toBe('5m')
    expect(toBody(fromSearch(link).filter, NOW + HOUR)).toEqual(toBody(filter, NOW))
  })

  test('counts back from now, and takes a day as it is here', () => {
    expect(instantOf({ ago: '1d2h3m4s' }, NOW)).toBe(NOW - 93_784_000)
    expect(instantOf({ ago: '999999w' }, NOW)).toBe(0)
    expect(readWhen('2026-11-16')).toEqual({ at: new Date(2026, 10, 16).getTime() })
    expect(readWhen('2026-11-16 02:00+01:00')).toEqual({ at: NOW - HOUR })
  })
})

describe('suggestions', () => {
  const known = {
    queues: ['mail', 'my mail'],
    kinds: ['mail.send'],
    tags: ['vip'],
    versions: ['2.15.0', '2.14.0'],
    mayPayload: true,
  }
  const inserts = (input: string, caret = input.length): readonly string[] =>
    suggest(input, caret, known).items.map(({ insert }) => insert)

  test('are keys, then values of the key, and whatever has such a name', () => {
    expect(inserts('')).toEqual([...KEYS.map((key) => `${key}:`), 'payload.'])
    expect(inserts('state:dead qu')).toEqual(['queue:'])
    // A: jobs that wait for a retry are a state to filter by.
    expect(inserts('state:ret')).toEqual(['state:retrying'])
    expect(inserts('queue:ma')).toEqual(['queue:mail', 'queue:"my mail"'])
    expect(inserts('mail')).toEqual(['queue:mail', 'queue:"my mail"', 'kind:mail.send'])
    expect(inserts('after:')).toContain('after:1h')
    expect(inserts('version:2.1')).toEqual(['version:2.15.0', 'version:2.14.0'])
    expect(inserts('fail')).toEqual(['failed-after:', 'failed-before:'])
    expect(inserts('failed-after:1')).toEqual(['failed-after:10m', 'failed-after:15m', 'failed-after:1h'])
    expect(inserts('constructor:')).toEqual([])
    expect(inserts('queue:ma kind:x', 8)).toEqual(['queue:mail', 'queue:"my mail"'])
    expect(suggest('kind:x st', 9, known)).toMatchObject({ from: 7, to: 9 })
  })

  test('open the job whose id it is', () => {
    const id = '0190C5A0-7E1C-7B6A-9F3E-2D1C0B9A8F7E'
    expect(suggest(id, id.length, known).items).toMatchObject([{ opens: id.toLowerCase() }])
  })
})
