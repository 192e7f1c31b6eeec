/**
 * Detects whether the caller is a handler of one mill, or code that such a handler awaits. V8 adds async
 * callers to the stack of an error, so this costs nothing until it is called. The functions that await
 * handlers have the number of their mill in their name, so that no function of the application and no other
 * mill is mistaken for them. It misses handlers that are not awaited all the way.
 */
const MOST_FRAMES = 200

/** Numbers of instances, for the stack traces of handlers, where an id would look like part of the error. */
const numbers = new Map<string, number>()

function frameOf(instance: string): string {
  let number = numbers.get(instance)
  if (number === undefined) numbers.set(instance, (number = numbers.size + 1))
  return `runAttempt of mill ${number}`
}

/** The line of a stack trace that names the caller of the handler, with the line break before it. */
export const FIRST_OWN_FRAME = /\n\s+at (?:async )?(?:Object\.)?runAttempt of mill \d+ /

/** Gives a function the name that `isInsideHandler` looks for. */
export function asHandlerOf<F extends (...args: never[]) => unknown>(instance: string, run: F): F {
  return Object.defineProperty(run, 'name', { value: frameOf(instance) })
}

export function isInsideHandler(instance: string): boolean {
  return functionsOnStack().includes(frameOf(instance))
}

/** The names that V8 knows, not a text that source maps or a tool of the application may rewrite. */
export function functionsOnStack(): readonly (string | null)[] {
  const { stackTraceLimit } = Error
  // oxlint-disable-next-line typescript/unbound-method -- only stored and restored
  const { prepareStackTrace } = Error
  let names: (string | null)[] = []
  Error.stackTraceLimit = MOST_FRAMES
  Error.prepareStackTrace = (_, frames) => (names = frames.map((frame) => frame.getFunctionName()))
  // The stack is formatted when it is first read.
  void new Error('who calls').stack
  Error.stackTraceLimit = stackTraceLimit
  Error.prepareStackTrace = prepareStackTrace
  return names
}
