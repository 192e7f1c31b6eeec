/** Parsing of the command line in this process, and its error messages. */
import { describe, expect, test } from 'vitest'
import { COMMANDS, JOBMILL } from '../../src/cli/commands.ts'
import { commandOf, noSuchCommand, parseCommand, wordsOf } from '../../src/cli/program/parse-arguments.ts'
import { momentOf, numberOf } from '../../src/cli/program/typed-values.ts'
import { refusal } from '../unit/support.ts'

function parse(...args: string[]) {
  const command = commandOf(wordsOf(args, JOBMILL), COMMANDS)
  if (command === undefined) throw new Error('no such command')
  return parseCommand(args, command, JOBMILL)
}

describe('arguments', () => {
  test.each([
    [
      ['work', '--speed', '1'],
      '--speed: is not an option of jobmill work. Use one of --config, --db, --json, --help, --queues, --port, --bind, --tokens-file, --log, --level.',
    ],
    [
      ['jobs', 'list', '--sate', 'dead'],
      '--sate: is not an option of jobmill jobs list. Did you mean "--state"?',
    ],
    [['work', '-x'], '-x: is not an option of jobmill work'],
    [['jobs', 'list', '--queue', '--json'], '--queue: needs a value. Pass --queue NAME'],
    [['jobs', 'list', '--queue'], '--queue: needs a value'],
    [['jobs', 'list', '--json=yes'], '--json: takes no value (got "yes")'],
    [['jobs', 'show'], 'jobs show: missing argument. Run jobmill jobs show ID'],
    [['jobs', 'list', 'dead'], 'jobs list: unexpected argument "dead"'],
  ])('%j gets an error that names the intended word', (args, text) => {
    expect(refusal(() => parse(...args)).message).toContain(text)
  })

  test('an unknown command is reported with the nearest one, whatever follows it', () => {
    expect(noSuchCommand(['jobs', 'shwo', 'x'], JOBMILL)).toContain('Did you mean "jobs show"?')
    expect(noSuchCommand(['jbos', 'list'], JOBMILL)).toContain('Did you mean "jobs list"?')
    expect(noSuchCommand(['jbos'], JOBMILL)).toContain('Did you mean "jobs"?')
    expect(noSuchCommand(['jbos', 'lst', '--all'], JOBMILL)).toContain('Did you mean "jobs list"?')
    expect(noSuchCommand(['job', 'show', 'x'], JOBMILL)).toContain('Did you mean "jobs show"?')
    expect(noSuchCommand(['jobs', 'zzzzzzzz'], JOBMILL)).toMatch(/zzz"\. Run jobmill jobs --help$/)
    expect(noSuchCommand(['schedule', 'ad', 'x'], JOBMILL)).toContain('Did you mean "schedules add"?')
    expect(noSuchCommand(['schedules', 'triger', 'x'], JOBMILL)).toContain(
      'Did you mean "schedules trigger"?',
    )
    expect(noSuchCommand(['limits', 'ste', 'x'], JOBMILL)).toContain('Did you mean "limits set"?')
    expect(noSuchCommand(['docter'], JOBMILL)).toContain('Did you mean "db doctor"?')
    expect(noSuchCommand(['enqueu', 'email.send', '{}'], JOBMILL)).toContain('Did you mean "enqueue"?')
  })

  test.each([
    ['schedules', 'set', 'ticker'],
    ['schedules', 'set'],
    ['schedules', 'change', 'x'],
    ['schedules', 'edit', 'ticker'],
  ])('%s %s resembles no command, so the help of its group is suggested', (...typed) => {
    expect(noSuchCommand(typed, JOBMILL)).toBe(
      `unknown command "${typed.join(' ')}". Run jobmill schedules --help`,
    )
  })

  test('options may appear anywhere, some repeatedly, and a negative number is a value', () => {
    const parsed = parse(
      '--tag',
      'a',
      'enqueue',
      '--tag=-b',
      'email.send',
      '--priority',
      '-5',
      '{}',
      '--json',
    )
    expect(parsed.words).toEqual(['email.send', '{}'])
    expect(parsed.texts('tag')).toEqual(['a', '-b'])
    expect(numberOf(parsed, 'priority')).toBe(-5)
    expect([parsed.has('json'), parsed.has('wait'), parsed.text('queue')]).toEqual([true, false, undefined])
  })

  test('numbers have only digits, and instants can be a duration ago', () => {
    const bad = parse('jobs', 'list', '--limit', '1e3', '--from', '1794785094882')
    expect(refusal(() => numberOf(bad, 'limit'))).toMatchObject({
      code: 'NUMBER_INVALID',
      field: '--limit',
    })
    expect(refusal(() => momentOf(bad, 'from', 0))).toMatchObject({
      code: 'INSTANT_INVALID',
      field: '--from',
    })
    const good = parse('jobs', 'list', '--from', '2h', '--before', '2027-01-31T09:00:00+01:00')
    expect(momentOf(good, 'from', 10_000_000)).toBe(2_800_000)
    expect(momentOf(good, 'before', 0)).toBe(Date.UTC(2027, 0, 31, 8))
  })
})
