/** Every command has examples in its help, and at least one test runs it. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { COMMON } from '../../src/cli/program/command.ts'
import { COMMANDS, JOBMILL } from '../../src/cli/commands.ts'
import { helpOn, helpOnAll } from '../../src/cli/program/help.ts'
import { call, migratedFile } from './run.ts'

const tests = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.test.ts') && name !== path.basename(import.meta.filename))
  .map((name) => readFileSync(path.join(import.meta.dirname, name), 'utf8'))
  .filter((text) => text.includes(`from './run.ts'`) || text.includes('[MAIN, '))
  .join('\n')

describe.each(COMMANDS.map((command) => ({ ...command, command })))('jobmill $words', ({ command }) => {
  const { words, options = {}, examples } = command

  test('has help with its options and examples', () => {
    const help = helpOn(command, JOBMILL)
    expect(help.split('\n')[0]).toContain(`jobmill ${words}`)
    for (const [name, { says }] of Object.entries({ ...options, ...COMMON })) {
      expect(help).toContain(`--${name}`)
      expect(says).not.toBe('')
    }
    expect(examples.length).toBeGreaterThan(0)
    for (const example of examples) expect(help).toContain(`  ${example}`)
    expect(helpOnAll(JOBMILL)).toContain(`jobmill ${words}`)
  })

  test('has examples with the command and existing options', () => {
    for (const example of examples) {
      expect(example).toContain(`jobmill ${words}`)
      const own = example.slice(example.indexOf(`jobmill ${words}`)).split(' | ')[0] ?? ''
      for (const [, name = ''] of own.matchAll(/ --([a-z-]+)/g))
        expect(Object.keys({ ...options, ...COMMON })).toContain(name)
    }
  })

  // Written as run(['jobs', 'list', …]), 'jobs list …', or db('create').
  test('is run by a test', () => {
    const called = words.split(' ').join(`(?:'\\s*,\\s*'| )`)
    const shortly = words.replace(/^db (\w+)$/, `db('$1'`)
    expect(new RegExp(`['"\`]${called}['"\` ]`).test(tests) || tests.includes(shortly)).toBe(true)
  })
})

const DURATIONS = COMMANDS.flatMap(({ words, options = {} }) =>
  Object.entries(options).flatMap(([name, { takes }]) => (takes === 'DURATION' ? [{ words, name }] : [])),
)

test.each(DURATIONS)('jobmill $words --$name refuses a number without a unit', async ({ words, name }) => {
  const needed = {
    'schedules add': ['x', '--when', '@daily', '--kind', 'a'],
    'groups set': ['x', 'y'],
    top: [],
    'db doctor': [],
  }[words] ?? ['x']
  expect(await call(migratedFile(), [...words.split(' '), ...needed, `--${name}`, '7'])).toEqual({
    code: 2,
    out: '',
    err: `error   --${name}: has no unit (got "7"). Use 7ms, 7s, 7m, 7h or 7d.\n`,
  })
})

test('an option takes a value in all commands that have it, or is a flag in all', () => {
  const flags = new Map<string, boolean>()
  for (const { options = {} } of COMMANDS)
    for (const [name, { takes }] of Object.entries(options)) {
      const isFlag = takes === undefined
      expect(`${name} ${flags.get(name) ?? isFlag}`).toBe(`${name} ${isFlag}`)
      flags.set(name, isFlag)
    }
})
