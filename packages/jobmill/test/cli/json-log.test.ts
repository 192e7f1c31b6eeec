// JSON log lines of a real process, read from its standard error: each is one object, and none is lost at the
// end.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { bundled } from '../../../../test/support/programs/programs.ts'

type Line = Readonly<Record<string, unknown>>

/** Reads everything that the process wrote to standard error, slowly. */
async function linesOf(what: string): Promise<Line[]> {
  const program = bundled(path.join(import.meta.dirname, 'json-log-child.ts'))
  const child = spawn(process.execPath, [program, what], {
    stdio: ['ignore', 'inherit', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let text = ''
  child.stderr.setEncoding('utf8').on('data', (data: string) => (text += data))
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  // oxlint-disable-next-line no-control-regex -- S4: C1, bidi controls and line separators are escaped
  expect(text).not.toMatch(/[\u0080-\u009F\u2028-\u202E]/)
  expect([code ?? signal, text.endsWith('\n')]).toEqual([what === 'many' ? 'SIGKILL' : 0, true])
  return text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
}

test('every line is complete, even if the process is killed right after the last', async () => {
  const lines = await linesOf('many')
  expect(lines).toHaveLength(5_001)
  expect(lines.slice(0, -1).every(({ n, msg }, at) => n === at && msg === `line ${at}`)).toBe(true)
  expect(lines.at(-1)).toEqual({
    level: 'error',
    time: expect.stringMatching(/^\d{4}-.*Z$/) as unknown,
    msg: 'the last',
  })
})

test('errors are texts with their causes, at any depth, and odd values do not break a line', async () => {
  const [error, thrown, text, steering, circle, ...more] = await linesOf('odd')
  expect(more).toEqual([])
  expect(error).toMatchObject({
    level: 'error',
    part: 'claim',
    error: 'Error: away\n  caused by: Error: refused',
  })
  expect(thrown).toMatchObject({ error: '{"code":7}' })
  expect(text).toMatchObject({
    level: 'warn',
    msg: 'a text of %s and "quotes"\nin two lines',
    nested: { deep: ['Error: refused'] },
    large: '10',
  })
  // The value is unchanged, and the line contains nothing that a terminal would interpret.
  expect(steering).toMatchObject({ msg: 'a\u009B2J\u202Eb', text: '\u2028\u0085' })
  expect(circle).toMatchObject({ msg: 'a circle' })
  expect(circle?.['list']).toHaveLength(100)
})

test('lines of an attempt name its job, its kind, its queue, its attempt and its trace', async () => {
  const lines = await linesOf('mill')
  const dead = lines.find(({ msg }) => String(msg).includes('failed permanently'))
  expect(dead).toMatchObject({
    level: 'error',
    job: expect.stringMatching(/^[\da-f-]{36}$/) as unknown,
    kind: 'fails',
    queue: 'default',
    attempt: 1,
    error: 'TypeError: no such host',
    trace_id: expect.stringMatching(/^[\da-f]{32}$/) as unknown,
    span_id: expect.stringMatching(/^[\da-f]{16}$/) as unknown,
  })
  expect(lines.map(({ level }) => level)).not.toContain('debug')
  expect(lines.at(-1)?.['msg']).toContain('mill stopped in ')
})
