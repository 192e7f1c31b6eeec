/** The commands to run next, ready to paste into a shell. Passwords are omitted. */
import type { ParsedArguments } from '../program/command.ts'

export interface NextLines {
  /** Starts a process on the new database. */
  readonly start: string
  /** Runs the transfer after a comparison. */
  readonly transfer: string
  /** A reminder to add the password, if the URL of the target had one. */
  readonly password: string
}

export function nextLines(parsed: ParsedArguments): NextLines {
  const to = parsed.text('to') ?? ''
  const from = ['from', 'db', 'config'].flatMap((option) => {
    const text = parsed.text(option)
    return text === undefined ? [] : [`--${option} ${quoted(withoutPassword(text))}`]
  })
  const target = quoted(withoutPassword(to))
  return {
    start: `DATABASE_URL=${target} jobmill start`,
    transfer: ['jobmill transfer', ...from, `--to ${target}`].join(' '),
    password: withoutPassword(to) === to ? '' : ' (add its password)',
  }
}

function withoutPassword(address: string): string {
  if (!URL.canParse(address)) return address
  const url = new URL(address)
  if (url.password === '') return address
  url.password = ''
  return url.href
}

/** Quotes only text that a shell would interpret. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll(`'`, `'\\''`)}'`
}
