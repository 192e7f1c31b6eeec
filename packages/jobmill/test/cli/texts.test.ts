/** Formatted output: times, tables, progress bars, jobs as text; and input split into lines. */
import { Readable } from 'node:stream'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { inFull } from '../../../../test/support/suite/in-full.ts'
import { enqueueLines } from '../../src/cli/enqueue/from-lines.ts'
import { linesOf } from '../../src/cli/enqueue/lines.ts'
import { jobText } from '../../src/cli/jobs/job-text.ts'
import { defineJob } from '../../src/index.ts'
import { safeLine, safeLines, safeText } from '../../src/job/text/safe-text.ts'
import { progressOf, waitingFor } from '../../src/cli/output/progress.ts'
import { listing, table } from '../../src/cli/output/table.ts'
import { printable, type Terminal } from '../../src/cli/output/terminal.ts'
import {
  countText,
  fromNow,
  lasting,
  remainingText,
  localTime,
  optionText,
} from '../../src/cli/output/wording.ts'
import { durationMs } from '../../src/job/duration.ts'
import { jobView } from '../../src/runtime/operate/job-view.ts'
import { policyOf } from '../../src/runtime/operate/policy.ts'
import type { JobRecord } from '../../src/store/types/job-record.ts'
import { fakePlatform, rejection } from '../unit/support.ts'

/** Everything that a terminal interprets, and halves of surrogate pairs. */
const UNSAFE =
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/
const ODD = [
  '\u001B[2J',
  '\u001B]0;title\u0007',
  '\r',
  '\n',
  '\u0085',
  '\u009B',
  '\u202E',
  '\u2067',
  '\u061C',
  '\u2028',
  '\uD83D',
  '\uDE00',
  '\u{1F600}',
  'é',
  '\t',
  ' ',
  'a',
  '\\',
  '"',
]
const RED = '\u001B[31m'
const RED_END = '\u001B[39m'
const codeUnit = (n: number): string => String.fromCharCode(n)

const bare = { paint: (_: unknown, text: string) => text }
const painted = { paint: (style: unknown, text: string) => `<${String(style)}>${text}</>` }

describe('durations and numbers', () => {
  test.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [1_500, '1.5 s'],
    [59_999, '59 s'],
    [180_000, '3 m'],
    [7_200_000, '2 h'],
    [47 * 3_600_000, '47 h'],
    [96 * 3_600_000, '4 d'],
  ])('%d ms is %s', (ms, text) => expect(lasting(ms)).toBe(text))

  test('instants are relative, or in the local time of this machine', () => {
    expect([fromNow(0, 0), fromNow(0, 180_000), fromNow(7_200_000, 0), fromNow(1_999, 0)]).toEqual([
      'now',
      '3 m ago',
      'in 2 h',
      'in 1 s',
    ])
    const at = Date.UTC(2027, 0, 31, 9)
    expect(localTime(at)).toMatch(/^2027-01-31T\d\d:\d\d:00[+-]\d\d:\d\d$|^2027-02-01/)
    expect(Date.parse(localTime(at))).toBe(at)
  })

  test('durations are printed as they can be typed', () => {
    for (const text of ['10s', '1h30m', '7d', '1d2h3m4s5ms', '0s'])
      expect(optionText(durationMs(text, 'x'))).toBe(text)
    expect([optionText(null), remainingText(1), remainingText(89_001)]).toEqual(['forever', '1s', '1m30s'])
    expect([countText(1, 'job'), countText(1_100, 'job')]).toEqual(['1 job', '1,100 jobs'])
  })
})

describe('untrusted text of jobs', () => {
  test('does not control the terminal', () => {
    expect(safeText('a\u001B[2Jb\rc\u009Bd\te\nf\u202Eg')).toBe('a\\u001b[2Jb\\u000dc\\u009bd\te\nf\\u202eg')
    expect(safeLine('a\n  b\tc')).toBe('a b c')
  })

  test('S3 S4 untrusted text never controls a terminal, and JSON keeps its values', () => {
    const text = fc.string({ unit: fc.oneof(fc.constantFrom(...ODD), fc.nat(0xffff).map(codeUnit)) })
    fc.assert(
      fc.property(text, fc.boolean(), (any, hasStyles) => {
        // Our own styles stay where colors are enabled.
        const words = hasStyles ? `${RED}${safeText(any)}${RED_END}` : any
        const line = printable(words, hasStyles).replace(RED, '').replace(RED_END, '')
        expect([line, safeText(any), safeLines(any)].filter((one) => UNSAFE.test(one))).toEqual([])
        expect(safeLine(any)).not.toMatch(/[\n\t]/)
        expect(UNSAFE.test(safeLine(any))).toBe(false)
        // Only the first line can look like an entry.
        expect(
          safeLines(any)
            .split('\n')
            .slice(1)
            .every((one) => one.startsWith('        ')),
        ).toBe(true)
        const json = JSON.stringify({ text: any })
        expect(JSON.parse(printable(json, false))).toEqual({ text: any })
        // Harmless text is unchanged.
        expect(safeText(any) === any).toBe(!UNSAFE.test(any))
      }),
      { numRuns: inFull(20_000, 1_000) },
    )
    expect(printable('\u001B[1mbold\u001B[22m \u001B[2J\u001B[8mhidden', true)).toBe(
      '\u001B[1mbold\u001B[22m \\u001b[2J\\u001b[8mhidden',
    )
    expect(printable('\u001B[1mbold', false)).toBe('\\u001b[1mbold')
  })

  test('is aligned in columns; styles have no width, and numbers are right-aligned', () => {
    const rows = [
      ['a\u001B[2J', 5, { text: 'dead', style: 'red' }],
      ['bb', 1_000, null],
    ] as const
    expect(table(['name', 'n', 'state'], rows, '', bare).split('\n')).toEqual([
      'name           n  state',
      'a\\u001b[2J     5  dead',
      'bb          1000  -',
    ])
    expect(table(['name', 'n', 'state'], rows, '', painted).split('\n')[1]).toBe(
      'a\\u001b[2J     5  <red>dead</>',
    )
    expect(table(['name'], [], 'nothing')).toBe('nothing')
    expect(
      listing(
        [
          ['a', '1\n2'],
          ['bbb', null],
          ['cc', 'x'],
        ],
        bare,
      ),
    ).toBe('a   1\n    2\ncc  x')
  })

  test('a job shows why it does not run', () => {
    const record = {
      id: 'i',
      kind: 'k',
      queue: 'q',
      state: 'ready',
      payload: '1',
      tags: [],
      log: null,
      metadata: null,
      result: null,
      progress: null,
    }
    const nothing = {
      error: null,
      dueAt: null,
      startedAt: null,
      endedAt: null,
      instance: null,
      timeoutMs: null,
      dedupeKey: null,
      orderKey: null,
      cancelReason: null,
    }
    const job = jobView({
      ...record,
      ...nothing,
      minVersion: null,
      waitsForOrder: false,
      waitsForGroup: false,
      group: null,
      attempt: 0,
      maxAttempts: 5,
      crashes: 2,
      priority: 0,
      enqueuedAt: 0,
    } as unknown as JobRecord)
    const reasons = ['the queue is paused', 'no process serves it'].map((message) => ({
      why: 'paused' as const,
      message,
      until: null,
      job: null,
    }))
    const kind = defineJob({ kind: 'k', timeout: '1s', run: () => null })
    const details = { job, history: [], policy: policyOf(job, kind), now: 0 }
    const text = jobText({ ...details, why: { state: 'ready', reasons } }, bare)
    expect(text).toContain(
      'state     ready\nwhy       the queue is paused\n          no process serves it\nattempt ',
    )
    expect(text).toMatch(/^kind +k$/m)
    const pinned = jobText({ ...details, job: { ...job, minVersion: 3 }, why: null }, bare)
    expect(pinned).toMatch(/^kind +k in version 3 or later$/m)
    expect(text).toMatch(/^attempt +0 of 5 \(default\), crashed 2 times$/m)
    expect(text).toMatch(/^timeout +1s \(from the kind\)$/m)
    expect(text).toMatch(/^backoff +10s, doubled up to 30m, with jitter \(from the queue\)$/m)
    expect(jobText({ ...details, why: null }, bare)).not.toContain('why')
  })
})

describe('progress of long operations', () => {
  test('is shown after a second, as a bar if the total is known', () => {
    const platform = fakePlatform()
    const statusLines: string[] = []
    const terminal = { status: (line: string) => void statusLines.push(line) } as Terminal
    const progress = progressOf('retry', terminal, platform)
    progress.at(10, 100)
    platform.advance(1_000)
    progress.at(1_000, 4_000)
    progress.at(1_001, 4_000)
    platform.advance(1_000)
    progress.at(2_000, null)
    platform.advance(2_000)
    progress.at(3_000, null, 0.75)
    progress.end()
    expect(statusLines).toEqual([
      'retry [######..................] 25% 1,000/4,000 1,000/s',
      'retry 2,000 1,000/s',
      'retry [##################......] 75% 3,000 750/s',
      '',
    ])
  })
})

async function lines(chunks: string[], longest?: number): Promise<string[]> {
  const numbered: string[] = []
  const input = Readable.from(chunks.map((chunk) => Buffer.from(chunk)))
  for await (const { number, bytes } of linesOf(input, new AbortController().signal, longest))
    numbered.push(`${number} ${bytes.toString()}`)
  return numbered
}

test('a line that is too long is the first one that is not enqueued', async () => {
  const written: unknown[] = []
  const input = Readable.from([Buffer.from('1\n2\n'), Buffer.from('"too long"')])
  const { failure } = await enqueueLines({
    lines: linesOf(input, new AbortController().signal, 5),
    async write(payloads) {
      written.push(...payloads)
      return []
    },
    onProgress: () => {},
  })
  expect(written).toEqual([1, 2])
  expect(failure).toMatchObject({ line: 3, error: { code: 'PAYLOAD_TOO_LARGE', field: 'line 3' } })
})

describe('waiting', () => {
  test('is shown from the first second, and removed at the end', async () => {
    const platform = fakePlatform()
    const statusLines: string[] = []
    const { promise, resolve } = Promise.withResolvers<number>()
    const waiting = waitingFor('a job', promise, { status: (line) => void statusLines.push(line) }, platform)
    platform.advance(999)
    expect(statusLines).toEqual([])
    platform.advance(1)
    platform.advance(1_000)
    resolve(5)
    expect(await waiting).toBe(5)
    expect(statusLines).toEqual(['waiting for a job: 1 s', 'waiting for a job: 2 s', ''])
    expect(platform.pending).toEqual([])
  })
})

describe('input lines', () => {
  test('are joined from any chunks', async () => {
    expect(await lines(['a', 'b\n', '\nc\nd', 'd', '\ne'])).toEqual(['1 ab', '2 ', '3 c', '4 dd', '5 e'])
    expect(await lines([])).toEqual([])
    expect(await lines(['a\n'])).toEqual(['1 a'])
  })

  test('have a maximum length', async () => {
    const endless = ['ok\n', ...Array.from({ length: 9 }, () => 'x'.repeat(10))]
    expect(await rejection(() => lines(endless, 50))).toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      field: 'line 2',
    })
  })
})
