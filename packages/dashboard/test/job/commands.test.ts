/** The commands of "Copy as" work for any job. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { JOBMILL } from '../../../jobmill/src/cli/commands.ts'
import { enqueue } from '../../../jobmill/src/cli/commands/enqueue.ts'
import { enqueueOptionsOf } from '../../../jobmill/src/cli/enqueue/options.ts'
import { parseCommand } from '../../../jobmill/src/cli/program/parse-arguments.ts'
import { asCommand, asCurl, asTypeScript, type Like } from '../../src/pages/job/commands/enqueue-again.ts'

const NASTY = `it's "$HOME" \`id\` \\ !! $(id) %s *\n\u2028 ; é 😀 -- #`

const job: Like = {
  kind: 'mail.send',
  payload: { to: NASTY, ['__proto__']: 1, list: [-1, null] },
  queue: '-mail queue',
  priority: -5,
  maxAttempts: 3,
  timeoutMs: 90_000,
  tags: ['vip', NASTY],
  orderKey: "o'brien",
  group: 'acme inc',
}

/** The arguments and the standard input that a real shell passes to a command of this name. */
function words(script: string, command: string): { args: string[]; input: string } {
  const stub = `${command}() { printf '%s\\0' "$@"; printf 'input\\0'; cat; }`
  // In a file, because a script may be longer than a shell word.
  const file = join(mkdtempSync(join(tmpdir(), 'jobmill-words-')), 'script')
  onTestFinished(() => rmSync(dirname(file), { recursive: true, force: true }))
  writeFileSync(file, `${stub}\n${script}`)
  const output = execFileSync('sh', [file], { encoding: 'utf8', input: '', env: { JOBMILL_TOKEN: 'secret' } })
  const all = output.split('\0')
  const at = all.lastIndexOf('input')
  return { args: all.slice(0, at), input: all.slice(at + 1).join('\0') }
}

test('curl sends the job to the API that serves the dashboard', () => {
  const { args } = words(asCurl(job, 'https://ops.example.com/mill%20one/api/'), 'curl')
  expect(args).toContain('https://ops.example.com/mill%20one/api/jobs')
  expect(args).toContain('authorization: Bearer secret')
  const { payload, kind, queue, priority, maxAttempts, tags, orderKey, group } = job
  expect(JSON.parse(args.at(-1) ?? '')).toEqual({
    kind,
    payload,
    queue,
    priority,
    maxAttempts,
    tags,
    orderKey,
    group,
    timeout: 90_000,
  })
})

test('the command line reads back the same job', () => {
  const parsed = parseCommand(words(asCommand(job), 'jobmill').args, enqueue, JOBMILL)
  expect(parsed.words[0]).toBe('mail.send')
  expect(JSON.parse(parsed.words[1] ?? '')).toEqual(job.payload)
  expect(enqueueOptionsOf(parsed)).toEqual({
    queue: '-mail queue',
    priority: -5,
    maxAttempts: 3,
    timeout: '90000ms',
    tags: job.tags,
    orderKey: "o'brien",
    group: 'acme inc',
  })
})

test('a payload that looks like an option is not parsed as one', () => {
  expect(
    parseCommand(words(asCommand({ ...job, payload: -5 }), 'jobmill').args, enqueue, JOBMILL).words,
  ).toEqual(['mail.send', '-5'])
})

test('a payload that is too long for a shell word goes through standard input', () => {
  const large = { ...job, payload: { text: NASTY.repeat(4_000) } }
  expect(JSON.parse(words(asCurl(large, 'http://x/api/'), 'curl').input)).toMatchObject({
    payload: large.payload,
  })
  const { args, input } = words(asCommand(large), 'jobmill')
  expect(parseCommand(args, enqueue, JOBMILL).has('stdin')).toBe(true)
  expect(JSON.parse(input)).toEqual(large.payload)
})

test('any text survives the shell and the parser', () => {
  const text = fc.string({ unit: 'grapheme' }).filter((one) => !one.includes('\0'))
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 20 }), fc.jsonValue(), (tags, payload) => {
      const parsed = parseCommand(
        words(asCommand({ ...job, tags, payload }), 'jobmill').args,
        enqueue,
        JOBMILL,
      )
      expect(enqueueOptionsOf(parsed).tags).toEqual(tags)
      expect(JSON.parse(parsed.words[1] ?? '')).toEqual(JSON.parse(JSON.stringify(payload)))
    }),
    { numRuns: 10 },
  )
})

test('TypeScript calls enqueue with equal values', async () => {
  const calls: unknown[][] = []
  const mill = { enqueue: (...args: unknown[]) => calls.push(args) }
  // oxlint-disable-next-line typescript/no-implied-eval, typescript/no-unsafe-call -- it is what is tested
  await (new Function('mill', `return (async () => { ${asTypeScript(job)} })()`)(mill) as Promise<void>)
  const [[kind, payload, options] = []] = calls
  expect(kind).toBe('mail.send')
  expect(JSON.stringify(payload)).toBe(JSON.stringify(job.payload))
  expect(options).toEqual({
    queue: '-mail queue',
    priority: -5,
    maxAttempts: 3,
    timeout: 90_000,
    tags: job.tags,
    orderKey: "o'brien",
    group: 'acme inc',
  })
})
