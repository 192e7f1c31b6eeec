/** What to type next, as a line that can be pasted into a shell. Passwords are left out. */
import type { Given } from '../command.ts'

export interface NextLines {
  /** Everything on the new database. */
  readonly start: string
  /** The move itself, after a look. */
  readonly transfer: string
  /** The address of the target had a password, which has to be put back. */
  readonly needsPassword: boolean
}

export function nextLines(given: Given): NextLines {
  const to = given.text('to') ?? ''
  const from = ['from', 'db', 'config'].flatMap((option) => {
    const text = given.text(option)
    return text === undefined ? [] : [`--${option} ${quoted(withoutPassword(text))}`]
  })
  const target = quoted(withoutPassword(to))
  return {
    start: `DATABASE_URL=${target} jobmill start`,
    transfer: ['jobmill transfer', ...from, `--to ${target}`].join(' '),
    needsPassword: withoutPassword(to) !== to,
  }
}

function withoutPassword(address: string): string {
  if (!URL.canParse(address)) return address
  const url = new URL(address)
  if (url.password === '') return address
  url.password = ''
  return url.href
}

/** Only where a shell would make something else of it. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll(`'`, `'\\''`)}'`
}
