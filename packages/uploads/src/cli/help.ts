/** The help, written from the table of commands. */
import { type Command, optionsOf } from './command.ts'

export function helpOnAll(commands: readonly Command[]): string {
  const rows = commands.map(({ words, takes = '', says }) => `  ${`${words} ${takes}`.padEnd(32)} ${says}`)
  return [
    'jobmill-uploads: an inbox for files, for consumers that poll',
    '',
    ...rows,
    '',
    'jobmill-uploads COMMAND --help says more.',
  ].join('\n')
}

export function helpOn(command: Command): string {
  const { words, takes = '', says } = command
  const rows = Object.entries(optionsOf(command)).map(
    ([name, [value, text]]) => `  ${`--${name}${value === null ? '' : ` ${value}`}`.padEnd(32)} ${text}`,
  )
  return [`jobmill-uploads ${words} ${takes}`.trimEnd(), '', `  ${says}`, '', ...rows].join('\n')
}
