// Kills a process at the end of its test. Processes that a hook starts for a whole file end with the file.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished, TestRunner } from 'vitest'
import { atFileEnd } from '../suite/file-end.ts'

export function killAtEnd(child: ChildProcess): void {
  const closed = once(child, 'close')
  // A program that does not exist emits an error, which its starter reports.
  closed.catch(() => {})
  async function end(): Promise<void> {
    child.kill('SIGKILL')
    await closed.catch(() => {})
  }
  if (TestRunner.getCurrentTest() === undefined) atFileEnd(end)
  else onTestFinished(end)
}
