/** The `jobmill` program: all commands, on a terminal. */
import { VERSION } from '../job/payload/version.ts'
import { type Command, COMMON } from './program/command.ts'
import { COMMANDS } from './commands.ts'
import { JOBMILL } from './program/help.ts'
import type { Program } from './program/program.ts'
import type { Terminal } from './output/terminal.ts'

export function ours(terminal: Terminal): Program<Command> {
  return {
    ...JOBMILL,
    version: VERSION,
    commands: COMMANDS,
    common: () => COMMON,
    run: (command, parsed) => command.run(parsed, terminal),
  }
}
