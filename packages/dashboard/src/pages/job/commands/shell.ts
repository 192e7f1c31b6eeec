/** Quotes text for a shell (sh, bash, zsh). */

/** Safe without quotes. */
const PLAIN = /^[\w@%+=:,./-]+$/

/** One shell word with exactly this text. */
export function quote(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** `--name value`, or `--name=value` when the value could be parsed as an option. */
export function option(name: string, value: string): string {
  return value.startsWith('-') || value === '' ? quote(`--${name}=${value}`) : `--${name} ${quote(value)}`
}

/** One long command across several lines. */
export const joinLines = (parts: readonly string[]): string => parts.join(' \\\n  ')

/** Operating systems refuse a single word above 128 KiB; a character has at most three bytes. */
const LONGEST_WORD = 40_000

export const isTooLong = (text: string): boolean => text.length > LONGEST_WORD

/** Here-document for standard input. Single-line JSON can never equal the closing word. */
export const withInput = (command: string, text: string): string =>
  `${command} <<'END_OF_JSON'\n${text}\nEND_OF_JSON`
