// Times and messages as texts.
import { expect, test } from 'vitest'
import { diagnosticText } from '../../src/kit/text/check-words.ts'
import { roughlyAgo } from '../../src/kit/text/format.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

test.each([
  ['now', 0],
  ['59 s ago', 59 * SECOND],
  ['2 min ago', 2 * MINUTE + 43 * SECOND],
  ['3 h ago', 3 * HOUR + 59 * MINUTE],
  ['2 d ago', 50 * HOUR],
  ['in 17 min', -(17 * MINUTE + 8 * SECOND)],
  ['in 5 s', -5 * SECOND],
])('%s', (text, ms) => {
  const now = 1_000_000_000_000
  expect(roughlyAgo(now - ms, now)).toBe(text)
})

test('a message starts with a capital letter, unless it starts with a name', () => {
  const about = { what: 'kind', name: 'mail.send' } as const
  expect(diagnosticText({ message: 'mail.send: 17% of 145 attempts failed', about })).toMatch(/^mail\.send/)
  expect(diagnosticText({ message: '7 jobs have no worker', about })).toBe('7 jobs have no worker')
  expect(diagnosticText({ message: 'queue "mail" is paused', about: { what: 'queue', name: 'mail' } })).toBe(
    'Queue "mail" is paused',
  )
  expect(diagnosticText({ message: 'no process', about: { what: null, name: null } })).toBe('No process')
})
