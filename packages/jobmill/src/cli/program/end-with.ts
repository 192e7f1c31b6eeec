/**
 * Ends the process. It calls exit because a handler that ignores its signal must not keep the process alive.
 */
import { ignoreOutputErrors } from '../../platform/write-output.ts'

/** Flushes the output first: a pipe accepts little at a time, and exit would drop the rest. */
export async function endWith(code: number): Promise<never> {
  ignoreOutputErrors()
  await Promise.all([process.stdout, process.stderr].map(flush))
  process.exit(code)
}

function flush(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    // Also called when the reader closed the pipe.
    stream.write('', () => resolve())
  })
}
