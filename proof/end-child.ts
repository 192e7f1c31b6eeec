import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** Sends SIGTERM and resolves when the process is gone. Safe to call twice. */
export async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  await gone
}
