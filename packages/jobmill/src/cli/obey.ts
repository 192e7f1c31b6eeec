/** A command as it was typed: read, done, and told in its own words when it is refused. */
import type { Command } from './command.ts'
import { read } from './given.ts'
import { inOwnWords } from './own-words.ts'
import type { Terminal } from './terminal.ts'

export async function obey(command: Command, args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await command.run(read(args, command), terminal)
  } catch (error) {
    throw inOwnWords(error, command)
  }
}
