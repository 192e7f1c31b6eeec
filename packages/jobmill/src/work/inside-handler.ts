/**
 * Whether the caller is a handler of this process, or something that a handler awaits. V8 knows who awaits whom and puts it into the stack of an error, so
 * this costs nothing until it is asked. A handler that is not awaited all the way is not found, and neither is one in a bundle that renames functions.
 */
const FRAME = /\bat (?:async )?runAttempt(?:Inside)? \(/
const MOST_FRAMES = 200

export function isInsideHandler(): boolean {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = MOST_FRAMES
  const { stack } = new Error('who calls')
  Error.stackTraceLimit = stackTraceLimit
  return typeof stack === 'string' && FRAME.test(stack)
}
