/** Texts as words of a shell (sh, bash, zsh). */

/** Nothing in it is special to a shell. */
const PLAIN = /^[\w@%+=:,./-]+$/

/** A word that means exactly this text. */
export function quoted(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** `--name value`, or in one word where the value would be taken for an option. */
export function option(name: string, value: string): string {
  return value.startsWith('-') || value === '' ? quoted(`--${name}=${value}`) : `--${name} ${quoted(value)}`
}

/** One long command over several lines. */
export const over = (parts: readonly string[]): string => parts.join(' \\\n  ')

/** Systems refuse a single word beyond 128 KiB; three bytes a character at most. */
const LONGEST_WORD = 40_000

export const isTooLong = (text: string): boolean => text.length > LONGEST_WORD

/** What a command reads from its standard input. JSON of one line can never be the closing word. */
export const fed = (command: string, text: string): string =>
  `${command} <<'END_OF_JSON'\n${text}\nEND_OF_JSON`
