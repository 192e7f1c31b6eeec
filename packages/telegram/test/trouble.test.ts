import { GrammyError, HttpError } from 'grammy'
import { expect, test } from 'vitest'
import { troubleWith } from '../src/bots/trouble.ts'
import { logTo } from '../src/log.ts'

function refusal(code: number): GrammyError {
  return new GrammyError('refused', { ok: false, error_code: code, description: 'x' }, 'getMe', {})
}

const of = (error: unknown): string => troubleWith({ slug: 'echo' }, error).what

test('names what went wrong between a bot and Telegram', () => {
  expect(of(refusal(401))).toBe('Telegram rejected the token: check BOT_ECHO_TOKEN')
  expect(of(refusal(404))).toBe('Telegram rejected the token: check BOT_ECHO_TOKEN')
  expect(of(refusal(400))).toBe('Telegram returned an error')
  expect(of(new HttpError('no route', new Error('ECONNREFUSED')))).toBe('Telegram is unreachable')
  expect(of(new Error('database is locked'))).toBe('bot could not be set up')
})

test('puts the fields of a line in parentheses, if it has any', () => {
  const lines: string[] = []
  const add = (line: string): void => void lines.push(line)
  const log = logTo({ debug: add, info: add, warn: add, error: add })
  log('info', 'gateway started', { bots: 2 })
  log('warn', 'no token', {})
  expect(lines).toEqual(['telegram: gateway started (bots 2)', 'telegram: no token'])
})
