/** Every command there is. */
import { check } from './check.ts'
import type { Command } from './command.ts'
import { mailboxCommands } from './mailboxes.ts'
import { start } from './start.ts'
import { sweep } from './sweep.ts'

export const COMMANDS: readonly Command[] = [start, check, ...mailboxCommands, sweep]
