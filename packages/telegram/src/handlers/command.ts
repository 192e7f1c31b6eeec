/**
 * Runs a program with the update on standard input, and replies with its output. A timeout or the abort
 * signal ends its whole process group.
 */
import { commandJob, type JobContext } from 'jobmill'
import type { CommandTarget } from '../config/config.ts'
import { jsonOf } from '../update/update.ts'
import type { Handler } from './handler.ts'

export function command({ argv, timeoutMs }: CommandTarget): Handler {
  const [program = ''] = argv
  const runner = commandJob({ kind: 'telegram.command', programs: [program], timeout: timeoutMs })
  return async ({ update, signal, log, reply }) => {
    const lines = Object.assign(log, { debug: log, info: log, warn: log, error: log })
    const context = {
      payload: { argv, stdin: jsonOf(update), timeout: timeoutMs },
      signal,
      log: lines,
    }
    const { stdout } = (await runner.run(context as unknown as JobContext)) as { stdout: string }
    reply(stdout.trim())
  }
}
