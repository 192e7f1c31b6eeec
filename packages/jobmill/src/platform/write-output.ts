/**
 * Writes to standard output and standard error. A broken output, such as a pipe whose reader has ended, loses
 * lines but never ends the process. Node reports it as an error event, which is fatal without a listener.
 */

type Output = Pick<NodeJS.WriteStream, 'write' | 'on' | 'listeners'>

const ignore = (): void => {}

export function writeOutput(stream: Output, text: string): void {
  // Node calls this before it emits the error event.
  stream.write(text, (error) => {
    if (error instanceof Error) ignoreErrorsOf(stream)
  })
}

/** Call this in a process that must survive a broken output, even if jobs and libraries write to it. */
export function ignoreOutputErrors(): void {
  ignoreErrorsOf(process.stdout)
  ignoreErrorsOf(process.stderr)
}

function ignoreErrorsOf(stream: Output): void {
  if (!stream.listeners('error').includes(ignore)) stream.on('error', ignore)
}
