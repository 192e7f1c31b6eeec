/** `jobmill work`: workers and duties until a signal comes. The second signal cuts the grace short. */
import { jobmill } from '../runtime/mill.ts'
import type { MillOptions } from '../runtime/options.ts'
import { stopOnSignals } from '../runtime/stop-on-signals.ts'
import type { Terminal } from './terminal.ts'

/** The exit code: 0 after a clean stop. */
export async function work(options: MillOptions, terminal: Terminal): Promise<number> {
  const mill = jobmill({ log: 'info', ...options })
  for (const { message } of mill.warnings) terminal.err(`warning ${message}`)
  const stopped = new Promise<number>((resolve) => {
    stopOnSignals(mill, {
      stopped: () => resolve(0),
      failed(error) {
        terminal.err(`error   the stop failed: ${String(error)}`)
        resolve(1)
      },
    })
  })
  // A throw outside of any handler, after it returned for example, says that this process cannot be trusted any more. Its jobs need not wait for the
  // reaper: they are handed back in good order.
  let broken = false
  const breaks = (error: unknown): void => {
    terminal.err(
      `error   not caught by any handler: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    )
    // A second signal would cut the grace short.
    if (broken) return
    broken = true
    process.kill(process.pid, 'SIGTERM')
  }
  process.on('uncaughtException', breaks)
  process.on('unhandledRejection', breaks)
  await mill.start()
  const kinds = (options.jobs ?? []).map(({ kind }) => kind)
  terminal.out(`store   ${options.store.name}`)
  terminal.out(`queues  ${mill.queuesServed.join(', ')}`)
  terminal.out(`kinds   ${kinds.join(', ')}`)
  terminal.out(`ready   instance ${mill.instance.label ?? mill.instance.id}; stop it with Ctrl-C`)
  const code = await stopped
  return broken ? 1 : code
}
