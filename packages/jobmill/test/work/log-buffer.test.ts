// The log of a handler, as lines that fit into a row.
import { describe, expect, test } from 'vitest'
import { logBuffer, type LogLine, readLog } from '../../src/work/log-buffer.ts'

const line = (message: string, overrides: Partial<LogLine> = {}): LogLine => ({
  at: 1_000,
  level: 'info',
  message,
  ...overrides,
})

describe('the log of an attempt', () => {
  test('has no text while nothing was logged', () => {
    expect(logBuffer().text()).toBeUndefined()
    expect(readLog(null)).toEqual([])
    expect(readLog('')).toEqual([])
  })

  test('reads back as written, in order, with any text in a message', () => {
    const log = logBuffer()
    const lines = [
      line('first'),
      line('two\nlines "quoted" \\ and a tab\t', { level: 'warn', at: 2_000 }),
      line('ü € 😀', { level: 'error', fields: { n: 1, deep: { list: [1, null, 'x'] } } }),
      line('', { level: 'debug', fields: {} }),
    ]
    for (const one of lines) log.add(one)
    expect(readLog(log.text() ?? null)).toEqual(lines)
  })

  test('keeps the first lines that fit and the number of dropped ones, within the limit', () => {
    const limit = 2_000
    const log = logBuffer(limit)
    for (let n = 0; n < 100; n += 1) log.add(line(`line ${n} ${'x'.repeat(50)}`, { at: n }))
    const text = log.text() ?? ''
    expect(text.length).toBeLessThanOrEqual(limit)
    const lines = readLog(text)
    const kept = lines.slice(0, -1)
    expect(kept.length).toBeGreaterThan(10)
    expect(kept.map(({ at }) => at)).toEqual(kept.map((_, at) => at))
    expect(lines.at(-1)).toEqual({
      at: 99,
      level: 'warn',
      message: `${100 - kept.length} more lines did not fit`,
    })
  })

  test('counts a single dropped line', () => {
    const log = logBuffer(1_000)
    log.add(line('x'.repeat(4_000)))
    expect(readLog(log.text() ?? null).map(({ message }) => message)).toEqual(['1 more line did not fit'])
  })

  test('has no gap: after the first dropped line, none is kept', () => {
    const log = logBuffer(1_000)
    log.add(line('short'))
    log.add(line('x'.repeat(4_000)))
    log.add(line('would fit'))
    expect(readLog(log.text() ?? null).map(({ message }) => message)).toEqual([
      'short',
      '2 more lines did not fit',
    ])
  })

  test('cuts a message that is too long, and replaces characters that no database stores', () => {
    const log = logBuffer()
    log.add(line('x'.repeat(10_000)))
    log.add(line(`nul \u0000 and half a pair \ud83d`))
    const [long, odd] = readLog(log.text() ?? null)
    expect(long?.message).toHaveLength(4_096)
    expect(odd?.message).toBe('nul \u{fffd} and half a pair \u{fffd}')
  })

  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  test.each([
    ['a circle', circle],
    ['a bigint', { n: 1n }],
    ['more than 16 KiB', { text: 'x'.repeat(20_000) }],
  ])('with %s in the fields does not fail the job: it keeps the message and the reason', (_, fields) => {
    const log = logBuffer()
    log.add(line('kept', { fields }))
    const [read] = readLog(log.text() ?? null)
    expect(read).toMatchObject({ message: 'kept', at: 1_000, level: 'info' })
    expect(read?.fields?.['notKept']).toMatch(/fields/)
  })

  test.each([
    [undefined, 'undefined'],
    [null, 'null'],
    [42, '42'],
    [Symbol('s'), 'Symbol(s)'],
    [{ a: 1 }, '[object Object]'],
  ])('stores a message that is not a string as text: %s', (value: unknown, text) => {
    const log = logBuffer()
    log.add(line(value as string))
    expect(readLog(log.text() ?? null)[0]?.message).toBe(text)
  })

  test('reports a change once', () => {
    const log = logBuffer(300)
    expect(log.takeChanged()).toBe(false)
    log.add(line('a'))
    expect([log.takeChanged(), log.takeChanged()]).toEqual([true, false])
    log.add(line('x'.repeat(1_000)))
    expect(log.takeChanged()).toBe(true)
  })

  test('skips invalid lines when it is read', () => {
    expect(readLog('not json\n{"at":1,"level":"info","message":"ok"}')).toEqual([line('ok', { at: 1 })])
  })
})
