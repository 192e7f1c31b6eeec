/**
 * Detects whether the caller is a handler of this process or code that a handler awaits. V8 adds async
 * callers to the stack of an error, so this costs nothing until it is called. It misses handlers that are not
 * awaited all the way, and bundles that rename functions.
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
