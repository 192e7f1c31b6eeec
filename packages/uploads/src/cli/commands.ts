/** All commands. */
import { check } from './check.ts'
import type { Command } from './command.ts'
import { mailboxCommands } from './mailboxes.ts'
import { pull } from './pull.ts'
import { start } from './start.ts'
import { sweep } from './sweep.ts'
import { upload } from './upload.ts'

export const COMMANDS: readonly Command[] = [start, check, ...mailboxCommands, sweep, pull, upload]
